// Learn by playing: a game in a few steps, each with a move to play and the rule behind it.

import { ask, button, make } from "./api.js";
import { Exercise } from "./exercise.js";

/** The page of a game's tutorial, from step `number` (1, 2, …); without a game the list of games. */
export async function learnPage(page, name, number) {
  if (!name) return chooseGame(page);
  const lesson = new Lesson(page, name, await ask(`games/${encodeURIComponent(name)}/tutorial`));
  await lesson.go(Math.min(Math.max(number, 1), lesson.steps.length));
  return () => lesson.leave();
}

async function chooseGame(page) {
  document.title = "Learn, linkzoo";
  const { games } = await ask("tutorials");
  const link = (kind, name, words) => make("a", { className: "action", href: `#/${kind}/${encodeURIComponent(name)}/1` }, words);
  const links = games.map(({ name, title, puzzles }) => make("li", {}, link("learn", name, `Learn ${title}`), puzzles ? link("puzzle", name, `Puzzles of ${title}`) : null));
  page.replaceChildren(make("section", { className: "card" }, make("h1", {}, "Learn by playing"), make("p", {}, "A few minutes for each game: you play the moves, and see the rule behind each."), make("ul", { className: "list" }, ...links)));
}

class Lesson extends Exercise {
  constructor(page, name, { title, steps }) {
    super(name, 0, "tutorial");
    this.steps = steps;
    this.rule = button("", () => this.help.open(name, [], this.step.rule), { className: "rule" });
    this.show = button("Show me", () => this.hint());
    this.back = button("Back", () => this.turn(-1));
    this.next = button("Next", () => this.turn(1), { className: "main" });
    this.ready = make("a", { className: "action", href: "#/" }, `Play ${title}`);
    document.title = `Learn ${title}, linkzoo`;
    this.fill(page, make("h1", {}, `Learn ${title}`), this.rule, this.show, this.back, this.next, this.ready);
  }

  get step() {
    return this.steps[this.number - 1];
  }

  turn(by) {
    location.hash = `#/learn/${encodeURIComponent(this.name)}/${this.number + by}`;
  }

  async go(number) {
    this.number = number;
    this.done = false;
    await this.draw();
  }

  /** Shows the position before or after the step's move. */
  async draw() {
    const { step, steps, number } = this;
    this.place.textContent = `Step ${number} of ${steps.length}`;
    this.rule.textContent = `Rule ${step.rule}`;
    this.words.textContent = this.done ? step.then : step.say;
    this.show.hidden = this.done;
    this.back.disabled = number === 1;
    this.next.hidden = !this.done || number === steps.length;
    this.ready.hidden = !this.done || number < steps.length;
    const view = await this.view();
    if (number !== this.number) return;
    if (this.done) this.board.show(view.after.svg, [], { touched: view.after.touched });
    else this.board.show(view.svg, view.moves, { names: view.parts });
  }

  /** Plays a move: that of the step goes on, another one is only explained. */
  async play(text) {
    const { move, moves } = await this.view();
    if (text !== move) {
      const wanted = moves.find((other) => other.text === move);
      this.words.textContent = `That is a legal move, too. Here, try this one: ${wanted.words ?? move}.`;
      this.board.hint(wanted.parts);
      return false;
    }
    this.done = true;
    await this.draw();
    (this.next.hidden ? this.ready : this.next).focus();
    return true;
  }

  async hint() {
    const { move, moves } = await this.view();
    this.board.hint(moves.find(({ text }) => text === move).parts);
  }
}
