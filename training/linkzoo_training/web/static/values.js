// A checkpoint's values along a game, requested when the page opens and for another checkpoint.

import { judgeField } from "./analysis.js";
import { button, guarded, make } from "./api.js";
import { Curve } from "./curve.js";

export function valuesCard(question, go) {
  const curve = new Curve(go);
  const judge = judgeField();
  const words = make("p", { className: "soft" });
  const show = async () => {
    const found = await question(judge.name());
    curve.show(found);
    words.textContent = `By ${found.agent}, without a search, from the information of the seat to move: from −1 (lost) to +1 (won).${found.notes.map((note) => ` ${note}.`).join("")}`;
  };
  let asked = false;
  return {
    element: make(
      "section",
      { className: "card values" },
      make("h2", {}, "The value of each seat"),
      make("div", { className: "row" }, judge.input, judge.known, button("Show", show)),
      words,
      curve.element,
    ),
    async mark(judges, ply) {
      curve.mark(ply);
      if (asked) return;
      asked = true;
      judge.offer(judges);
      if (judges.length > 0) await guarded(show);
    },
  };
}
