// A new game with all its choices, this browser's games, and records.

import { ask, button, guarded, labelled, make } from "./api.js";
import { remember } from "./games.js";
import { Help } from "./help.js";
import { fileCard, gamesCard, savedCard } from "./lists.js";
import { Seats } from "./seats.js";

const MINUTES = [1, 2, 3, 5, 10, 15, 20, 30, 45, 60, 90]; // of a clock
const INCREMENTS = [0, 1, 2, 3, 5, 10, 15, 20, 30]; // seconds
const POLL = 1000; // milliseconds between checks whether a game is ready

export async function setupPage(page) {
  const setup = new Setup(await ask("catalogue"));
  page.replaceChildren(setup.links, setup.form, await gamesCard((links, names) => setup.showLinks(links, names)), await savedCard(), fileCard(), setup.help.element);
  document.title = "linkzoo";
  setup.showGame();
  return () => setup.leave();
}

class Setup {
  constructor({ games: offered, address, shared }) {
    Object.assign(this, { offered, address, shared, timer: 0 });
    this.help = new Help();
    this.names = make("select", { id: "game" }, ...offered.map((one) => make("option", { value: one.name }, one.title)));
    this.count = make("select", { id: "players" });
    this.seed = make("input", { id: "seed", inputMode: "numeric", pattern: "[0-9]*", placeholder: "new each time" });
    this.apart = make("input", { type: "checkbox", id: "apart" });
    this.each = make("label", { className: "flag" }, this.apart, "Each person plays on a device of their own");
    this.minutes = make("select", { id: "clock" }, make("option", { value: "" }, "none"), ...MINUTES.map((number) => make("option", { value: number }, `${number} minute${number === 1 ? "" : "s"}`)));
    this.increment = make("select", { id: "increment" }, ...INCREMENTS.map((number) => make("option", { value: number }, `${number} seconds`)));
    this.added = labelled("Added for each move", this.increment);
    this.timed = make("p", { className: "soft hint" });
    this.clock = make("div", { className: "fields" }, labelled("Clock of each person", this.minutes), this.added);
    this.minutes.onchange = () => this.showClock();
    this.seats = new Seats(() => this.changed());
    this.options = make("div", { className: "fields" });
    this.ready = make("p", { className: "soft", role: "status" });
    this.start = make("button", { type: "submit", className: "main" }, "Start");
    this.links = make("section", { className: "card", hidden: true, tabIndex: -1 });
    this.form = make(
      "form",
      { className: "card" },
      make("h1", {}, "New game"),
      make("div", { className: "fields" }, labelled("Game", this.names), labelled("Players", this.count)),
      this.seats.element,
      this.each,
      this.clock,
      this.timed,
      make("details", {}, make("summary", {}, "Options"), this.options),
      this.ready,
      make("div", { className: "row" }, this.start, button("Rules", () => this.help.open(this.names.value))),
    );
    this.names.onchange = () => this.showGame();
    this.count.onchange = () => this.showSeats();
    this.options.onchange = () => this.showSeats();
    this.form.onsubmit = (event) => {
      event.preventDefault();
      guarded(() => this.begin());
    };
  }

  get game() {
    return this.offered.find((one) => one.name === this.names.value);
  }

  showGame() {
    this.count.replaceChildren(...this.game.players.map((n) => make("option", { value: n }, `${n}`)));
    this.options.replaceChildren(...this.game.options.map(optionField), labelled("Seed of the game’s chance", this.seed));
    this.showSeats();
  }

  /** The seats are drawn again only if that changes a choice: a person may be typing in one. */
  showSeats() {
    const agents = this.agents();
    const shown = JSON.stringify([this.game.name, agents, this.count.value]);
    if (this.shown !== shown) this.seats.show(this.game, agents, Number(this.count.value));
    this.shown = shown;
    this.changed();
  }

  /** The agents that play the chosen game. */
  agents() {
    const chosen = this.chosen();
    const players = Number(this.count.value);
    const editions = new Map(this.game.options.filter(({ edition }) => edition).map((option) => [option.name, option.default]));
    const fits = ([name, value]) => value === (chosen[name] ?? editions.get(name) ?? value);
    return this.game.agents.filter((agent) => [null, players].includes(agent.players) && Object.entries(agent.options).every(fits));
  }

  /** After a change of players: the server prepares them while the page is read. */
  changed() {
    this.each.hidden = this.seats.people() < 2;
    this.showClock();
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.prepare(), 200);
  }

  /** The choice of a clock; games that keep secret whose turn it is have none. */
  showClock() {
    const people = this.seats.people() > 0;
    this.clock.hidden = !people || !this.game.clock;
    this.added.hidden = this.minutes.value === "";
    this.timed.hidden = !people || (this.game.clock && this.minutes.value === "");
    this.timed.textContent = this.game.clock
      ? "Without time left a person loses. Nobody’s first move is timed, and agents have no clock."
      : `${this.game.title} has no clock: it would show whose turn it is, which is secret there.`;
  }

  /** The clock as in the request of a new game; null for none. */
  wantedClock() {
    if (this.clock.hidden || this.minutes.value === "") return null;
    return { minutes: Number(this.minutes.value), increment: Number(this.increment.value) };
  }

  async prepare() {
    const { title, name } = this.game;
    const agents = this.seats.players().filter(Boolean);
    const options = this.chosen();
    const players = Number(this.count.value);
    const wanted = JSON.stringify([name, agents, options, players]);
    this.wanted = wanted;
    let words = "";
    try {
      const { ready } = await ask(`games/${encodeURIComponent(name)}/prepare`, { agents, options, players });
      words = ready ? `${title} is ready.` : `Compiling ${title} and its agents: at their first use this takes up to a minute. You can start meanwhile.`;
      if (!ready && this.wanted === wanted) this.timer = setTimeout(() => this.prepare(), POLL);
    } catch (error) {
      words = `Sorry: ${error.message}`;
    }
    if (this.wanted === wanted && this.ready.textContent !== words) this.ready.textContent = words;
  }

  async begin() {
    const apart = this.apart.checked && !this.each.hidden;
    this.start.disabled = true;
    try {
      const { id, seats } = await ask("sessions", {
        game: this.names.value,
        seats: this.seats.players(),
        names: this.seats.names(),
        apart,
        options: this.chosen(),
        seed: this.seed.value === "" ? null : this.seed.value,
        clock: this.wantedClock(),
      });
      remember(id, seats);
      if (apart) this.showLinks(seats, this.seats.names());
      else location.hash = `#/game/${id}`;
    } finally {
      this.start.disabled = false;
    }
  }

  /** The options; of an edition those that were changed, for it has defaults of its own. */
  chosen() {
    const offered = new Map(this.game.options.map((option) => [option.name, option]));
    const values = [...this.options.querySelectorAll("[name]")].map((input) => [input.name, valueOf(input)]);
    const changed = values.filter(([name, value]) => value !== offered.get(name).default);
    const edition = changed.some(([name]) => offered.get(name).edition);
    return Object.fromEntries(edition ? changed : values);
  }

  /** Shows the links of the seats, to be sent to their players. */
  showLinks(links, names) {
    const base = this.shared ? this.address : `${location.origin}/`;
    const item = ([seat, link]) => {
      const address = `${base}#/game/${link}`;
      const who = names[seat] || `Player ${seat}`;
      const copy = button("Copy", async () => {
        await navigator.clipboard.writeText(address);
        copy.textContent = "Copied";
      }, { "aria-label": `Copy the link of ${who}` });
      return make("li", {}, make("span", {}, `${who}: `, make("a", { href: address }, address)), navigator.clipboard ? copy : null);
    };
    this.links.replaceChildren(
      make("h2", {}, "A link for each player"),
      make("p", {}, "Open one yourself, and send the others to their players: a link shows the view of its seat, and leads back to the game at any time."),
      make("ul", { className: "list" }, ...Object.entries(links).map(item)),
      ...(this.shared ? [] : [make("p", { className: "soft" }, "This server can be reached from this machine only. Start it with “linkzoo serve --host 0.0.0.0” to play on other devices.")]),
    );
    this.links.hidden = false;
    this.links.focus();
  }

  leave() {
    clearTimeout(this.timer);
    this.wanted = undefined;
  }
}

function optionField(option) {
  const id = `option-${option.name}`;
  const title = option.name[0].toUpperCase() + option.name.slice(1).replaceAll("_", " ");
  const words = make("p", { id: `${id}-words`, className: "soft hint" }, option.words);
  const described = { name: option.name, id, "aria-describedby": words.id };
  return make("div", {}, ...field(option, title, described), words);
}

function field(option, title, described) {
  if (option.kind === "choice") {
    const select = make("select", described, ...option.choices.map((c) => make("option", { value: c }, `${c}`.replaceAll("_", " "))));
    select.dataset.kind = typeof option.choices[0] === "number" ? "number" : "text";
    select.value = option.default;
    return [labelled(title, select)];
  }
  if (option.kind === "flag") {
    return [make("label", { className: "flag" }, make("input", { type: "checkbox", checked: option.default, ...described }), title)];
  }
  return [labelled(title, make("input", { type: "number", value: option.default, ...described }))];
}

function valueOf(input) {
  if (input.type === "checkbox") return input.checked;
  return input.type === "number" || input.dataset.kind === "number" ? Number(input.value) : input.value;
}
