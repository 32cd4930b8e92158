// Places of a picture's elements, on the screen and in the units of the picture.

/** An element's box, in the units of the picture. */
export function place(element, svg) {
  const box = element.getBoundingClientRect();
  const back = svg.getScreenCTM().inverse();
  const [from, to] = [[box.left, box.top], [box.right, box.bottom]].map(([x, y]) => new DOMPoint(x, y).matrixTransform(back));
  return { left: from.x, top: from.y, right: to.x, bottom: to.y };
}

export function centre({ left, top, right, bottom }) {
  return { x: (left + right) / 2, y: (top + bottom) / 2 };
}

/** How far a point is from the middle of a box that is at least `least` wide and high; else Infinity. */
export function within({ left, top, right, bottom }, x, y, least) {
  const middle = centre({ left, top, right, bottom });
  const [across, down] = [Math.abs(x - middle.x), Math.abs(y - middle.y)];
  if (across > Math.max(least, right - left) / 2 || down > Math.max(least, bottom - top) / 2) return Infinity;
  return Math.hypot(across, down);
}

const DIRECTIONS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** The target of an arrow key: the nearest element in its direction; undefined if there is none. */
export function beside(from, others, key) {
  const [right, down] = DIRECTIONS[key];
  const start = centre(from.getBoundingClientRect());
  let [best, least] = [undefined, Infinity];
  for (const other of others) {
    const { x, y } = centre(other.getBoundingClientRect());
    const along = (x - start.x) * right + (y - start.y) * down;
    const across = Math.abs((x - start.x) * down) + Math.abs((y - start.y) * right);
    const far = along + 2.5 * across;
    if (along > 1 && far < least) [best, least] = [other, far];
  }
  return best;
}

export const isArrow = (key) => key in DIRECTIONS;
