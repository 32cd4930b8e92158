// The board by keys: a single stop for Tab; arrow keys walk from element to element.

import { beside, centre, isArrow } from "./geometry.js";

export class Walk {
  constructor(picture) {
    this.picture = picture;
    this.elements = [];
    picture.addEventListener("keydown", (event) => {
      if (!isArrow(event.key) || !this.elements.includes(event.target)) return;
      event.preventDefault();
      const next = beside(event.target, this.elements, event.key);
      if (next) this.focus(next);
    });
    picture.addEventListener("focusin", ({ target }) => this.elements.includes(target) && this.stop(target));
  }

  /** Sets the elements to choose from; the stop stays, or moves to the nearest element. */
  renew(elements) {
    const near = (element) => {
      const { x, y } = centre(element.getBoundingClientRect());
      return this.last ? Math.hypot(x - this.last.x, y - this.last.y) : 0;
    };
    for (const element of this.elements) element.removeAttribute("tabindex");
    this.elements = elements;
    for (const element of elements) element.setAttribute("tabindex", "-1");
    const same = elements.find((element) => element.closest("[data-part]").dataset.part === this.last?.part);
    const [nearest] = elements.map((element) => [near(element), element]).sort(([a], [b]) => a - b);
    const stop = same ?? nearest?.[1];
    if (stop) stop.setAttribute("tabindex", "0");
    // Without elements to choose from, the board itself takes the focus, so that it isn't lost.
    this.picture.setAttribute("tabindex", stop ? "-1" : "0");
    return stop;
  }

  /** The `fresh` element nearest to the focused one; the first if none is focused. */
  nearest(fresh) {
    const here = document.activeElement;
    if (!this.elements.includes(here)) return fresh[0];
    const from = centre(here.getBoundingClientRect());
    const far = (element) => {
      const { x, y } = centre(element.getBoundingClientRect());
      return Math.hypot(x - from.x, y - from.y);
    };
    return [...fresh].sort((a, b) => far(a) - far(b))[0];
  }

  stop(element) {
    for (const other of this.elements) other.setAttribute("tabindex", other === element ? "0" : "-1");
    this.last = { part: element.closest("[data-part]").dataset.part, ...centre(element.getBoundingClientRect()) };
  }

  focus(element) {
    element.focus({ preventScroll: false });
  }
}
