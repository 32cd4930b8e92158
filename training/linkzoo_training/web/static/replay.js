// A record, ply by ply: each has an address of its own.

import { analysisCard } from "./analysis.js";
import { ask, guarded, make } from "./api.js";
import { Bar } from "./bar.js";
import { Replayer } from "./replayer.js";
import { Report, spoken } from "./report.js";

/** The page of a record, with `go(ply)` and `leave()`. */
export async function replayPage(page, id, ply) {
  const source = {
    head: (viewer) => ask(`replays/${id}${viewer === null ? "" : `?seat=${viewer}`}`),
    view: (at, viewer, tall) => ask(`replays/${id}/${at}?tall=${tall}${viewer === null ? "" : `&seat=${viewer}`}`),
  };
  const bar = new Bar();
  const advice = make("p", { className: "advice" });
  const replayer = new Replayer(source, (at, { judges, reports, title }, { acting }) => {
    document.title = `${title}, replay, linkzoo`;
    history.replaceState(null, "", `#/replay/${id}/${at}`);
    analysis.clear();
    analysis.offer(judges, acting !== null);
    bar.element.hidden = advice.hidden = !reports;
    report.begin(judges, reports);
    mark(at);
  });
  /** Shows the chances to win, and in a decision of the report both moves. */
  const mark = (at) => {
    const decision = report.mark(at);
    bar.show(report.found?.chances[at] ?? null);
    advice.textContent = decision ? `Played: ${spoken(decision.played)}. Better: ${spoken(decision.better)}. ${decision.reasons.join(" ")}` : "";
    if (decision) replayer.board.compare(decision.played.parts, decision.better.parts);
  };
  const analysis = analysisCard((agent) => ask(`replays/${id}/${replayer.ply}/analysis`, { agent }), (moves) => replayer.board.advise(moves));
  const questions = { report: () => ask(`replays/${id}/report`, {}), values: (agent) => ask(`replays/${id}/values`, { agent }) };
  const report = new Report(questions, (at) => guarded(() => replayer.go(at)));
  report.shown = () => mark(replayer.ply);
  replayer.board.element.after(bar.element, advice);
  report.settle(replayer.element, replayer.board);
  replayer.side.append(analysis.element);
  await replayer.see(ply);
  page.replaceChildren(replayer.element);
  return {
    id,
    go: (at) => replayer.go(at),
    leave() {
      replayer.leave();
      report.leave();
    },
  };
}
