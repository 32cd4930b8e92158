// The history: this browser's games, finished or not, with replays, export and import.

import { ask, askText, button, called, download, labelled, make, result, sureButton } from "./api.js";
import { close, games, remember } from "./games.js";

const MOST = 100; // links in one request

export async function historyPage(page) {
  document.title = "History, linkzoo";
  const list = make("ul", { className: "list history" });
  const words = make("p", { className: "soft", role: "status" });
  const show = async () => {
    const rows = await stored();
    words.textContent = rows.length ? "" : "No game yet. Games that you play in this browser appear here.";
    list.replaceChildren(...rows.map((game) => item(game, show)));
    exported.disabled = !rows.some(({ secret }) => !secret);
  };
  const exported = button("Export all", async () => download("linkzoo-history.json", await bundle(await stored())));
  const file = make("input", { type: "file", accept: ".json,application/json", id: "history-file" });
  const brought = button("Import", async () => {
    if (!file.files.length) throw new Error("choose a file first");
    const number = await bringIn(await file.files[0].text());
    await show();
    words.textContent = `${number} game${number === 1 ? "" : "s"} imported.`;
  });
  page.replaceChildren(
    make("section", { className: "card" }, make("h1", {}, "History"), words, list),
    make("section", { className: "card" }, make("h2", {}, "Export and import"), make("div", { className: "row" }, exported), make("div", { className: "row" }, labelled("Exported games or a record (JSON)", file), brought)),
  );
  await show();
}

/** The games of this browser's links, the newest first. */
async function stored() {
  const ids = games().map(({ id }) => id).slice(0, MOST);
  if (!ids.length) return [];
  const { games: rows, error } = await ask(`history?${ids.map((id) => `ids=${encodeURIComponent(id)}`).join("&")}`);
  if (error) throw new Error(`the server can’t write games: ${error}`);
  return rows;
}

const addressOf = ({ id, file }) => `history/${encodeURIComponent(id)}/${encodeURIComponent(file)}`;

/** The opponents and the result of a game, from the view of its person. */
export function described(game) {
  const others = game.seats.flatMap((who, seat) => (seat === game.own_seat ? [] : [called(who, game.names[seat])]));
  const against = game.own_seat === null ? others.join(" – ") : `against ${others.join(", ")}`;
  return `${game.title} ${against}`;
}

function outcome(game) {
  if (!game.over) return game.current ? "not over" : "left";
  const count = game.seats.length;
  if (game.winners.length === count) return "a draw";
  const given = game.resigned === null ? "" : ` (player ${game.resigned} ${game.timed_out ? "ran out of time" : "resigned"})`;
  if (game.own_seat === null) return result(game).replace(/\.$/, given);
  return `${game.winners.includes(game.own_seat) ? "won" : "lost"}${given}`;
}

function item(game, show) {
  const words = described(game);
  const when = new Date(1000 * game.began).toLocaleString([], { dateStyle: "medium", timeStyle: "short" });
  const moves = game.moves === null ? "" : `, ${game.moves} moves`;
  // The buttons are named by their words, which change, and described by the game.
  const about = make("span", { id: `game-${game.file}` });
  const standing = make("strong", {}, outcome(game));
  const replay = button("Replay", async () => {
    const { id } = await ask(`${addressOf(game)}/replay`, {});
    location.hash = `#/replay/${id}/0`;
  }, { "aria-label": `Replay ${words}, ${when}`, hidden: game.secret });
  const onward = make("a", { className: "action", href: `#/game/${game.id}`, "aria-label": `${game.over ? "Open" : "Continue"} ${words}, ${when}`, hidden: !game.current }, game.over ? "Open" : "Continue");
  const drop = sureButton("Remove", "Remove for good?", async () => {
    await close(game.id);
    await show();
  }, { "aria-describedby": about.id, hidden: !game.current });
  about.append(standing, ` · ${words} · ${when}${moves}`);
  return make("li", {}, about, onward, replay, drop);
}

/** The records of all games that hide nothing any more, as one text. */
async function bundle(rows) {
  const records = [];
  for (const game of rows.filter(({ secret }) => !secret)) records.push(await askText(addressOf(game)));
  // Records stay text: JavaScript would round their seeds.
  return `{"format": "linkzoo-history/1", "records": [\n${records.join(",\n")}\n]}\n`;
}

/** Sends the games of an exported file, or of a record, to the server; returns their number. */
async function bringIn(text) {
  const records = split(text);
  for (const record of records) {
    const { id } = JSON.parse(await askText("history", record));
    remember(id);
  }
  return records.length;
}

/** The records of a file as texts. An exported file has one record per line. */
function split(text) {
  let data;
  try {
    data = JSON.parse(text);
  } catch {
    throw new Error("the file is no JSON");
  }
  if (data.format !== "linkzoo-history/1") return [text];
  return text
    .split("\n")
    .filter((line) => line.startsWith('{"format": "linkzoo-record') || line.startsWith('{"format":"linkzoo-record'))
    .map((line) => line.replace(/,\s*$/, ""));
}
