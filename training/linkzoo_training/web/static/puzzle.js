// Puzzles: find a move that wins with best play; the exact solver knows them.

import { button, make } from "./api.js";
import { Exercise } from "./exercise.js";

/** The page of a game's puzzle `number` (1, 2, …). */
export async function puzzlePage(page, name, number) {
  const puzzle = new Puzzle(page, name, number);
  await puzzle.draw();
  return () => puzzle.leave();
}

class Puzzle extends Exercise {
  constructor(page, name, number) {
    super(name, number, "puzzles");
    this.solved = false;
    this.title = make("h1", {});
    this.show = button("Show the answer", () => this.reveal());
    this.rules = button("Rules", () => this.help.open(name));
    this.next = make("a", { className: "action", hidden: true }, "Next puzzle");
    this.fill(page, this.title, this.show, this.rules, this.next);
  }

  async draw() {
    const view = await this.view();
    document.title = `Puzzle, ${view.title}, linkzoo`;
    this.title.textContent = `${view.title}: find the winning move`;
    this.place.textContent = `Puzzle ${this.number} of ${view.number}. ${view.say}`;
    const last = this.number === view.number;
    this.next.href = last ? "#/learn" : `#/puzzle/${encodeURIComponent(this.name)}/${this.number + 1}`;
    this.next.textContent = last ? "Back to the list" : "Next puzzle";
    if (!this.words.textContent) this.words.textContent = `You are player ${view.seat}${view.role ? ` (${view.role})` : ""}. ${count(view.winning)} with best play.`;
    this.board.show(view.svg, this.solved ? [] : view.moves, { names: view.parts });
  }

  async play(text) {
    const { winning, moves } = await this.view();
    const spoken = moves.find((move) => move.text === text).words;
    if (!winning.includes(text)) {
      this.words.textContent = `Not this one: after ${spoken}, you no longer win if the other side plays best. Try again.`;
      return false;
    }
    await this.end(`Right: ${spoken} wins with best play.`);
    this.next.focus();
    return true;
  }

  async reveal() {
    const { winning, moves } = await this.view();
    const answers = moves.filter(({ text }) => winning.includes(text));
    await this.end(`The answer: ${answers.map(({ words }) => words).join(", or ")}.`);
    this.board.hint(answers[0].parts);
  }

  async end(words) {
    this.solved = true;
    this.words.textContent = words;
    this.show.hidden = true;
    this.next.hidden = false;
    await this.draw();
  }
}

function count({ length }) {
  return length === 1 ? "One move wins" : `${length} moves win`;
}
