// An agent's analysis of the position on the board.

import { button, make } from "./api.js";
import { Bar } from "./bar.js";

/** A field for an agent with a policy; `offer(judges)` names those that play such games. */
export function judgeField() {
  const input = make("input", { autocomplete: "off", spellcheck: false, "aria-label": "agent" });
  const known = make("datalist", { id: `judges${Math.random().toString(36).slice(2)}` });
  input.setAttribute("list", known.id);
  return {
    input,
    known,
    offer(judges) {
      known.replaceChildren(...judges.map((value) => make("option", { value })));
      if (input.value === "") input.value = judges[0] ?? "";
    },
    name() {
      return input.value.trim();
    },
  };
}

/** `judged(moves)` is called with the moves and their shares, with [] when they are outdated. */
export function analysisCard(question, judged) {
  const judge = judgeField();
  const shown = make("div", {});
  let latest;
  const look = button("Analyse", async () => {
    const wanted = (latest = Symbol("latest"));
    shown.replaceChildren("Thinking …");
    try {
      const answer = await question(judge.name());
      if (wanted !== latest) return;
      shown.replaceChildren(...drawn(answer));
      judged(answer.moves);
    } catch (error) {
      if (wanted === latest) shown.replaceChildren();
      throw error;
    }
  });
  const element = make("section", { className: "card analysis" }, make("h2", {}, "What an agent thinks"), make("div", { className: "row" }, judge.input, judge.known, look), shown);
  return {
    element,
    clear() {
      latest = undefined;
      shown.replaceChildren();
      judged([]);
    },
    offer(judges, possible) {
      element.hidden = !possible || judges.length === 0;
      judge.offer(judges);
    },
  };
}

export const signed = (value) => (value === null ? "unknown" : `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`);

function drawn({ agent, seat, values, chances, moves, exact, notes }) {
  const bar = new Bar();
  bar.show(chances);
  const worth = values.map((value, one) => make("li", {}, `Player ${one}${one === seat ? " (to move)" : ""}: ${signed(value)}`));
  const valued = moves.some(({ value }) => value !== null);
  const searched = moves.some(({ visits }) => visits !== null);
  const head = make("tr", {}, make("th", {}, "move"), make("td", {}), make("th", { className: "number" }, "share"), searched ? make("th", { className: "number" }, "visits") : null, valued ? make("th", { className: "number" }, "value") : null);
  const winning = new Set(exact?.winning ?? []);
  const rows = moves.map(({ text, share, visits, value }) =>
    make(
      "tr",
      {},
      make("td", {}, winning.has(text) ? `★ ${text}` : text),
      make("td", {}, make("meter", { min: 0, max: 1, value: share, "aria-hidden": "true" })),
      make("td", { className: "number" }, `${(100 * share).toFixed(1)} %`),
      searched ? make("td", { className: "number" }, `${visits}`) : null,
      valued ? make("td", { className: "number" }, signed(value)) : null,
    ),
  );
  return [
    make("p", {}, `${agent}: values from −1 (lost) to +1 (won); on the board, how likely a move with a part is, in percent`),
    ...notes.map((note) => make("p", { className: "soft" }, `${note}.`)),
    chances ? bar.element : null,
    make("ul", {}, ...worth),
    exact ? make("p", {}, verdict(exact)) : null,
    make("div", { className: "shares", tabIndex: 0 }, make("table", {}, head, ...rows)),
  ].filter(Boolean);
}

function verdict(exact) {
  if (!exact.reached) return "Exact solution: out of reach here.";
  if (exact.winner < 0) return "Exact solution: a draw.";
  const score = exact.score === null ? "" : `, score ${exact.score}`;
  return `Exact solution: player ${exact.winner} wins${score}. Winning moves have a ★: ${exact.winning.length}.`;
}
