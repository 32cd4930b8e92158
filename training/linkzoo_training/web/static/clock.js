// The clocks of people: they go on in the page between the views of the server.

import { make } from "./api.js";

const LOW = 30; // seconds from which on time is short
const TENTHS = 10; // seconds from which on tenths are shown
const TICK = 100; // milliseconds

export class Clocks {
  constructor() {
    this.list = make("ul", { "aria-label": "clocks" });
    this.words = make("span", { role: "status", className: "heard" });
    this.element = make("div", { className: "clocks", hidden: true }, this.list, this.words);
  }

  /** Shows the clocks of a view; nothing without them. */
  show({ clock, names, own_seat: own, looking }) {
    this.stop();
    this.element.hidden = !clock;
    if (!clock) return this.list.replaceChildren();
    const mine = own ?? looking;
    this.faces = Object.entries(clock.left).map(([key, left]) => {
      const seat = Number(key);
      const who = names[seat] || `Player ${seat}`;
      const time = make("span", { role: "timer", "aria-label": `time left of ${who}` });
      const running = seat === clock.running;
      const element = make("li", { className: running ? "running" : "" }, make("span", { className: "who" }, who), " ", time);
      return { element, time, left, running, own: running && seat === mine };
    });
    this.list.replaceChildren(...this.faces.map(({ element }) => element));
    const since = performance.now();
    const tick = () => this.faces.forEach((face) => this.tick(face, face.running ? (performance.now() - since) / 1000 : 0));
    tick();
    if (clock.running !== null) this.timer = setInterval(tick, TICK);
    return undefined;
  }

  tick({ element, time, left, own }, passed) {
    const now = Math.max(left - passed, 0);
    const low = now < LOW;
    const words = `${low ? "! " : ""}${written(now)}`;
    if (time.textContent !== words) time.textContent = words;
    element.classList.toggle("low", low);
    // Heard once: a timer itself is read only on request.
    const warning = own && low ? `Less than ${LOW} seconds left.` : "";
    if (own && this.words.textContent !== warning) this.words.textContent = warning;
  }

  stop() {
    clearInterval(this.timer);
  }
}

/** Minutes and seconds, such as 4:05; the last seconds with tenths. */
function written(seconds) {
  if (seconds < TENTHS) return `0:0${(Math.floor(10 * seconds) / 10).toFixed(1)}`;
  const whole = Math.ceil(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
}
