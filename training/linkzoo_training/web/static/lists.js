// The start page's lists: this browser's games, saved games, and records from files.

import { ask, askText, button, called, labelled, make, result } from "./api.js";
import { close, current } from "./games.js";

/** This browser's games; `share(links, names)` shows the links of a game's seats. With a title to continue,
 * only the games that aren't over. */
export async function gamesCard(share, title) {
  const body = make("ul", { className: "list" });
  const element = make("section", { className: "card" }, make("h2", {}, title ?? "Your games"), body);
  const show = async () => {
    const found = (await current()).filter(({ over }) => !(title && over));
    element.hidden = found.length === 0;
    body.replaceChildren(
      ...found.map((game) => {
        const words = `${game.title}: ${game.seats.map((who, seat) => player(game, who, seat)).join(", ")}`;
        return make(
          "li",
          {},
          make("span", {}, make("a", { href: `#/game/${game.id}` }, words), `, ${standing(game)}`),
          button("Close", async () => {
            await close(game.id);
            await show();
          }, { "aria-label": `Close ${words}` }),
          share && Object.keys(game.links).length ? button("Links", () => share(game.links, game.names), { "aria-label": `Links of ${words}` }) : null,
        );
      }),
    );
  };
  await show();
  return element;
}

function player({ own_seat, names }, who, seat) {
  if (own_seat === seat) return "you";
  return called(who, names[seat]);
}

function standing(game) {
  // The server doesn't tell the number of moves before it has read the game from its disk.
  const moves = game.moves === null ? "" : `${game.moves} move${game.moves === 1 ? "" : "s"}. `;
  if (game.over) return `${moves}${result(game)}`;
  return game.yours ? `${moves}Your move` : `${moves}Not over`;
}

/** The games saved on the server: open or delete one. */
export async function savedCard() {
  const body = make("ul", { className: "list" });
  const element = make("section", { className: "card" }, make("h2", {}, "Saved games"), body);
  const show = async () => {
    const { records } = await ask("records");
    element.hidden = records.length === 0;
    body.replaceChildren(...records.map((record) => savedItem(record, show)));
  };
  await show();
  return element;
}

function savedItem({ file, title, players, moves, time }, show) {
  const when = new Date(1000 * time).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const words = `${title}, ${players} players, ${moves} moves, ${when}`;
  const path = `records/${encodeURIComponent(file)}`;
  const drop = button("Delete", async () => {
    if (drop.textContent === "Delete") {
      drop.textContent = "Delete for good?";
      return;
    }
    await ask(path, undefined, "DELETE");
    await show();
  }, { "aria-label": `Delete ${words}` });
  drop.onblur = () => (drop.textContent = "Delete");
  return make("li", {}, make("span", {}, words), button("Open", async () => openRecord(await askText(path)), { "aria-label": `Open ${words}` }), drop);
}

/** A field for a record from a local file. */
export function fileCard() {
  const file = make("input", { type: "file", accept: ".json,application/json", id: "file" });
  const open = async () => {
    if (!file.files.length) throw new Error("choose a file first");
    const text = await file.files[0].text();
    try {
      JSON.parse(text);
    } catch {
      throw new Error(`${file.files[0].name} is no JSON`);
    }
    await openRecord(text);
  };
  return make(
    "section",
    { className: "card" },
    make("h2", {}, "Replay a record"),
    make("div", { className: "row" }, labelled("A saved game (JSON)", file), button("Open", open)),
  );
}

/** Opens a record, the text of a file. */
export async function openRecord(text) {
  const { id } = JSON.parse(await askText("replays", text));
  location.hash = `#/replay/${id}/0`;
}
