// A page with a position and a move to find: the parts that tutorials and puzzles share.

import { ask, guarded, make, once } from "./api.js";
import { Board, NARROW } from "./board.js";
import { Help } from "./help.js";

/** Subclasses have `draw()` and `play(text)`; `path` names their views on the server, by number. */
export class Exercise {
  constructor(name, number, path) {
    Object.assign(this, { name, number, path, views: new Map() });
    this.help = new Help();
    this.place = make("p", { className: "soft" });
    this.words = make("p", { className: "status", role: "status" });
    this.board = new Board((text) => this.play(text));
    this.redraw = () => guarded(() => this.draw());
    NARROW.addEventListener("change", this.redraw);
  }

  /** Fills the page: a title, the place and the words, a row of buttons, and the board. */
  fill(page, title, ...row) {
    const told = make("div", {}, title, this.place, this.words, make("div", { className: "row" }, ...row));
    page.replaceChildren(make("section", { className: "lesson" }, told, make("div", { className: "play" }, this.board.element)), this.help.element);
  }

  /** The position `number` (1, 2, …) in the shape of the screen. */
  view() {
    const key = `${this.number - 1}?tall=${NARROW.matches}`; // the server counts from 0
    return once(this.views, key, () => ask(`games/${encodeURIComponent(this.name)}/${this.path}/${key}`));
  }

  leave() {
    NARROW.removeEventListener("change", this.redraw);
  }
}
