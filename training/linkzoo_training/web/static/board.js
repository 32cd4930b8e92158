// The picture of a position. A move is a sequence of its named parts: those that can come next are
// lit, and the move is played as soon as one is left. What the picture lacks are buttons below it.

import { button, make } from "./api.js";
import { showShares } from "./shares.js";

export class Board {
  constructor(play) {
    this.play = play;
    this.chosen = [];
    this.moves = [];
    this.judged = []; // moves with their shares
    this.picture = make("div", { className: "board" });
    this.choices = make("div", { className: "row choices", role: "group", "aria-label": "choices" });
    this.keys = false; // whether the latest choice was made by a key
    this.picture.addEventListener("click", (event) => this.point(event.target));
    this.picture.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this.point(event.target);
    });
    this.element = make("div", {}, this.picture, this.choices);
    this.element.addEventListener("pointerdown", () => (this.keys = false), true);
    this.element.addEventListener(
      "keydown",
      (event) => {
        if (["Enter", " ", "Escape"].includes(event.key)) this.keys = true;
        if (event.key === "Escape") this.clear();
      },
      true,
    );
  }

  show(svg, moves) {
    this.picture.innerHTML = svg;
    this.moves = moves;
    this.judged = [];
    this.clear();
  }

  /** Shows the shares of moves on their parts, until the picture changes; none with []. */
  judge(moves) {
    this.judged = moves;
    this.light();
  }

  enlarge() {
    const large = this.picture.classList.toggle("large");
    this.light();
    return large;
  }

  clear() {
    this.chosen = [];
    this.light();
  }

  /** The moves that have all chosen parts, in any order. */
  open(extra = [], moves = this.moves) {
    return moves.filter(({ parts }) => {
      const left = [...parts];
      return [...this.chosen, ...extra].every((part) => {
        const place = left.indexOf(part);
        if (place >= 0) left.splice(place, 1);
        return place >= 0;
      });
    });
  }

  /** What can come next: first parts, then whatever is left of the moves and decides something. */
  next() {
    const open = this.open();
    if (this.chosen.length === 0) return new Set(open.map(({ parts }) => parts[0]));
    const parts = [...new Set(open.flatMap((move) => move.parts))];
    return new Set(
      parts.filter((part) => {
        const left = this.open([part]).length;
        return left > 0 && left < open.length;
      }),
    );
  }

  light() {
    const next = this.next();
    const drawn = new Set();
    for (const element of this.picture.querySelectorAll("[data-part]")) {
      const part = element.dataset.part;
      const lit = next.has(part);
      element.classList.toggle("lit", lit);
      element.classList.toggle("chosen", this.chosen.includes(part));
      if (lit) {
        drawn.add(part);
        element.setAttribute("tabindex", "0");
        element.setAttribute("role", "button");
        element.setAttribute("aria-label", part);
      } else {
        for (const name of ["tabindex", "role", "aria-label"]) element.removeAttribute(name);
      }
    }
    showShares(this.picture, this.open([], this.judged), this.chosen);
    const missing = [...next].filter((part) => !drawn.has(part));
    this.choices.replaceChildren(
      ...missing.map((part) => button(part, () => this.choose(part), { "data-choice": part })),
      ...(this.chosen.length
        ? [
            make("span", { className: "soft" }, `chosen: ${this.chosen.join(", ")}`),
            button("Clear", () => this.clear(), { title: "Escape" }),
          ]
        : []),
    );
    // Who uses keys goes on at what comes next.
    if (this.keys) this.element.querySelector(".lit, .choices button")?.focus();
  }

  point(target) {
    for (let at = target; at && at !== this.picture; at = at.parentElement) {
      const part = at.dataset?.part;
      if (part === undefined) continue;
      if (this.chosen.includes(part) && !this.open([part]).length) return this.clear();
      if (this.open([part]).length) return this.choose(part);
    }
    return undefined;
  }

  async choose(part) {
    this.chosen.push(part);
    const open = this.open();
    if (open.length !== 1) return this.light();
    const moves = this.moves;
    this.moves = []; // until the answer is there
    this.light();
    if (await this.play(open[0].text)) return undefined;
    this.moves = moves;
    return this.clear();
  }
}
