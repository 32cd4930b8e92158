// A game in progress: play it, or watch agents play it.

import { analysisCard } from "./analysis.js";
import { ask, button, download, guarded, make, result, seatName } from "./api.js";
import { Board } from "./board.js";

export async function tablePage(page, id) {
  const first = await ask(`tables/${id}`);
  const table = new TablePage(page, id);
  table.show(first);
  return () => table.leave();
}

class TablePage {
  constructor(page, id) {
    this.id = id;
    this.timer = 0;
    this.left = false;
    this.shown = "";
    this.status = make("p", { className: "status", role: "status", "aria-live": "polite" });
    this.board = new Board((text) => guarded(() => this.do("move", { move: text })));
    this.side = make("aside", {});
    this.tools = make("div", { className: "row" });
    this.cover = make("section", { className: "card cover" });
    this.layout = make("div", { className: "layout" }, make("section", {}, this.status, this.board.element, this.tools), this.side);
    this.analysis = analysisCard((agent) => ask(`tables/${id}/analysis`, { agent }), (moves) => this.board.judge(moves));
    page.replaceChildren(this.cover, this.layout);
    this.buildTools();
    this.buildSide();
  }

  buildTools() {
    this.back = button("Take back", () => this.do("back", {}));
    this.pace = make(
      "select",
      { "aria-label": "pace" },
      ...[["200", "fast"], ["800", "normal"], ["2000", "slow"]].map(([value, name]) => make("option", { value }, name)),
    );
    this.pace.value = "800";
    this.run = button("Play", () => this.toggleRun());
    this.step = button("One move", () => this.do("step", {}));
    this.watching = make("span", { className: "row" }, this.run, this.step, this.pace);
    this.openRecord = button("Replay", async () => {
      const { id } = await ask("replays", await ask(`tables/${this.id}/record`));
      location.hash = `#/replay/${id}/0`;
    });
    this.download = button("Download", async () => download("game.json", await ask(`tables/${this.id}/record`)));
    const large = button("Enlarge", () => {
      large.setAttribute("aria-pressed", `${this.board.enlarge()}`);
    });
    const save = button("Save", async () => {
      const { file } = await ask(`tables/${this.id}/save`, {});
      this.status.textContent = `Saved as ${file}.`;
    });
    this.tools.append(this.watching, this.back, save, this.download, this.openRecord, large, button("New game", () => {
      location.hash = "#/";
    }));
  }

  buildSide() {
    this.seats = make("ul", {});
    this.input = make("input", { id: "move", autocomplete: "off", spellcheck: false, "aria-label": "your move" });
    this.list = make("div", { className: "moves" });
    this.input.oninput = () => this.filter();
    this.list.onkeydown = (event) => {
      const beside = { ArrowRight: "nextElementSibling", ArrowDown: "nextElementSibling", ArrowLeft: "previousElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (beside === undefined) return;
      event.preventDefault();
      event.target[beside]?.focus();
    };
    const form = make("form", { className: "row" }, this.input, make("button", { type: "submit" }, "Play it"));
    form.onsubmit = (event) => {
      event.preventDefault();
      guarded(() => this.do("move", { move: this.input.value }));
    };
    this.typing = make("section", { className: "card" }, make("h2", {}, "Your move, typed or chosen"), form, this.list);
    this.log = make("ol", { className: "log", tabIndex: 0, "aria-label": "moves so far" });
    this.words = make("pre", { tabIndex: 0 });
    this.side.append(
      make("section", { className: "card" }, make("h2", {}, "Seats"), this.seats),
      this.typing,
      this.analysis.element,
      make("details", { className: "card", open: true }, make("summary", {}, "Moves so far"), this.log),
      make("details", { className: "card" }, make("summary", {}, "The position in words"), this.words),
    );
  }

  async do(what, body) {
    this.show(await ask(`tables/${this.id}/${what}`, body));
  }

  show(view) {
    if (this.left) return;
    clearTimeout(this.timer);
    document.getElementById("title").textContent = view.title;
    const covered = view.waiting !== null;
    this.cover.hidden = !covered;
    this.layout.hidden = covered;
    if (covered) this.showCover(view);
    else this.showTable(view);
    if (!covered && view.thinking) this.later(0, () => ask(`tables/${this.id}?wait=true`));
    else if (!covered && this.running && !view.over && !view.error) {
      this.later(Number(this.pace.value), () => ask(`tables/${this.id}/step`, {}));
    } else this.setRunning(this.running && !view.over && !view.error);
  }

  later(time, question) {
    this.timer = setTimeout(() => guarded(async () => this.show(await question())), time);
  }

  showCover(view) {
    this.shown = "";
    this.board.show("", []);
    this.log.replaceChildren();
    this.words.textContent = "";
    this.list.replaceChildren();
    this.analysis.clear();
    const look = button(`I am player ${view.waiting}: show my view`, () => this.do("look", { seat: view.waiting }), { className: "main" });
    this.cover.replaceChildren(make("h1", {}, `Pass the screen to player ${view.waiting}`), make("p", {}, "Nobody else should look."), look);
    look.focus();
  }

  showTable(view) {
    const key = JSON.stringify([view.svg, view.moves]);
    if (key !== this.shown) {
      this.shown = key;
      this.board.show(view.svg, view.moves);
      this.input.value = "";
      this.moves = view.moves;
      this.filter();
      this.analysis.clear();
      this.words.textContent = view.text;
      this.log.replaceChildren(...view.log.map(({ seat, text }) => make("li", {}, `${seat}: ${text}`)));
      this.log.scrollTop = this.log.scrollHeight;
    }
    this.seats.replaceChildren(...view.seats.map((_, seat) => make("li", {}, seatName(view.seats, view.roles, seat))));
    this.status.textContent = statusOf(view);
    this.typing.hidden = view.moves.length === 0;
    this.back.hidden = view.watching;
    this.back.disabled = !view.can_take_back;
    this.watching.hidden = !view.watching;
    this.run.disabled = this.step.disabled = view.over;
    this.openRecord.hidden = this.download.hidden = !view.can_open;
    this.analysis.offer(view.game, !view.over && (view.watching || view.moves.length > 0));
  }

  filter() {
    const typed = this.input.value.trim().toLowerCase();
    const found = this.moves.filter(({ text }) => text.toLowerCase().includes(typed));
    // One stop for Tab; arrows go on from there.
    this.list.replaceChildren(
      ...found.map(({ text }, index) => button(text, () => this.do("move", { move: text }), { tabIndex: index ? -1 : 0 })),
    );
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
  }
}

function statusOf(view) {
  if (view.error) return `An agent failed: ${view.error}`;
  if (view.over) return result(view);
  if (view.moves.length) return `Player ${view.looking}, your move: choose what is framed.`;
  return view.watching && !view.thinking ? "Ready." : "Others are thinking …";
}
