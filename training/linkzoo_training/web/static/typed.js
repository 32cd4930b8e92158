// Moves to type, or to choose from a list.

import { button, guarded, make } from "./api.js";

export class Typed {
  /** `choose(move)` takes a move from the list, `play(text)` plays a typed move, `point(parts)` marks the
   * parts of a move. */
  constructor(choose, play, point) {
    this.choose = choose;
    this.input = make("input", { id: "move", autocomplete: "off", spellcheck: false, "aria-label": "your move" });
    this.list = make("div", { className: "moves", role: "group", "aria-label": "possible moves" });
    this.input.oninput = () => this.filter();
    this.list.addEventListener("keydown", (event) => {
      const beside = { ArrowRight: "nextElementSibling", ArrowDown: "nextElementSibling", ArrowLeft: "previousElementSibling", ArrowUp: "previousElementSibling" }[event.key];
      if (beside === undefined) return;
      event.preventDefault();
      event.target[beside]?.focus();
    });
    const parts = ({ target }) => point(this.moves[target.dataset.index]?.parts ?? []);
    for (const event of ["pointerover", "focusin"]) this.list.addEventListener(event, parts);
    for (const event of ["pointerleave", "focusout"]) this.list.addEventListener(event, () => point([]));
    const form = make("form", { className: "row" }, this.input, make("button", { type: "submit" }, "Play it"));
    form.onsubmit = (event) => {
      event.preventDefault();
      guarded(() => play(this.input.value));
    };
    this.element = make("details", { className: "card typed" }, make("summary", {}, "Your move, typed or chosen from a list"), form, this.list);
  }

  show(moves) {
    this.moves = moves;
    this.input.value = "";
    this.element.hidden = moves.length === 0;
    this.filter();
  }

  filter() {
    const typed = this.input.value.trim().toLowerCase();
    const found = this.moves.map((move, index) => [move, index]).filter(([{ text }]) => text.toLowerCase().includes(typed));
    // A single stop for Tab; arrow keys move on from there.
    this.list.replaceChildren(
      ...found.map(([move, index], place) => button(move.text, () => this.choose(move), { tabIndex: place ? -1 : 0, title: move.words, "data-index": `${index}` })),
    );
  }
}
