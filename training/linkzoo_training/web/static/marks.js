// Frames around touched items of a picture, and animations of the items.

import { drawn } from "./curve.js";
import { centre, place } from "./geometry.js";

const SPACE = 2; // pixels between an item and its frame
const HEAD = 14; // pixels of an arrow's head

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

const items = (holder, name) => [...holder.querySelectorAll(`[data-item="${CSS.escape(name)}"]`)];

/** Frames around items or parts; `kind` is their class, and replaces those of the same kind. */
export function mark(holder, kind, names, attribute = "data-item") {
  const svg = holder.querySelector("svg");
  if (!svg) return;
  svg.querySelector(`:scope > .marks.${kind}`)?.remove();
  if (!names.length || !svg.clientWidth) return;
  const layer = drawn("g", { class: `marks ${kind}`, "pointer-events": "none", "aria-hidden": "true" });
  const unit = svg.viewBox.baseVal.width / svg.clientWidth;
  for (const name of new Set(names)) {
    for (const element of svg.querySelectorAll(`[${attribute}="${CSS.escape(name)}"]`)) {
      const { left, top, right, bottom } = place(element, svg);
      const space = SPACE * unit;
      const box = { x: left - space, y: top - space, width: right - left + 2 * space, height: bottom - top + 2 * space, rx: 2 * space };
      for (const layerOf of ["under", "over"]) layer.append(drawn("rect", { class: layerOf, ...box }));
    }
  }
  svg.append(layer);
}

/** An arrow from the first drawn part of a move to its last one; none where they are one. */
export function arrow(holder, kind, parts) {
  const svg = holder.querySelector("svg");
  svg?.querySelector(`:scope > .arrow.${kind}`)?.remove();
  if (!svg?.clientWidth) return;
  const elements = parts.map((part) => svg.querySelector(`[data-part="${CSS.escape(part)}"]`)).filter(Boolean);
  const ends = elements.map((element) => centre(place(element, svg)));
  const [from, to] = [ends[0], ends.at(-1)];
  const unit = svg.viewBox.baseVal.width / svg.clientWidth;
  const length = from ? Math.hypot(to.x - from.x, to.y - from.y) : 0;
  if (length < 2 * HEAD * unit) return;
  const [x, y] = [(to.x - from.x) / length, (to.y - from.y) / length];
  const at = (back, aside) => `${to.x - (back * x + aside * y) * unit},${to.y - (back * y - aside * x) * unit}`;
  const layer = drawn("g", { class: `arrow ${kind}`, "pointer-events": "none", "aria-hidden": "true" });
  const shaft = `M${from.x},${from.y}L${at(HEAD, 0)}`;
  layer.append(drawn("path", { class: "under", d: shaft }), drawn("path", { class: "over", d: shaft }), drawn("path", { class: "head", d: `M${at(0, 0)}L${at(HEAD, HEAD / 2)}L${at(HEAD, -HEAD / 2)}Z` }));
  svg.append(layer);
}

/** The positions of the items, for `arrive` in the next picture. */
export function places(holder, names) {
  return new Map(names.flatMap((name) => items(holder, name).slice(0, 1).map((element) => [name, centre(element.getBoundingClientRect())])));
}

/** Animates touched items from their earlier positions; new items fade in. */
export function arrive(holder, names, before, time) {
  if (calm()) return;
  for (const name of new Set(names)) {
    for (const element of items(holder, name)) {
      const was = before.get(name);
      const now = centre(element.getBoundingClientRect());
      const frames = was && Math.hypot(was.x - now.x, was.y - now.y) > 2 ? { translate: [shift(element, was, now), "0 0"] } : { opacity: [0, 1] };
      element.animate(frames, { duration: time, easing: "ease-out" });
    }
  }
}

/** The offset from `now` to `was`, in the units of the element's parent. */
function shift(element, was, now) {
  const back = element.parentElement.getScreenCTM().inverse();
  const [from, to] = [was, now].map(({ x, y }) => new DOMPoint(x, y).matrixTransform(back));
  return `${from.x - to.x}px ${from.y - to.y}px`;
}
