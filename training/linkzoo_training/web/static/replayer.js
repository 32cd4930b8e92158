// A game to look at ply by ply: its board, its controls, its moves and the score.

import { button, guarded, make, once } from "./api.js";
import { Board, NARROW } from "./board.js";
import { Log } from "./log.js";
import { Score } from "./score.js";

const SPEEDS = [["400", "fast"], ["1000", "normal"], ["2500", "slow"]];
const ARRIVAL = 350; // milliseconds

export class Replayer {
  /** `source.head(viewer)` has the data of all plies, `source.view(ply, viewer, tall)` a position; a
   * viewer is a seat, or null. `went(ply, head)` is called for each ply that is shown. */
  constructor(source, went) {
    Object.assign(this, { source, went, ply: 0, plies: 0, viewer: null, kept: new Map(), timer: 0 });
    this.title = make("h1", {});
    this.status = make("p", { className: "status", role: "status" });
    this.prompt = make("p", { className: "soft" });
    this.board = new Board(() => undefined);
    this.slider = make("input", { type: "range", min: 0, value: 0, "aria-label": "move" });
    this.slider.oninput = () => guarded(() => this.go(Number(this.slider.value)));
    this.auto = button("Play", () => this.toggle());
    this.pace = make("select", { "aria-label": "speed" }, ...SPEEDS.map(([value, name]) => make("option", { value }, name)));
    this.pace.value = "1000";
    this.seen = make("select", { "aria-label": "seen by", onchange: () => guarded(() => this.see()) });
    this.log = new Log((number) => guarded(() => this.peek(number)), () => this.peek());
    this.log.list.addEventListener("click", ({ target }) => {
      const item = target.closest("li");
      if (item) guarded(() => this.go(item.value));
    });
    this.score = new Score();
    const step = (label, name, where) => button(label, () => this.go(where()), { "aria-label": name, title: name });
    const large = button("Enlarge", () => large.setAttribute("aria-pressed", `${this.board.enlarge()}`));
    this.tools = make(
      "div",
      { className: "row" },
      step("|◀", "first", () => 0),
      step("◀", "previous", () => this.ply - 1),
      this.auto,
      step("▶", "next", () => this.ply + 1),
      step("▶|", "last", () => this.plies),
      this.pace,
      this.seen,
      large,
    );
    this.main = make("section", { className: "play" }, this.title, this.status, this.board.element, this.slider, this.tools, this.prompt);
    this.side = make("aside", { className: "about", "aria-label": "about the game" }, make("section", { className: "card" }, make("h2", {}, "Moves"), this.log.list), this.score.element);
    this.element = make("div", { className: "layout replayer" }, this.main, this.side);
    this.keys = (event) => this.key(event);
    this.redraw = () => guarded(() => this.go(this.ply));
    document.addEventListener("keydown", this.keys);
    NARROW.addEventListener("change", this.redraw);
  }

  /** Switches to the chosen viewer, and goes to a ply. */
  async see(ply = this.ply) {
    this.viewer = this.seen.value === "" ? null : Number(this.seen.value);
    const { viewer } = this;
    const head = await this.head();
    if (viewer !== this.viewer) return; // another one was chosen meanwhile
    this.title.textContent = head.title;
    this.plies = this.slider.max = head.plies;
    if (!this.seen.length) {
      const names = head.viewers.map((viewer) => make("option", { value: viewer ?? "" }, viewer === null ? "everything shown" : `${head.names[viewer] || `player ${viewer}`}’s view`));
      this.seen.replaceChildren(...names);
      this.seen.hidden = names.length === 1;
    }
    this.log.show(head.log);
    [...this.log.list.children].forEach((item, index) => (item.value = head.log[index].ply));
    await this.go(ply);
  }

  head() {
    return once(this.kept, [this.viewer].join(), () => this.source.head(this.viewer));
  }

  view(ply) {
    const { kept, source, viewer } = this;
    return once(kept, [ply, viewer, NARROW.matches].join(), () => source.view(ply, viewer, NARROW.matches));
  }

  /** Shows a ply; a later call replaces it. Keys may call it before the record has arrived. */
  async go(wanted) {
    const latest = (this.latest = Symbol("latest"));
    const head = await this.head();
    const ply = Math.max(0, Math.min(head.plies, wanted));
    const view = await this.view(ply);
    if (latest !== this.latest) return;
    const { log, roles, names, players } = head;
    const number = log.findLastIndex((entry) => entry.ply <= ply); // not every move is in a log
    const { words, touched } = log[number]?.ply === ply ? log[number] : { words: ply ? "" : "the start.", touched: [] };
    const before = ply === this.ply + 1 ? this.board.places(touched) : undefined;
    this.ply = this.slider.value = ply;
    this.peek();
    this.board.show(view.svg, [], { touched });
    if (before) this.board.arrive(touched, before, ARRIVAL);
    this.status.textContent = `Move ${ply} of ${this.plies}${words ? `: ${words}` : ""}`;
    this.prompt.textContent = view.prompt;
    this.log.mark(number);
    this.score.show({ seats: Array.from({ length: players }), roles, names, ...view }, view.acting ?? undefined);
    this.went(ply, head, view);
  }

  /** Shows the position after a move of the log; without a number the current one. */
  async peek(number) {
    this.peeked = number;
    if (number === undefined) return this.board.look("");
    const { ply, touched } = (await this.head()).log[number];
    const { svg } = await this.view(ply);
    if (this.peeked !== number) return undefined;
    return this.board.look(ply === this.ply ? "" : svg, touched, 0, `move ${ply}`);
  }

  key(event) {
    if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const to = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.plies }[event.key];
    if (to === undefined && (event.key !== " " || event.target.tagName === "BUTTON")) return;
    event.preventDefault();
    guarded(() => (to === undefined ? this.toggle() : this.go(to)));
  }

  async toggle() {
    if (this.timer) return this.stop();
    this.auto.textContent = "Pause";
    if (this.ply === this.plies) await this.go(0);
    const next = async () => {
      await this.go(this.ply + 1);
      if (!this.timer) return;
      if (this.ply === this.plies) this.stop();
      else this.timer = setTimeout(() => guarded(next), Number(this.pace.value));
    };
    this.timer = setTimeout(() => guarded(next), 0);
    return undefined;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.auto.textContent = "Play";
  }

  leave() {
    this.stop();
    document.removeEventListener("keydown", this.keys);
    NARROW.removeEventListener("change", this.redraw);
  }
}
