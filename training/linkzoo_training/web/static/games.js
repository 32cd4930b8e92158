// The games that this browser takes part in, kept between visits.

import { ask } from "./api.js";

const KEY = "linkzoo.games";
const MOST = 50;

/** Their ids, with the links of all seats where this browser has begun the game; the newest first. */
export function games() {
  try {
    return JSON.parse(localStorage.getItem(KEY)) ?? [];
  } catch {
    return [];
  }
}

function keep(list) {
  localStorage.setItem(KEY, JSON.stringify(list.slice(0, MOST)));
}

/** Adds a game; `links` are the ids of people's own links by seat. */
export function remember(id, links = {}) {
  const known = games().find((game) => game.id === id);
  keep([known ?? { id, links }, ...games().filter((game) => game.id !== id)]);
}

export function forget(id) {
  keep(games().filter((game) => game.id !== id));
}

export async function close(id) {
  await ask(`sessions/${id}`, undefined, "DELETE");
  forget(id);
}

/** The server's data of these games; games that it no longer has are forgotten. */
export async function current() {
  const known = games();
  if (!known.length) return [];
  const { sessions } = await ask(`sessions?${known.map(({ id }) => `ids=${encodeURIComponent(id)}`).join("&")}`);
  const found = new Map(sessions.map((session) => [session.id, session]));
  keep(known.filter(({ id }) => found.has(id)));
  return known.filter(({ id }) => found.has(id)).map((game) => ({ ...game, ...found.get(game.id) }));
}

/** Closes a game when its page is left, if nobody has moved and it is no rematch. */
export async function leaveGame(id) {
  const game = (await current()).find(({ id: other }) => other === id);
  if (game?.unused && game.own_seat === null && !game.over) await close(id);
}
