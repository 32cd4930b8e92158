// The face of a card under the pointer, touched or focused: its name and its text.

import { make } from "./api.js";

const STEP = 12; // pixels between the positions to try
const SPACE = 4; // pixels between a face and other things

const words = (card, tag) => card?.querySelector(`:scope > ${tag}`)?.textContent ?? "";

const overlaps = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;

export class Faces {
  /** `stage` contains the drawings; cards are their groups with `data-card`, a title and a description. */
  constructor(stage) {
    this.stage = stage;
    this.note = make("div", { className: "face", role: "tooltip", hidden: true });
    stage.append(this.note);
    for (const kind of ["pointerover", "focusin", "click"]) stage.addEventListener(kind, ({ target }) => this.show(target));
    for (const kind of ["pointerleave", "focusout"]) stage.addEventListener(kind, () => this.hide());
    stage.addEventListener("keydown", ({ key }) => key === "Escape" && this.hide());
  }

  /** Shows the face of a card near it, but never over anything that can be chosen. */
  show(target) {
    if (this.note.contains(target)) return;
    const card = target.closest("[data-card]") ?? target.querySelector("[data-card]");
    const face = target.closest("svg") && words(card, "desc");
    if (!face) {
      this.hide();
      return;
    }
    this.note.replaceChildren(make("strong", {}, words(card, "title")), make("span", {}, face));
    this.note.style.left = this.note.style.top = "0";
    this.note.hidden = false;
    const at = this.place(card.getBoundingClientRect());
    if (!at) {
      this.hide();
      return;
    }
    const around = this.stage.getBoundingClientRect();
    this.note.style.left = `${at.left - around.left}px`;
    this.note.style.top = `${at.top - around.top}px`;
  }

  /** The boxes of everything that can be chosen, on the board and below it. */
  choices() {
    const parts = [...this.stage.querySelectorAll(".board .lit, .board .chosen")];
    const buttons = [...this.stage.closest(".table").querySelectorAll(".choices button")];
    return [...parts, ...buttons].map((element) => element.getBoundingClientRect());
  }

  /** The nearest free position on the screen; undefined if there is none. */
  place(card) {
    const { offsetWidth: width, offsetHeight: height } = this.note;
    const taken = [card, ...this.choices()];
    const right = document.documentElement.clientWidth - width;
    const bottom = innerHeight - height;
    let [best, least] = [undefined, Infinity];
    const attempt = (left, top) => {
      const far = Math.hypot(left - card.left, Math.max(card.top - top - height, top - card.bottom, 0));
      if (left < 0 || top < 0 || left > right || top > bottom || far >= least) return;
      const box = { left: left - SPACE, top: top - SPACE, right: left + width + SPACE, bottom: top + height + SPACE };
      if (!taken.some((other) => overlaps(box, other))) [best, least] = [{ left, top }, far];
    };
    attempt(card.left, card.bottom + SPACE);
    attempt(card.left, card.top - height - SPACE);
    for (let top = 0; top <= bottom; top += STEP) {
      for (let left = 0; left <= right; left += STEP) attempt(left, top);
    }
    return best;
  }

  /** Hides the face if it lies over something that can be chosen now. */
  giveWay() {
    if (this.note.hidden) return;
    const box = this.note.getBoundingClientRect();
    if (this.choices().some((other) => overlaps(box, other))) this.hide();
  }

  hide() {
    this.note.hidden = true;
  }
}
