// A record, ply by ply: each has an address of its own.

import { analysisCard } from "./analysis.js";
import { ask } from "./api.js";
import { Replayer } from "./replayer.js";
import { valuesCard } from "./values.js";

/** The page of a record, with `go(ply)` and `leave()`. */
export async function replayPage(page, id, ply) {
  const source = {
    head: (viewer) => ask(`replays/${id}${viewer === null ? "" : `?seat=${viewer}`}`),
    view: (at, viewer, tall) => ask(`replays/${id}/${at}?tall=${tall}${viewer === null ? "" : `&seat=${viewer}`}`),
  };
  const replayer = new Replayer(source, (at, { judges, title }, { acting }) => {
    document.title = `${title}, replay, linkzoo`;
    history.replaceState(null, "", `#/replay/${id}/${at}`);
    analysis.clear();
    analysis.offer(judges, acting !== null);
    values.mark(judges, at);
  });
  const analysis = analysisCard((agent) => ask(`replays/${id}/${replayer.ply}/analysis`, { agent }), (moves) => replayer.board.judge(moves));
  const values = valuesCard((agent) => ask(`replays/${id}/values`, { agent }), (at) => replayer.go(at));
  replayer.element.append(values.element);
  replayer.side.append(analysis.element);
  await replayer.see(ply);
  page.replaceChildren(replayer.element);
  return replayer;
}
