// The report on a game: accuracy, the values along it, and the decisions that mattered, with reasons.

import { judgeField } from "./analysis.js";
import { button, guarded, make } from "./api.js";
import { NARROW } from "./board.js";
import { Curve } from "./curve.js";

const percent = (share) => `${Math.round(100 * share)} %`;

export class Report {
  /** `questions.report()` returns the report, `questions.values(agent)` another agent's values;
   * `go(ply)` shows a position. */
  constructor(questions, go) {
    Object.assign(this, { questions, go });
    this.curve = new Curve(go);
    this.judge = judgeField();
    this.state = make("p", { className: "soft", role: "status" });
    this.accuracy = make("ul", { className: "accuracy" });
    this.by = make("p", { className: "soft" });
    this.title = make("h3", {}, "Decisions that mattered");
    this.list = make("ol", { className: "decisions" });
    const other = make("details", {}, make("summary", {}, "The curves of another agent"), make("div", { className: "row" }, this.judge.input, this.judge.known, button("Show", () => this.ask(this.judge.name()))));
    this.element = make("section", { className: "card report", hidden: true, tabIndex: -1, "aria-label": "report" }, make("h2", {}, "Report"), this.state, this.accuracy, this.title, this.list, make("h3", {}, "How the game went"), this.by, this.curve.element, other);
    this.title.hidden = true;
  }

  /** Puts the report below the board, on narrow screens at the end of the page. */
  settle(layout, board) {
    this.move = () => (NARROW.matches ? layout : board.column).append(this.element);
    this.move();
    NARROW.addEventListener("change", this.move);
  }

  leave() {
    NARROW.removeEventListener("change", this.move);
    this.element.remove();
  }

  /** Asks for the report, once, if an agent can write one. */
  async begin(judges, possible) {
    if (this.begun || !possible) return;
    this.begun = true;
    this.element.hidden = false;
    this.judge.offer(judges);
    this.state.textContent = "An agent looks at the game again …";
    await guarded(async () => {
      this.found = await this.questions.report();
      this.show(this.found);
    });
    if (!this.found) this.state.textContent = "There is no report.";
  }

  show(found) {
    this.state.textContent = "";
    this.accuracy.replaceChildren(...found.players.map((player, seat) => make("li", {}, accuracyOf(player, found.accuracy[seat], found.decided[seat]))));
    this.title.hidden = false;
    const items = found.decisions.map((decision) => this.item(found, decision));
    this.list.replaceChildren(...(items.length ? items : [make("li", {}, "No decision gave much away.")]));
    if (!this.other) this.draw(found);
    this.shown?.(found);
  }

  item({ players }, decision) {
    const { ply, seat, played, better, reasons } = decision;
    const jump = button(`Move ${ply + 1}, ${players[seat]}: ${spoken(played)}`, () => this.go(ply));
    return make("li", {}, jump, make("p", {}, `${verdictOf(decision)} Better: ${spoken(better)}. ${reasons.join(" ")}`));
  }

  /** Draws the curves of another agent instead. */
  async ask(agent) {
    this.other = true;
    this.draw(await this.questions.values(agent));
  }

  draw(values) {
    this.curve.show(values);
    this.by.textContent = `As ${values.agent} judges it from what the player to move knows: +1 is a sure win, −1 a sure loss.${values.notes.map((note) => ` ${note}.`).join("")}`;
  }

  /** Marks a ply in the curves; returns the decision there, if it is in the report. */
  mark(ply) {
    this.curve.mark(ply);
    return this.found?.decisions.find((decision) => decision.ply === ply);
  }
}

export const spoken = ({ words, text }) => words ?? text;

export function verdictOf({ loss, solved }) {
  return solved ? "It threw a won game away." : `It gave away about ${percent(loss)} of the chance to win.`;
}

function accuracyOf(player, accuracy, decided) {
  if (accuracy === null) return `${player}: no decision could change the result.`;
  return `${player}: accuracy ${percent(accuracy)} in ${decided} ${decided === 1 ? "decision" : "decisions"} that could change the result`;
}
