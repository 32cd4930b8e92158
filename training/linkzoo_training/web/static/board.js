// The picture of a position and an unfinished move: select its parts, preview it, confirm it.
// Parts that aren't in the picture are buttons below it.

import { button, make } from "./api.js";
import { Faces } from "./faces.js";
import { within } from "./geometry.js";
import { arrive, arrow, mark, places } from "./marks.js";
import { Selection } from "./selection.js";
import { showShares } from "./shares.js";
import { Walk } from "./walk.js";

const TARGET = 24; // pixels that a target has at least

/** Whether the screen is narrow, so that pictures are tall. */
export const NARROW = matchMedia("(max-width: 1023px)");

const partOf = (element) => element.closest("[data-part]")?.dataset.part;

/** The clickable part of an element: its own shape if it contains other elements to choose. */
function handle(element) {
  const inner = [...element.querySelectorAll(".lit, .chosen")].some((other) => other.matches("[data-part]"));
  return (inner && element.querySelector(":scope > :is(rect, path, circle, polygon)")) || element;
}

export class Board {
  /** `play(text)` plays a move and returns whether it was played; `confirm()` returns whether to ask
   * before each move; `preview(text)` returns the picture after a move. */
  constructor(play, confirm = () => false, preview = undefined) {
    Object.assign(this, { play, confirm, preview });
    this.selection = new Selection([]);
    this.names = {};
    this.judged = []; // moves with their shares
    this.keys = false; // whether the latest choice was made by a key
    this.picture = make("div", { className: "board", role: "group", "aria-label": "board", tabIndex: -1 });
    this.past = make("div", { className: "past", hidden: true, "aria-hidden": "true" });
    this.bar = make("div", { className: "row choices", role: "group", "aria-label": "choices" });
    const stage = make("div", { className: "stage" }, this.picture, this.past);
    this.faces = new Faces(stage);
    this.column = make("div", { className: "column" }, stage); // a report can follow the stage
    this.element = make("div", { className: "table" }, this.column, this.bar);
    this.walk = new Walk(this.picture);
    this.picture.addEventListener("click", (event) => this.point(event));
    this.picture.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      const part = partOf(event.target);
      if (part !== undefined) this.choose(part);
    });
    this.element.addEventListener("pointerdown", () => (this.keys = false), true);
    this.element.addEventListener(
      "keydown",
      (event) => {
        if (["Enter", " ", "Escape"].includes(event.key)) this.keys = true;
        if (event.key === "Escape") this.undo();
      },
      true,
    );
    new ResizeObserver(() => this.frame()).observe(this.picture);
  }

  /** A position with its moves; `names` are the spoken names of parts, `touched` the last moves' items. */
  show(svg, moves, { names = {}, touched = [] } = {}) {
    const held = this.element.contains(document.activeElement);
    if (svg !== this.svg) {
      this.picture.innerHTML = this.svg = svg;
      this.faces.hide();
    }
    // The drawing holds what can be chosen: it is a group, no image.
    this.picture.querySelector("svg")?.setAttribute("role", "group");
    const { chosen } = this.selection;
    const same = JSON.stringify(moves) === JSON.stringify(this.selection.moves);
    this.selection = new Selection(moves);
    if (same) this.selection.chosen = chosen; // only the picture is another, such as a tall one
    this.names = names;
    this.touched = touched;
    this.judged = [];
    this.hinted = this.worse = [];
    this.light();
    if (held) this.hold();
  }

  /** Shows the shares of moves on their parts, until the picture changes; none with []. */
  judge(moves) {
    this.judged = moves;
    this.light();
  }

  /** Marks the parts of an advised move, and beside it those of a move that was worse. */
  hint(parts, worse = []) {
    this.hinted = parts;
    this.worse = worse;
    this.frame();
  }

  /** Marks the move that was played and a better one. */
  compare(played, better) {
    this.hint(better, played);
  }

  /** Shows the shares of judged moves, and an arrow for the best one; none with []. */
  advise(moves) {
    this.judge(moves);
    this.hint(moves[0]?.parts ?? []);
  }

  enlarge() {
    const large = this.picture.classList.toggle("large");
    this.past.classList.toggle("large", large);
    this.light();
    return large;
  }

  /** Shows another position over the board, with a note in its corner; with "" the preview or none. */
  look(svg, touched = [], came = 0, note = "earlier") {
    const before = came ? this.places(touched) : undefined;
    const shown = svg ? { svg, touched, note } : { svg: "", touched: [], ...this.foreseen };
    this.past.hidden = shown.svg === "";
    this.past.innerHTML = shown.svg;
    this.past.dataset.kind = svg ? "earlier" : "preview";
    this.past.dataset.note = shown.note ?? (shown.certain ? "preview" : "preview of what is certain");
    mark(this.past, "last", shown.touched);
    if (before) arrive(this.past, touched, before, came);
  }

  /** Shows how the touched items came onto the board. */
  arrive(touched, before, time) {
    arrive(this.picture, touched, before, time);
  }

  places(touched) {
    return places(this.past.hidden ? this.picture : this.past, touched);
  }

  undo() {
    const { selection } = this;
    if (this.undone) selection.chosen = [];
    else selection.chosen.pop();
    this.undone = true;
    this.light();
    if (this.keys) this.hold();
  }

  /** Focuses the next choice; the board itself without choices. */
  hold() {
    const stop = this.walk.elements.find((element) => element.getAttribute("tabindex") === "0");
    (this.bar.querySelector(".main") ?? stop ?? this.bar.querySelector("button") ?? this.picture).focus();
  }

  light() {
    const { chosen, ready } = this.selection;
    const next = this.selection.next();
    const marked = new Set([...chosen, ...(ready?.parts ?? [])]);
    const held = this.element.contains(document.activeElement);
    const [drawn, stops, fresh] = [new Set(), [], []];
    for (const element of this.picture.querySelectorAll("[role=button]")) {
      for (const name of ["role", "aria-label", "aria-pressed"]) element.removeAttribute(name);
    }
    for (const element of this.picture.querySelectorAll("[data-part]")) {
      const { part } = element.dataset;
      const outer = element.parentElement.closest("[data-part]")?.dataset.part !== part;
      const [lit, taken] = [outer && next.has(part) && !marked.has(part), outer && marked.has(part) && this.selection.can(part)];
      element.classList.toggle("lit", lit);
      element.classList.toggle("chosen", taken);
      if (!lit && !taken) continue;
      drawn.add(part);
      stops.push(element);
      if (lit) fresh.push(element);
    }
    for (const element of stops) {
      const { part } = element.dataset;
      const target = handle(element);
      target.setAttribute("role", "button");
      target.setAttribute("aria-label", this.names[part] ?? part);
      target.setAttribute("aria-pressed", `${marked.has(part)}`);
    }
    const onward = this.keys && chosen.length ? this.walk.nearest(fresh.map(handle)) : undefined;
    this.walk.renew(stops.map(handle));
    this.faces.giveWay();
    showShares(this.picture, this.selection.open(this.judged), chosen);
    this.frame();
    this.showBar([...next].filter((part) => !drawn.has(part)));
    this.ahead(ready);
    // With keys, the focus moves to the next choice and is never lost.
    if (this.keys && held) (this.bar.querySelector(".main") ?? onward ?? this.bar.querySelector("[data-choice]"))?.focus();
    if (held && !this.element.contains(document.activeElement)) this.hold();
  }

  /** Previews a chosen move, as far as its outcome is known. */
  async ahead(move) {
    if (this.aheadOf === move) return;
    this.aheadOf = move;
    if (this.foreseen) this.foresee(undefined);
    if (!move || !this.preview) return;
    this.asked = this.preview(move.text).catch(() => undefined);
    const foreseen = await this.asked;
    if (this.aheadOf === move && foreseen) this.foresee(foreseen);
  }

  foresee(foreseen) {
    this.foreseen = foreseen;
    this.look("");
  }

  frame() {
    mark(this.picture, "last", this.touched ?? []);
    mark(this.picture, "worse", this.worse ?? [], "data-part");
    mark(this.picture, "hint", this.hinted ?? [], "data-part");
    arrow(this.picture, "worse", this.worse ?? []);
    arrow(this.picture, "hint", this.hinted ?? []);
  }

  showBar(missing) {
    const { chosen, ready } = this.selection;
    const words = ready ? `${ready.words ?? ready.text}` : chosen.map((part) => this.names[part] ?? part).join(", ");
    this.bar.replaceChildren(
      ...(ready ? [button("Play", () => this.commit(ready), { className: "main" })] : []),
      ...(chosen.length ? [make("span", { className: "words", role: "status" }, ready ? words : `Chosen: ${words}.`)] : []),
      ...missing.map((part) => button(this.names[part] ?? part, () => this.choose(part), { "data-choice": part })),
      ...(chosen.length ? [button("Undo", () => this.undo(), { title: "Escape" })] : []),
    );
  }

  /** The part at a point: the part that is hit, or the nearest part whose frame contains the point. */
  point({ target, clientX, clientY }) {
    for (let at = target; at && at !== this.picture; at = at.parentElement) {
      const part = at.dataset?.part;
      if (part !== undefined && this.selection.can(part)) return this.choose(part);
    }
    const boxes = this.walk.elements.map((element) => [within(element.getBoundingClientRect(), clientX, clientY, TARGET), element]);
    const [[far, element] = [Infinity]] = boxes.sort(([a], [b]) => a - b);
    return far < Infinity ? this.choose(partOf(element)) : undefined;
  }

  choose(part) {
    this.undone = false;
    this.selection.choose(part);
    const { ready } = this.selection;
    if (ready && !this.confirm()) return this.commit(ready);
    return this.light();
  }

  /** Chooses a whole move, as from a list. */
  prepare(move) {
    this.selection.chosen = [...move.parts];
    this.undone = false;
    return this.confirm() ? this.light() : this.commit(move);
  }

  async commit(move) {
    const { moves } = this.selection;
    const pending = new Selection([]); // until the answer arrives
    this.selection = pending;
    this.light();
    await this.asked; // the preview is requested before the move is played
    if (await this.play(move.text)) return;
    if (this.selection !== pending) return; // another position is shown
    this.selection = new Selection(moves);
    this.light();
  }
}
