// A policy's shares on the picture: on each named part how likely a move with it is, in percent.

import { drawn } from "./curve.js";

const [LEAST, MOST] = [0.01, 12]; // the share that is shown, and on how many parts
const [LETTER, SMALL, NARROW] = [13, 10, 600]; // pixels: of letters, and in a narrow picture

/** `moves` have `parts` and a `share`; parts that are `chosen` are in all of them. */
export function showShares(picture, moves, chosen) {
  picture.querySelector(".shares-layer")?.remove();
  const svg = picture.querySelector("svg");
  if (!svg || !moves.length) return;
  const layer = drawn("g", { class: "shares-layer", "pointer-events": "none", "font-family": "system-ui, sans-serif" });
  svg.append(layer);
  const narrow = svg.clientWidth < NARROW;
  const size = (narrow ? SMALL : LETTER) * (svg.viewBox.baseVal.width / svg.clientWidth);
  for (const [part, share] of likely(moves, chosen)) {
    const element = picture.querySelector(`[data-part="${CSS.escape(part)}"]`);
    if (element) layer.append(badge(place(element, svg), size, share, narrow ? "" : " %"));
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

/** Where an element is, in the units of the picture. */
function place(element, svg) {
  const box = element.getBoundingClientRect();
  const back = svg.getScreenCTM().inverse();
  const [from, to] = [[box.left, box.top], [box.right, box.bottom]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(back));
  return { left: from.x, top: from.y, right: to.x, bottom: to.y };
}

/** A number in a box, filled from a half on: it hides as little of what it belongs to as can be. */
function badge({ left, top, right, bottom }, size, share, unit) {
  const words = `${Math.round(100 * share)}${unit}`;
  const [width, height] = [size * (0.62 * words.length + 0.5), 1.44 * size];
  const wide = right - left > 2.5 * width;
  const x = wide ? right - 0.6 * width : (left + right) / 2;
  const y = wide || bottom - top > 2 * height ? (top + bottom) / 2 : bottom;
  const [paper, ink] = share >= 0.5 ? ["#3b1266", "#ffffff"] : ["#ffffff", "#3b1266"];
  const text = drawn("text", { x, y: y + 0.36 * size, "text-anchor": "middle", "font-size": size, "font-weight": 600, fill: ink }, words);
  const box = drawn("rect", { x: x - width / 2, y: y - height / 2, width, height, rx: size / 3, fill: paper, stroke: "#3b1266", "stroke-width": size / 8 });
  return drawn("g", { class: "share" }, box, text);
}
