// The rules of a game and how to play it on this page, in a drawer beside the board.

import { ask, button, guarded, make } from "./api.js";
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

  /** Shows the rules of a game; `variant` describes its non-standard options, `rule` is one to go to. */
  async open(game, variant = [], rule = undefined) {
    if (this.game !== game) {
      const rules = await ask(`games/${encodeURIComponent(game)}/rules`);
      this.game = game;
      this.pictures = make("div", {}, make("p", { className: "soft" }, "The pictures are being drawn …"));
      this.body.replaceChildren(...changed(variant), ...sections(rules, this.pictures, game));
      this.element.querySelector("h2").textContent = `Rules of ${rules.title}`;
      guarded(() => this.draw(game));
    }
    this.element.showModal();
    this.frame();
    this.turnTo(rule);
  }

  /** Opens all rules at one of them; without a rule nothing. */
  turnTo(rule) {
    for (const marked of this.body.querySelectorAll(".wanted")) marked.classList.remove("wanted");
    const found = rule && this.body.querySelector(`[data-rule="${rule}"]`);
    if (!found) return;
    found.closest("details").open = true;
    found.classList.add("wanted");
    found.scrollIntoView({ block: "center" });
  }

  /** Adds the pictures: a server that has just begun has to play a game for them. */
  async draw(game) {
    const { pictures } = await ask(`games/${encodeURIComponent(game)}/rules/pictures`);
    if (this.game !== game) return;
    this.touched = pictures.map(({ touched }) => touched);
    this.pictures.replaceChildren(...pictures.map(figure));
    this.frame();
  }

  /** Frames the items of the shown moves; a closed drawer has no sizes. */
  frame() {
    for (const [index, drawing] of [...this.pictures.querySelectorAll(".drawing")].entries()) mark(drawing, "last", this.touched[index]);
  }
}

function changed(variant) {
  if (!variant.length) return [];
  return [make("h3", {}, "Options of this game"), make("ul", {}, ...variant.map((words) => make("li", {}, words))), make("p", {}, "The rules below are those of the standard game.")];
}

function figure({ svg, words }) {
  const picture = make("div", { className: "drawing" });
  picture.innerHTML = svg;
  return make("figure", {}, picture, make("figcaption", {}, words));
}

function sections({ short, full, tutorial }, pictures, game) {
  const address = `#/learn/${encodeURIComponent(game)}/1`;
  return [
    ...(tutorial ? [make("p", {}, make("a", { href: address }, "Learn it by playing, step by step"))] : []),
    ...(short ? markdown(short) : []),
    pictures,
    make("h3", {}, "How to play here"),
    make("ul", {}, ...MOVING.map((words) => make("li", {}, words))),
    ...(full ? [make("details", {}, make("summary", {}, "All rules"), ...markdown(full))] : []),
    ...(short || full ? [] : [make("p", {}, "This game comes without rules in words.")]),
  ];
}
