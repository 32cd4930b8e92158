// The face of a card under the pointer, touched or focused: its name and its text.

import { make } from "./api.js";

const words = (card, tag) => card?.querySelector(`:scope > ${tag}`)?.textContent ?? "";

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

  show(target) {
    if (this.note.contains(target)) return;
    const card = target.closest("[data-card]") ?? target.querySelector("[data-card]");
    const face = target.closest("svg") && words(card, "desc");
    if (!face) {
      this.hide();
      return;
    }
    this.note.replaceChildren(make("strong", {}, words(card, "title")), make("span", {}, face));
    this.note.hidden = false;
    // Below the card, or above it where there is no room.
    const [around, at] = [this.stage.getBoundingClientRect(), card.getBoundingClientRect()];
    const [width, height] = [this.note.offsetWidth, this.note.offsetHeight];
    const below = at.bottom - around.top + 4;
    const above = at.top - around.top - height - 4;
    this.note.style.top = `${below + height > around.height && above >= 0 ? above : below}px`;
    this.note.style.left = `${Math.max(0, Math.min(at.left - around.left, around.width - width))}px`;
  }

  hide() {
    this.note.hidden = true;
  }
}
