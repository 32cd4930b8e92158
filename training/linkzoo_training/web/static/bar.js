// The chances to win as a bar with a part for each player, and in words.

import { make } from "./api.js";
import { colourOf } from "./curve.js";

const percent = (chance) => `${Math.round(100 * chance)} %`;

export class Bar {
  constructor() {
    this.parts = make("div", { className: "parts", "aria-hidden": "true" });
    this.words = make("p", { className: "soft" });
    this.element = make("div", { className: "evaluation" }, this.parts, this.words);
  }

  /** `chances` by seat, 0 to 1; null while they are unknown. */
  show(chances) {
    this.parts.replaceChildren(
      ...(chances ?? []).map((chance, seat) => {
        const part = make("div", {});
        part.style.flexGrow = Math.max(chance, 0.001);
        part.style.background = colourOf(seat);
        return part;
      }),
    );
    this.words.textContent = chances ? `Chance to win: ${chances.map((chance, seat) => `player ${seat} ${percent(chance)}`).join(", ")}` : "";
  }
}
