// The moves since one's own, shown one after another. Whoever wants less motion sees the last
// position at once; a click on the board or Escape goes there, too.

import { calm } from "./marks.js";

const [STEP, ALL, MOST] = [900, 4000, 12]; // milliseconds of a move and of all of them; moves shown

export class Steps {
  /** `picture(number)` is the picture after a move of the log; `say(words)` tells of it. */
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
