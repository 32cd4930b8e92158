// Which page an address is: #/, #/table/ID, #/replay/ID/PLY, #/strength.

import { guarded, make, say } from "./api.js";
import { replayPage } from "./replay.js";
import { setupPage } from "./setup.js";
import { strengthPage } from "./strength.js";
import { tablePage } from "./table.js";

let leave = () => undefined;
let replay; // the record that is open, and its id

async function show() {
  const page = document.getElementById("page");
  const [, kind, id, ply] = location.hash.split("/");
  if (kind === "replay" && replay?.id === id) return replay.go(Number(ply) || 0);
  leave();
  leave = () => undefined;
  replay = undefined;
  document.getElementById("title").textContent = "";
  page.replaceChildren(make("p", {}, "Loading …"));
  try {
    if (kind === "table" && id) leave = await tablePage(page, id);
    else if (kind === "replay" && id) {
      replay = await replayPage(page, id, Number(ply) || 0);
      const opened = replay;
      leave = () => opened.leave();
    } else if (kind === "strength") await strengthPage(page);
    else await setupPage(page);
  } catch (error) {
    page.replaceChildren(make("p", {}, "This game isn’t there any more. ", make("a", { href: "#/" }, "A new one?")));
    say(error.message);
  }
  page.focus({ preventScroll: true });
  return undefined;
}

addEventListener("hashchange", () => guarded(show));
guarded(show);
