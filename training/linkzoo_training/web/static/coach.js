// A coach: an agent's best move for the position on the board, or instead of the person's last move.

import { judgeField, signed } from "./analysis.js";
import { button, make } from "./api.js";

const worth = (value) => `${signed(value)} (−1 lost, +1 won)`;
const percent = (share) => `${Math.round(100 * share)} %`;

/** `ask(agent, last)` analyses the position, or the one before the person's last move; `hint(parts)`
 * marks a move. */
export class Coach {
  constructor(ask, hint) {
    this.ask = ask;
    this.judge = judgeField();
    this.said = make("p", { role: "status" });
    this.now = button("Hint", async () => {
      const { agent, best, value, notes } = await this.best(false);
      hint(best.parts);
      this.say(`${agent} would play: ${best.words ?? best.text} (${percent(best.share)} of its choice). It values your position at ${worth(value)}.${notes}`);
    });
    this.before = button("What would you have played?", async () => {
      const { agent, best, moves, value, played, notes } = await this.best(true);
      const other = best.text === played?.text ? "It would have played your move, too" : `Instead of your last move it would have played: ${best.words ?? best.text}`;
      const lost = played && played.value !== null ? `Your move lost ${Math.max(0, Math.max(...moves.map((move) => move.value)) - played.value).toFixed(2)}. ` : "";
      const own = played ? `; it gives ${percent(best.share)} to that and ${percent(played.share)} to yours` : "";
      this.say(`${agent}: ${other}${best.text === played?.text ? ` (${percent(best.share)})` : own}. ${lost}It valued your position at ${worth(value)}.${notes}`);
    });
    this.element = make("section", { className: "coach", "aria-label": "coach" }, make("div", { className: "row" }, this.now, this.before), this.said);
  }

  async best(last) {
    this.say("Thinking …");
    try {
      const { agent, seat, values, moves, played, notes } = await this.ask(this.judge.name(), last);
      return { agent, best: moves[0], moves, value: values[seat], played: moves.find(({ text }) => text === played), notes: notes.map((note) => ` ${note}.`).join("") };
    } catch (error) {
      this.say("");
      throw error;
    }
  }

  say(words) {
    this.said.textContent = words;
  }

  /** Enables the requests that are possible now. */
  offer(judges, now, before) {
    this.now.disabled = !now;
    this.before.disabled = !before;
    this.element.hidden = !(now || before) || judges.length === 0;
    this.judge.offer(judges);
  }
}
