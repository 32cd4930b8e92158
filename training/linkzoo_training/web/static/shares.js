// A policy's shares on the picture: at each named part the probability of its moves, in percent.

import { drawn } from "./curve.js";
import { place } from "./geometry.js";

const LEAST = 0.01; // the smallest share that is shown
const MOST = 12; // parts with a share
const LETTER = 13; // pixels of a letter
const SMALL = 11; // pixels of a letter in a narrow picture
const NARROW = 600; // pixels of a narrow picture

/** `moves` have `parts` and a `share`; parts that are `chosen` are in all of them. */
export function showShares(picture, moves, chosen) {
  picture.querySelector(".shares-layer")?.remove();
  const svg = picture.querySelector("svg");
  if (!svg || !moves.length) return;
  const layer = drawn("g", { class: "shares-layer", "pointer-events": "none", "font-family": "system-ui, sans-serif" });
  svg.append(layer);
  const narrow = svg.clientWidth < NARROW;
  const size = (narrow ? SMALL : LETTER) * (svg.viewBox.baseVal.width / svg.clientWidth);
  const words = [...svg.querySelectorAll("text")].map((text) => place(text, svg));
  const taken = [];
  for (const [part, share] of likely(moves, chosen)) {
    const element = picture.querySelector(`[data-part="${CSS.escape(part)}"]`);
    if (!element) continue;
    const label = `${Math.round(100 * share)}${narrow ? "" : " %"}`;
    const box = free(element, svg, size * (0.62 * label.length + 0.5), 1.44 * size, words, taken);
    taken.push(box);
    layer.append(badge(box, size, share, label));
  }
}

function likely(moves, chosen) {
  const shares = new Map();
  for (const { parts, share } of moves) {
    for (const part of new Set(parts)) {
      if (!chosen.includes(part)) shares.set(part, (shares.get(part) ?? 0) + share);
    }
  }
  const found = [...shares].filter(([, share]) => share >= LEAST);
  return found.sort(([, a], [, b]) => b - a).slice(0, MOST);
}

const overlap = (a, b) => Math.max(0, Math.min(a.right, b.right) - Math.max(a.left, b.left)) * Math.max(0, Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top));

/** A position for a number: in its element, in the middle if that is empty; clear of words and other
 * numbers. */
function free(element, svg, width, height, words, taken) {
  const part = place(element, svg);
  const [across, down] = [(part.left + part.right) / 2, (part.top + part.bottom) / 2];
  const middle = { left: (part.left + across) / 2, right: (across + part.right) / 2, top: (part.top + down) / 2, bottom: (down + part.bottom) / 2 };
  const columns = [part.left, part.left + width, across, part.right - width, part.right];
  const boxes = columns.flatMap((x) => [down, part.bottom, part.top].map((y) => ({ left: x - width / 2, right: x + width / 2, top: y - height / 2, bottom: y + height / 2 })));
  const { width: right, height: bottom } = svg.viewBox.baseVal;
  const sum = (box, others) => others.reduce((total, other) => total + overlap(box, other), 0);
  const bare = !element.querySelector(":not(rect, g, title, desc)");
  const distance = ({ left, top }) => (bare ? Math.hypot(left + width / 2 - across, top + height / 2 - down) : 0);
  const outside = (box, frame) => width * height - overlap(box, frame);
  const cost = (box) =>
    100 * outside(box, { left: 0, top: 0, right, bottom }) + 10 * sum(box, taken) + 20 * sum(box, words) + 0.8 * outside(box, part) + (bare ? 0 : 2 * overlap(box, middle)) + distance(box) * 0.01;
  return boxes.map((box) => [cost(box), box]).sort(([a], [b]) => a - b)[0][1];
}

/** A number in a box, which is filled from 50 % on. */
function badge({ left, right, top, bottom }, size, share, label) {
  const text = drawn("text", { x: (left + right) / 2, y: (top + bottom) / 2 + 0.36 * size, "text-anchor": "middle", "font-size": size, "font-weight": 600 }, label);
  const box = drawn("rect", { x: left, y: top, width: right - left, height: bottom - top, rx: size / 3, "stroke-width": size / 8 });
  return drawn("g", { class: share >= 0.5 ? "share much" : "share" }, box, text);
}
