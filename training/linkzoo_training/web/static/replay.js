// A record, ply by ply: each has an address of its own.

import { analysisCard } from "./analysis.js";
import { ask, button, guarded, make, result } from "./api.js";
import { Board } from "./board.js";
import { valuesCard } from "./values.js";

export async function replayPage(page, id, ply) {
  const replay = new ReplayPage(page, id);
  await replay.go(ply);
  return replay;
}

class ReplayPage {
  constructor(page, id) {
    this.id = id;
    this.ply = 0;
    this.plies = 0;
    this.timer = 0;
    this.board = new Board(() => undefined);
    this.status = make("p", { className: "status", role: "status", "aria-live": "polite" });
    this.slider = make("input", { type: "range", min: 0, value: 0, "aria-label": "ply" });
    this.slider.oninput = () => this.address(Number(this.slider.value));
    this.pace = make("select", { "aria-label": "pace" }, ...[["300", "fast"], ["1000", "normal"], ["2500", "slow"]].map(([value, name]) => make("option", { value }, name)));
    this.pace.value = "1000";
    this.auto = button("Play", () => this.toggle());
    this.view = make("select", { "aria-label": "seen by", onchange: () => guarded(() => this.go(this.ply)) });
    this.log = make("ol", { className: "log", "aria-label": "moves" });
    this.analysis = analysisCard((agent) => ask(`replays/${id}/${this.ply}/analysis`, { agent }), (moves) => this.board.judge(moves));
    this.values = valuesCard((agent) => ask(`replays/${id}/values`, { agent }), (ply) => this.address(ply));
    const move = (label, name, where) => button(label, () => this.address(where()), { "aria-label": name });
    page.replaceChildren(
      make(
        "div",
        { className: "layout" },
        make(
          "section",
          {},
          this.status,
          this.board.element,
          this.slider,
          make(
            "div",
            { className: "row" },
            move("|◀", "first", () => 0),
            move("◀", "back", () => this.ply - 1),
            this.auto,
            move("▶", "forward", () => this.ply + 1),
            move("▶|", "last", () => this.plies),
            this.pace,
            this.view,
            button("Enlarge", () => void this.board.enlarge()),
          ),
          this.values.element,
        ),
        make("aside", {}, this.analysis.element, make("section", { className: "card" }, make("h2", {}, "Moves"), this.log)),
      ),
    );
    this.keys = (event) => this.key(event);
    document.addEventListener("keydown", this.keys);
  }

  key(event) {
    if (["INPUT", "SELECT", "TEXTAREA"].includes(event.target.tagName)) return;
    const to = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.plies }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.address(to);
  }

  address(ply) {
    const there = Math.max(0, Math.min(this.plies, ply));
    history.replaceState(null, "", `#/replay/${this.id}/${there}`);
    return guarded(() => this.go(there));
  }

  async go(ply) {
    const seat = this.view.value === "" ? "" : `?seat=${this.view.value}`;
    const wanted = (this.wanted = Symbol("latest"));
    const view = await ask(`replays/${this.id}/${ply}${seat}`);
    if (wanted !== this.wanted) return;
    document.getElementById("title").textContent = `${view.title}, replay`;
    this.ply = view.ply;
    this.plies = view.plies;
    this.slider.max = view.plies;
    this.slider.value = view.ply;
    if (!this.view.length) {
      const all = make("option", { value: "" }, "all is seen");
      this.view.append(all, ...Array.from({ length: view.players }, (_, one) => make("option", { value: one }, `seen by player ${one}`)));
    }
    this.board.show(view.svg, []);
    const last = view.log[view.ply - 1];
    const played = last ? `, player ${last.seat} played ${last.text}` : "";
    this.status.textContent = `Ply ${view.ply} of ${view.plies}${played}. ${view.over ? result(view) : ""}`;
    this.showLog(view);
    this.analysis.clear();
    this.analysis.offer(view.game, !view.over);
    this.values.mark(view.game, view.ply);
  }

  showLog(view) {
    this.log.replaceChildren(
      ...view.log.map(({ seat, text }, index) => {
        const link = make("a", { href: `#/replay/${this.id}/${index + 1}` }, `${seat}: ${text}`);
        if (index + 1 === view.ply) link.setAttribute("aria-current", "true");
        return make("li", {}, link);
      }),
    );
    const current = this.log.querySelector("[aria-current]");
    if (current) this.log.scrollTop = current.offsetTop - this.log.offsetTop - 60;
  }

  async toggle() {
    if (this.timer) return this.stop();
    this.auto.textContent = "Pause";
    if (this.ply === this.plies) await this.address(0);
    const next = async () => {
      if (this.ply === this.plies) return this.stop();
      await this.address(this.ply + 1);
      if (this.timer) this.timer = setTimeout(next, Number(this.pace.value));
      return undefined;
    };
    this.timer = setTimeout(next, 0);
    return undefined;
  }

  stop() {
    clearTimeout(this.timer);
    this.timer = 0;
    this.auto.textContent = "Play";
  }

  leave() {
    this.stop();
    document.removeEventListener("keydown", this.keys);
  }
}
