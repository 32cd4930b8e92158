// The seats, the turn, and the parts of the score.

import { called, make } from "./api.js";

export class Score {
  constructor() {
    this.seats = make("ul", { className: "seats" });
    this.table = make("div", { className: "score" });
    this.element = make("section", { className: "card", "aria-label": "seats and score" }, this.seats, this.table);
  }

  /** `acting` is the seat to act, or undefined; `own` the seat of the person at the screen. */
  show({ seats, roles, names, scores, winners }, acting, own) {
    this.seats.replaceChildren(
      ...seats.map((sits, seat) => {
        const notes = [seat === own ? "you" : "", winners.includes(seat) ? "won" : ""].filter(Boolean);
        const who = called(sits, names?.[seat]);
        const words = `Player ${seat}${roles?.[seat] ? ` (${roles[seat]})` : ""}${who ? `: ${who}` : ""}`;
        return make("li", { className: seat === acting ? "acting" : "" }, words, make("span", { className: "soft" }, notes.length ? ` (${notes.join(", ")})` : ""));
      }),
    );
    const head = make("tr", {}, make("td", {}), ...seats.map((_, seat) => make("th", { scope: "col", className: "number" }, `${seat}`)));
    const rows = scores.map(({ label, values }, index) =>
      make("tr", { className: index === scores.length - 1 ? "total" : "" }, make("th", { scope: "row" }, label), ...values.map((value) => make("td", { className: "number" }, value))),
    );
    this.table.replaceChildren(...(rows.length ? [make("table", { "aria-label": "score by player" }, make("thead", {}, head), make("tbody", {}, ...rows))] : []));
  }
}
