// The rules of a game and how to play it on this page, in a drawer beside the board.

import { ask, button, make } from "./api.js";
import { markdown } from "./markdown.js";
import { mark } from "./marks.js";

const MOVING = [
  "Select the framed pieces and places of your move in turn. Chosen elements have a thick frame; a click takes an element back, Escape the last one.",
  "The move is written below the board. “Play” or Enter plays it. Without “Ask before each move” it is played at once.",
  "By keys: Tab goes to the board, arrows walk on it, Enter chooses.",
  "“Moves so far” tells what happened: point at a move, or focus it, to see it on the board.",
  "“Hint” asks an agent for its best move and what it is worth.",
];

export class Help {
  constructor() {
    this.body = make("div", {});
    this.element = make(
      "dialog",
      { className: "drawer", "aria-labelledby": "help-title" },
      make("div", { className: "row" }, make("h2", { id: "help-title" }, "Rules"), button("Close", () => this.element.close(), { className: "other" })),
      this.body,
    );
    this.element.addEventListener("click", ({ target }) => target === this.element && this.element.close());
  }

  /** Shows the rules of a game; `variant` describes its non-standard options. */
  async open(game, variant = []) {
    if (this.game !== game) {
      const rules = await ask(`games/${encodeURIComponent(game)}/rules`);
      this.game = game;
      this.pictures = rules.pictures;
      this.body.replaceChildren(...changed(variant), ...sections(rules));
      this.element.querySelector("h2").textContent = `Rules of ${rules.title}`;
    }
    this.element.showModal();
    for (const [index, { touched }] of this.pictures.entries()) mark(this.body.querySelectorAll(".drawing")[index], "last", touched);
  }
}

function changed(variant) {
  if (!variant.length) return [];
  return [make("h3", {}, "Options of this game"), make("ul", {}, ...variant.map((words) => make("li", {}, words))), make("p", {}, "The rules below are those of the standard game.")];
}

function sections({ short, full, pictures }) {
  const shown = pictures.map(({ svg, words }) => {
    const picture = make("div", { className: "drawing" });
    picture.innerHTML = svg;
    return make("figure", {}, picture, make("figcaption", {}, words));
  });
  return [
    ...(short ? markdown(short) : []),
    ...shown,
    make("h3", {}, "How to play here"),
    make("ul", {}, ...MOVING.map((words) => make("li", {}, words))),
    ...(full ? [make("details", {}, make("summary", {}, "All rules"), ...markdown(full))] : []),
    ...(short || full ? [] : [make("p", {}, "This game comes without rules in words.")]),
  ];
}
