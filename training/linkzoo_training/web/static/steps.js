// The moves since the person's last one, shown one after another. With the setting for less motion, or
// after a click on the board or Escape, the last position appears at once.

import { calm } from "./marks.js";

const STEP = 900; // milliseconds of a move
const ALL = 4000; // milliseconds of all moves
const MOST = 12; // moves shown

export class Steps {
  /** `picture(number)` returns the picture after a move of the log; `say(words)` describes it. */
  constructor(board, picture, say) {
    Object.assign(this, { board, picture, say, waiting: [], running: false });
    board.past.addEventListener("click", () => this.skip());
    board.element.addEventListener("keydown", ({ key }) => key === "Escape" && this.skip(), true);
  }

  /** Moves {number, words, touched}, of which the last leads to the picture on the board. */
  async run(moves) {
    if (calm() || !moves.length) return;
    this.waiting = [...this.waiting, ...moves].slice(-MOST);
    if (this.running) return;
    this.running = true;
    const time = Math.min(STEP, ALL / this.waiting.length);
    try {
      while (this.waiting.length) {
        const { number, words, touched } = this.waiting.shift();
        this.say(words);
        if (this.waiting.length) this.board.look(await this.picture(number), touched, time / 2);
        else this.end(touched, time / 2);
        await new Promise((done) => {
          this.wake = done;
          setTimeout(done, time);
        });
      }
    } finally {
      this.end([], 0);
      this.running = false;
      this.say();
    }
  }

  end(touched, time) {
    const before = this.board.places(touched);
    this.board.look("");
    if (time) this.board.arrive(touched, before, time);
  }

  skip() {
    this.waiting = [];
    this.wake?.();
  }
}
