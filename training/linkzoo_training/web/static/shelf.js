// The start page: the games on a shelf, each with pictures, opponents at three levels, and a game to watch.

import { ask, button, guarded, make } from "./api.js";
import { remember } from "./games.js";
import { Help } from "./help.js";
import { gamesCard } from "./lists.js";
import { calm } from "./marks.js";
import { NAME } from "./seats.js";

const TURN = 1200; // milliseconds of a picture; all of them take less than five seconds

export async function shelfPage(page) {
  const { games } = await ask("catalogue");
  const help = new Help();
  const shelf = games.map((game) => new ShelfGame(game, help));
  const more = make("p", { className: "soft" }, make("a", { href: "#/new" }, "More"), ": other opponents, players and options, a game on two devices, saved games.");
  page.replaceChildren(make("h1", {}, "Choose a game"), await gamesCard(undefined, "Continue"), make("div", { className: "shelf" }, ...shelf.map(({ element }) => element)), more, help.element);
  document.title = "linkzoo";
  for (const game of shelf) game.turn();
  return () => shelf.forEach((game) => game.stop());
}

class ShelfGame {
  constructor(game, help) {
    Object.assign(this, { game, shown: 0, timer: 0, prepared: false });
    this.pictures = game.pictures.map((src, index) => make("img", { src, alt: "", className: index ? "" : "shown" }));
    const heading = make("h2", {}, game.title);
    const levels = game.levels.map(({ level, agent, rating }) => button(level, () => this.play(agent), { title: against(agent, rating), "aria-label": `Play ${game.title}, I am ${level}` }));
    levels[0]?.classList.add("main");
    this.element = make(
      "section",
      { className: "card", "aria-label": game.title },
      make("div", { className: "picture", "aria-hidden": "true" }, ...this.pictures),
      heading,
      make("p", {}, game.summary),
      make("p", { className: "soft" }, facts(game)),
      make("p", { className: "label" }, "Play now. I am …"),
      make("div", { className: "row" }, ...levels),
      game.tutorial ? make("a", { className: "learn", href: `#/learn/${encodeURIComponent(game.name)}/1` }, `Learn ${game.title} by playing`) : null,
      make("div", { className: "row" }, button("Watch strong play", () => this.begin(game.watch), { "aria-label": `Watch strong play of ${game.title}` }), button("Rules", () => help.open(game.name), { "aria-label": `Rules of ${game.title}` })),
    );
    for (const kind of ["pointerenter", "focusin"]) this.element.addEventListener(kind, () => this.visit());
  }

  /** Shows the pictures in turn, once; with the setting for less motion only the first one. */
  turn() {
    if (calm() || this.timer || this.pictures.length < 2) return;
    this.shown = 0;
    const next = () => {
      this.shown += 1;
      this.pictures.forEach((picture, index) => picture.classList.toggle("shown", index === this.shown % this.pictures.length));
      this.timer = this.shown < this.pictures.length ? setTimeout(next, TURN) : 0;
    };
    this.timer = setTimeout(next, TURN);
  }

  /** The pointer or the focus comes: the pictures turn again, and the server prepares the game. */
  visit() {
    this.turn();
    if (this.prepared) return;
    this.prepared = true;
    const { name, levels, balanced } = this.game;
    ask(`games/${encodeURIComponent(name)}/prepare`, { agents: levels.slice(0, 1).map(({ agent }) => agent), options: balanced, players: this.game.players[0] }).catch(() => undefined);
  }

  play(agent) {
    const people = Array.from({ length: this.game.players[0] - 1 }, () => agent);
    return this.begin(["human", ...people]);
  }

  async begin(seats) {
    const names = seats.map((who) => (who === "human" ? localStorage.getItem(NAME) ?? "" : ""));
    const { id, seats: links } = await ask("sessions", { game: this.game.name, seats, names, apart: false, options: this.game.balanced, seed: null });
    remember(id, links);
    location.hash = `#/game/${id}`;
  }

  stop() {
    clearTimeout(this.timer);
  }
}

function against(agent, rating) {
  return `against ${agent}${rating === null ? "" : `, strength ${rating}, where random play has 0`}`;
}

function facts({ players, minutes }) {
  const [least, most] = [players[0], players.at(-1)];
  const number = least === most ? `${least} players` : `${least} to ${most} players`;
  return minutes ? `${number}, about ${minutes} minutes` : number;
}
