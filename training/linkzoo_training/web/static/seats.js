// The start page's fields for the players: a person or an agent in each seat.

import { labelled, make } from "./api.js";

export const NAME = "linkzoo.name"; // of the person at this browser
const OTHER = "other";

export class Seats {
  /** `changed()` is called when another player is chosen. */
  constructor(changed) {
    this.changed = changed;
    this.element = make("div", { className: "fields" });
  }

  /** Shows the seats of a game with the agents that play it; players keep their seats if they can. */
  show(game, agents, count) {
    const before = this.seats ?? [];
    const usual = agents.some(({ name }) => name === "greedy") ? "greedy" : "random";
    this.seats = Array.from({ length: count }, (_, seat) => this.seat(game, agents, seat, before[seat]?.who.value ?? (seat === 0 ? "human" : usual)));
    this.seats.forEach(({ name, other }, seat) => {
      if (!before[seat]) return;
      name.value = before[seat].name.value;
      other.value = before[seat].other.value;
    });
    this.element.replaceChildren(...this.seats.map(({ element }) => element));
  }

  seat(game, agents, seat, wanted) {
    const id = `seat${seat}`;
    const choices = [["human", "a person"], ...agents.map(({ name, words }) => [name, `${name}: ${words}`]), [OTHER, "another agent, by its name"]];
    const who = make("select", { id, "aria-describedby": `${id}-words` }, ...choices.map(([value, text]) => make("option", { value }, text)));
    who.value = choices.some(([value]) => value === wanted) ? wanted : "random";
    const name = make("input", { id: `${id}-name`, autocomplete: "off", maxLength: 40, placeholder: `Player ${seat}` });
    const other = make("input", { id: `${id}-other`, autocomplete: "off", spellcheck: false, placeholder: "uct-500" });
    const named = labelled("Name", name);
    const typed = labelled("Agent’s name", other);
    const words = make("p", { id: `${id}-words`, className: "soft hint" });
    if (seat === 0) name.value = localStorage.getItem(NAME) ?? "";
    name.onchange = () => seat === 0 && localStorage.setItem(NAME, name.value);
    other.onchange = () => this.changed();
    const choose = () => {
      named.hidden = who.value !== "human";
      typed.hidden = who.value !== OTHER;
      words.textContent = about(agents.find((agent) => agent.name === who.value));
      words.hidden = words.textContent === "";
    };
    who.onchange = () => {
      choose();
      this.changed();
    };
    choose();
    const role = game.roles[seat] ? ` (${game.roles[seat]})` : "";
    const element = make("div", { className: "seat" }, labelled(`Player ${seat}${role}`, who), words, named, typed);
    return { element, who, name, other };
  }

  /** The players by seat, as in the request of a new game. */
  players() {
    return this.seats.map(({ who, other }) => (who.value === OTHER ? other.value.trim() : who.value));
  }

  names() {
    return this.seats.map(({ who, name }) => (who.value === "human" ? name.value.trim() : ""));
  }

  /** The number of people. */
  people() {
    return this.players().filter((who) => who === "human").length;
  }
}

function about(agent) {
  if (!agent) return "";
  return agent.rating === null ? "Its strength isn’t measured." : `Strength ${agent.rating}, where random play has 0.`;
}
