// The page of each address: #/, #/new, #/game/ID, #/replay/ID/PLY, #/history,
// #/learn/GAME/STEP, #/puzzle/GAME/NUMBER, #/strength.

import { abandon, guarded, make, say } from "./api.js";
import { forget, leaveGame, remember } from "./games.js";
import { historyPage } from "./history.js";
import { learnPage } from "./learn.js";
import { puzzlePage } from "./puzzle.js";
import { replayPage } from "./replay.js";
import { setupPage } from "./setup.js";
import { shelfPage } from "./shelf.js";
import { strengthPage } from "./strength.js";
import { sessionPage } from "./session.js";

let leave = () => undefined;
let replay; // the record that is open, and its id
let latest; // the page of the last address: the address can change while a page loads

async function show() {
  const main = document.getElementById("page");
  const [, kind, id, ply] = location.hash.split("/");
  if (kind === "replay" && replay?.id === id) return replay.go(Number(ply) || 0);
  abandon();
  leave();
  leave = () => undefined;
  replay = undefined;
  const page = make("div", {}, make("p", {}, "Loading …"));
  const wanted = (latest = page);
  main.replaceChildren(page);
  const [left, opened] = await load(page, kind, id, Number(ply) || 0);
  if (wanted !== latest) return left();
  [leave, replay] = [left, opened];
  main.focus({ preventScroll: true });
  return undefined;
}

/** Fills a page; returns a function to call when it is left, and the record that it shows. */
async function load(page, kind, id, ply) {
  const nothing = () => undefined;
  try {
    if (kind === "game" && id) {
      const left = await sessionPage(page, id);
      remember(id);
      return [
        () => {
          left();
          if (!location.hash.startsWith("#/replay/")) guarded(() => leaveGame(id));
        },
      ];
    }
    if (kind === "replay" && id) {
      const opened = await replayPage(page, id, ply);
      return [() => opened.leave(), opened];
    }
    if (kind === "learn") return [(await learnPage(page, decodeURIComponent(id ?? ""), Number(ply) || 1)) ?? nothing];
    if (kind === "puzzle" && id) return [await puzzlePage(page, decodeURIComponent(id), Number(ply) || 1)];
    if (kind === "history") return [(await historyPage(page)) ?? nothing];
    if (kind === "strength") return [(await strengthPage(page)) ?? nothing];
    if (kind === "new") return [(await setupPage(page)) ?? nothing];
    return [(await shelfPage(page)) ?? nothing];
  } catch (error) {
    if (error.name === "AbortError") return [nothing];
    if (kind === "game" && error.status === 404) forget(id);
    page.replaceChildren(make("h1", {}, "This game is gone"), make("p", {}, make("a", { href: "#/" }, "New game")));
    say(error.message);
    return [nothing];
  }
}

addEventListener("hashchange", () => guarded(show));
guarded(show);
