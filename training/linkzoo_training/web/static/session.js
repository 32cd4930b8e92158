// A game in progress: play it, or watch agents play it.

import { analysisCard } from "./analysis.js";
import { ask, askText, button, download, guarded, make, once, result, say, sureButton } from "./api.js";
import { Board, NARROW } from "./board.js";
import { Clocks } from "./clock.js";
import { Coach } from "./coach.js";
import { Help } from "./help.js";
import { openRecord } from "./lists.js";
import { Log } from "./log.js";
import { calm } from "./marks.js";
import { Report } from "./report.js";
import { Score } from "./score.js";
import { Steps } from "./steps.js";
import { Typed } from "./typed.js";

const CONFIRM = "linkzoo.confirm"; // whether the page asks before each move, as this browser remembers
const RETRY = 3000; // milliseconds until the page asks again when the server didn't answer
const PACES = [["200", "fast"], ["800", "normal"], ["2000", "slow"]];

export async function sessionPage(page, id) {
  const session = new SessionPage(page, id);
  await session.look(() => ask(session.path("")));
  session.listen();
  return () => session.leave();
}

class SessionPage {
  constructor(page, id) {
    Object.assign(this, { id, timer: 0, round: 0, left: false, shown: "", known: undefined, pictures: new Map() });
    this.title = make("h1", {});
    this.status = make("p", { className: "status", role: "status" });
    this.notes = make("p", { className: "soft", hidden: true });
    this.help = new Help();
    this.clocks = new Clocks();
    this.board = new Board((text) => guarded(() => this.do("move", { move: text })), () => this.confirm.checked, (move) => ask(this.path("/preview"), { move }));
    this.steps = new Steps(this.board, (number) => this.picture(number), (words) => this.tell(words));
    this.log = new Log((number) => guarded(() => this.peek(number)), () => this.peek());
    this.typed = new Typed((move) => this.board.prepare(move), (text) => this.do("move", { move: text }), (parts) => this.board.hint(parts));
    this.coach = new Coach((agent, last) => ask(`sessions/${id}/analysis`, last ? { agent, last } : { agent }), (parts) => this.board.hint(parts));
    this.analysis = analysisCard((agent) => ask(`sessions/${id}/analysis`, { agent }), (moves) => this.board.advise(moves));
    this.score = new Score();
    this.words = make("pre", { tabIndex: 0, "aria-label": "the position in words" });
    this.cover = make("section", { className: "card cover", hidden: true });
    this.wish = make("section", { className: "row", role: "status", hidden: true });
    this.layout = make(
      "div",
      { className: "layout", hidden: true },
      make("section", { className: "play" }, make("div", { className: "row" }, this.title, button("Rules and help", () => this.help.open(this.view.game, this.view.variant))), this.notes, this.status, this.clocks.element, this.wish, this.board.element, this.actions(), this.coach.element),
      make(
        "aside",
        { className: "about", "aria-label": "about the game" },
        this.score.element,
        make("section", { className: "card" }, make("h2", {}, "Moves so far"), this.log.list),
        this.typed.element,
        this.analysis.element,
        this.tools(),
        make("details", { className: "card" }, make("summary", {}, "The position in words"), this.words),
      ),
    );
    page.replaceChildren(this.cover, this.layout, this.help.element);
    this.redraw = () => this.listen(); // for the other picture
    NARROW.addEventListener("change", this.redraw);
  }

  /** The actions of the game besides moves. */
  actions() {
    this.back = button("Take back", () => this.do("back", {}));
    this.resign = sureButton("Resign", "Resign for good?", () => this.do("resign", {}));
    this.toReport = button("Report", () => this.report.element.scrollIntoView({ behavior: calm() ? "auto" : "smooth" }), { hidden: true });
    this.rematch = button("Rematch", () => this.do("rematch", {}), { className: "main" });
    this.pace = make("select", { "aria-label": "pace" }, ...PACES.map(([value, name]) => make("option", { value }, name)));
    this.pace.value = "800";
    this.run = button("Play", () => this.toggleRun());
    this.step = button("One move", () => this.do("step", {}));
    this.watching = make("span", { className: "row" }, this.run, this.step, this.pace);
    return make("div", { className: "row tools" }, this.rematch, this.toReport, this.watching, this.back, this.resign);
  }

  tools() {
    this.confirm = make("input", { type: "checkbox", checked: localStorage.getItem(CONFIRM) !== "no" });
    this.confirm.onchange = () => localStorage.setItem(CONFIRM, this.confirm.checked ? "yes" : "no");
    const record = () => askText(`sessions/${this.id}/record`);
    this.openRecord = button("Replay", async () => (this.view.over ? this.goToReplay(0) : openRecord(await record())));
    this.download = button("Download", async () => download("game.json", await record()));
    const large = button("Enlarge", () => {
      large.setAttribute("aria-pressed", `${this.board.enlarge()}`);
    });
    this.save = button("Save", async () => {
      const { file } = await ask(`sessions/${this.id}/save`, {});
      this.tell(`Saved as ${file}.`);
    });
    this.shared = make("p", { className: "shared", role: "status" });
    this.share = button("Link to watch", () => this.showLink());
    this.asking = make("label", { className: "flag" }, this.confirm, "Ask before each move");
    const leave = button("New game", () => void (location.hash = "#/"));
    return make("div", {}, make("div", { className: "row tools" }, this.asking, this.share, this.save, this.download, this.openRecord, large, leave), this.shared);
  }

  /** Shows the link for spectators, who see what all players know. */
  async showLink() {
    const { id } = this.view.spectator ? this : await ask(`sessions/${this.id}/spectators`, {});
    const { address: other, shared } = await ask("catalogue");
    const address = `${shared ? other : `${location.origin}/`}#/game/${id}`;
    this.shared.replaceChildren("Whoever has this link can watch, and sees only what all players know: ", make("a", { href: address }, address));
    if (navigator.clipboard) {
      await navigator.clipboard.writeText(address).then(() => this.shared.append(" (copied)"), () => undefined);
    }
  }

  /** The address of a request about this game; narrow screens get other pictures. */
  path(what) {
    return `sessions/${this.id}${what}?tall=${NARROW.matches}`;
  }

  async do(what, body) {
    try {
      await this.look(() => ask(this.path(`/${what}`), body));
    } catch (error) {
      // Refused: another tab or person may have changed the game.
      if (error.status === 409) await this.look(() => ask(this.path("")));
      throw error;
    }
  }

  async look(question, round) {
    const narrow = NARROW.matches;
    const view = await question();
    // A newer view was shown meanwhile.
    if (view.version < this.view?.version || (round !== undefined && round !== this.round)) return;
    // The screen was turned or resized meanwhile: it needs the other picture.
    if (narrow !== NARROW.matches) await this.look(() => ask(this.path("")));
    else this.show({ ...view, narrow });
  }

  show(view) {
    if (this.left) return;
    clearTimeout(this.timer);
    this.round += 1;
    const same = view.version === this.view?.version && view.narrow === this.view.narrow;
    this.view = view;
    if (!same) this.render(view);
    this.clocks.show(view);
    this.log.fit();
    const going = this.running && view.waiting === null && !view.over && !view.error && !view.thinking;
    this.setRunning(going || (this.running && view.thinking));
    if (going) this.later(Number(this.pace.value), () => ask(this.path("/step"), {}));
  }

  /** Shows each change: agents, other people, and other tabs may act at any time. */
  listen() {
    this.events?.close();
    if (this.left) return;
    const events = (this.events = new EventSource(`api/${this.path("/events")}`));
    const narrow = NARROW.matches;
    let lost = false;
    events.onopen = () => {
      if (lost) say("");
      lost = false;
    };
    events.onmessage = ({ data }) => {
      const view = JSON.parse(data);
      if (!(view.version < this.view.version)) this.show({ ...view, narrow });
    };
    events.onerror = () => {
      lost = true;
      say("the server doesn’t answer");
      // The browser asks again by itself, but not after a refusal: the game may be gone.
      if (events.readyState === EventSource.CLOSED) this.retry = setTimeout(() => this.again(), RETRY);
    };
  }

  async again() {
    try {
      await this.look(() => ask(this.path("")));
      this.listen();
    } catch (error) {
      if (this.left) return;
      say(error.message);
      // Without a status the server didn't answer: it may come back.
      if (error.status === undefined) this.retry = setTimeout(() => this.again(), RETRY);
    }
  }

  render(view) {
    // The title of a background tab shows that it is the person's turn.
    document.title = `${view.moves?.length ? "● Your move: " : ""}${view.title}, linkzoo`;
    this.title.textContent = view.spectator ? `${view.title}, as a spectator` : view.title;
    const covered = view.waiting !== null;
    this.cover.hidden = !covered;
    this.layout.hidden = covered;
    if (covered) this.showCover(view);
    else this.showGame(view);
  }

  later(time, question) {
    const { round } = this;
    this.timer = setTimeout(async () => {
      try {
        await this.look(question, round);
      } catch (error) {
        if (!this.left && round === this.round) say(error.message);
      }
    }, time);
  }

  /** Shows the wish of a person to take back a move; the others agree or refuse. */
  showWish({ wish, own_seat: own, names }) {
    this.wish.hidden = wish === null;
    if (wish === null) return this.wish.replaceChildren();
    if (own === wish.seat) return this.wish.replaceChildren("You asked to take back your move: the others have to agree.");
    const words = `${names[wish.seat] || `Player ${wish.seat}`} asks to take back a move.`;
    const answers = wish.agreed.includes(own) ? [" You agree."] : [true, false].map((agree) => button(agree ? "Agree" : "Refuse", () => this.do("agree", { agree })));
    return this.wish.replaceChildren(words, ...answers);
  }

  showCover(view) {
    this.shown = "";
    this.known = undefined;
    this.pictures.clear();
    this.steps.skip();
    this.board.look("");
    this.board.show("", []);
    this.log.show([]);
    this.words.textContent = "";
    this.typed.show([]);
    this.analysis.clear();
    this.coach.say("");
    const who = view.names[view.waiting] || `player ${view.waiting}`;
    const look = button(`I am ${who}: show my view`, () => this.do("look", { seat: view.waiting }), { className: "main" });
    this.cover.replaceChildren(make("h1", {}, `Pass the screen to ${who}`), make("p", {}, "Nobody else should look."), look);
    look.focus();
  }

  showGame(view) {
    const mine = view.own_seat ?? view.looking;
    const key = JSON.stringify([view.svg, view.moves, view.log.length]);
    if (key !== this.shown) {
      this.shown = key;
      const fresh = this.known === undefined || view.log.length < this.known ? [] : view.log.slice(this.known);
      if (view.log.length < (this.known ?? 0)) this.pictures.clear();
      const first = this.known ?? view.log.length;
      this.known = view.log.length;
      this.board.show(view.svg, view.moves, { names: view.parts, touched: latest(view.log, mine) });
      this.typed.show(view.moves);
      this.analysis.clear();
      this.coach.say("");
      this.words.textContent = view.text;
      this.log.show(view.log);
      guarded(() => this.steps.run(fresh.map((move, index) => ({ ...move, number: first + index }))));
    }
    this.score.show(view, view.over ? undefined : view.acting ?? undefined, view.watching ? undefined : mine);
    if (!this.steps.running) this.tell();
    this.back.hidden = this.asking.hidden = view.watching || view.spectator;
    this.save.hidden = view.spectator;
    this.back.disabled = !view.can_take_back || view.wish !== null;
    this.back.textContent = view.own_seat !== null && view.seats.filter((who) => who === "human").length > 1 ? "Ask to take back" : "Take back";
    this.showWish(view);
    this.notes.hidden = !view.notes.length;
    this.notes.textContent = view.notes.map((note) => `${note}.`).join(" ");
    this.resign.hidden = view.watching || view.spectator || view.over;
    this.rematch.hidden = view.spectator || !view.over;
    this.showReport(view);
    this.watching.hidden = view.spectator || !view.watching;
    this.run.disabled = this.step.disabled = view.over;
    this.openRecord.hidden = this.download.hidden = !view.can_open;
    const now = !view.over && (view.watching || view.moves.length > 0);
    this.analysis.offer(view.judges, now);
    this.coach.offer(view.judges, now && !view.watching, view.has_moved);
  }

  /** The replay of the finished game. */
  async replay() {
    return (await ask(`sessions/${this.id}/replay`, {})).id;
  }

  async goToReplay(ply) {
    location.hash = `#/replay/${await this.replay()}/${ply}`;
  }

  /** Begins the report when the game ends; removes it when another one begins. */
  showReport({ over, judges, reports }) {
    const possible = over && reports;
    this.toReport.hidden = !possible;
    if (!possible) {
      this.report?.leave();
      this.report = undefined;
      return;
    }
    if (this.report) return;
    // The report's decisions and curves lead to the replay, which has the positions.
    const about = async (what, body) => ask(`replays/${await this.replay()}/${what}`, body);
    const questions = { report: () => about("report", {}), values: (agent) => about("values", { agent }) };
    this.report = new Report(questions, (ply) => guarded(() => this.goToReplay(ply)));
    this.report.settle(this.layout, this.board);
    this.report.begin(judges, true);
  }

  /** Shows an event in words; without words, the possible actions or, scrolled into view, the result. */
  tell(words) {
    this.status.textContent = words ?? statusOf(this.view);
    const over = words === undefined && this.view.over;
    if (over && !this.toldResult) this.status.scrollIntoView({ block: "nearest" });
    this.toldResult = over;
  }

  async picture(number) {
    return (await once(this.pictures, number, () => ask(this.path(`/log/${number}`)))).svg;
  }

  /** Shows the position after a move of the log; without a number the current one. */
  async peek(number) {
    this.peeked = number;
    if (number === undefined) return this.board.look("");
    const { words, touched } = this.view.log[number];
    const svg = await this.picture(number);
    if (this.peeked !== number) return undefined;
    this.board.look(svg, touched);
    return words;
  }

  toggleRun() {
    this.setRunning(!this.running);
    return this.running ? this.do("step", {}) : undefined;
  }

  setRunning(running) {
    this.running = running;
    this.run.textContent = running ? "Pause" : "Play";
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
    clearTimeout(this.retry);
    this.clocks.stop();
    this.events?.close();
    NARROW.removeEventListener("change", this.redraw);
    this.steps.skip();
    this.report?.leave();
  }
}

/** The items touched since the person's last move; without people, by the last move. */
function latest(log, own) {
  const since = log.findLastIndex(({ seat }) => seat === own);
  const moves = log.slice(since < 0 || since === log.length - 1 ? -1 : since + 1);
  return moves.flatMap(({ touched }) => touched);
}

/** Whose move it is; a person alone at the game isn't named. */
function mover({ seats, acting, names }) {
  const alone = seats.filter((who) => who === "human").length === 1;
  return alone ? "Your move." : `${names[acting] || `Player ${acting}`}, your move.`;
}

function statusOf(view) {
  const name = (seat) => `Player ${seat}${view.names[seat] ? ` (${view.names[seat]})` : ""}`;
  const who = view.acting === null ? "Another player" : name(view.acting);
  if (view.error) return `An agent failed: ${view.error}`;
  if (view.over) return view.resigned === null ? view.prompt : `${name(view.resigned)} ${view.timed_out ? "ran out of time" : "resigned"}. ${result(view)}`;
  if (view.moves.length) return `${mover(view)} ${view.prompt}`;
  if (view.busy) return `${who} waits for a free place: ${view.busy} …`;
  if (view.preparing) return `Compiling ${view.seats[view.acting]} … its first move can take half a minute.`;
  if (view.thinking) return `${who} is thinking …`;
  return view.watching ? `${who} is next: press Play or One move.` : `${who} is to move.`;
}
