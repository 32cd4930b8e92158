// The moves so far, in words. Pointing at one or focusing it shows it on the board.

import { make } from "./api.js";

export class Log {
  /** `look(number)` shows the position after a move, `leave()` the current position again. */
  constructor(look, leave) {
    this.list = make("ol", { className: "log", "aria-label": "moves so far" });
    this.look = look;
    this.leave = leave;
    for (const event of ["pointerover", "focusin"]) this.list.addEventListener(event, ({ target }) => this.enter(target));
    for (const event of ["pointerleave", "focusout"]) this.list.addEventListener(event, () => this.leave());
    this.list.addEventListener("keydown", (event) => this.key(event));
  }

  show(entries) {
    const kept = [...this.list.children];
    const same = kept.findIndex((item, index) => item.textContent !== entries[index]?.words);
    for (const item of same < 0 ? [] : kept.slice(same)) item.remove();
    for (const { words } of entries.slice(this.list.children.length)) {
      this.list.append(make("li", {}, make("button", { type: "button", tabIndex: -1 }, words)));
    }
    this.buttons = [...this.list.querySelectorAll("button")];
    this.stop(this.buttons.at(-1));
    this.list.scrollTop = this.list.scrollHeight;
  }

  /** Lets the list end with the screen where it is beside the board. */
  fit() {
    const top = `${Math.round(this.list.getBoundingClientRect().top + scrollY)}px`;
    if (top === this.list.style.getPropertyValue("--top")) return;
    this.list.style.setProperty("--top", top);
    this.list.scrollTop = this.list.scrollHeight;
  }

  enter(target) {
    const number = this.buttons?.indexOf(target.closest("button")) ?? -1;
    if (number < 0) return;
    this.stop(this.buttons[number]);
    this.look(number);
  }

  /** A single stop for Tab; arrow keys move on from there. */
  stop(one) {
    for (const other of this.buttons) other.tabIndex = other === one ? 0 : -1;
  }

  /** Marks the move before the position on the board; none with -1. */
  mark(number) {
    for (const other of this.buttons) other.removeAttribute("aria-current");
    const one = this.buttons[number];
    this.list.scrollTop = one ? one.offsetTop - this.list.offsetTop - this.list.clientHeight / 2 : 0;
    if (!one) return;
    one.setAttribute("aria-current", "true");
    if (!this.list.contains(document.activeElement)) this.stop(one);
  }

  key(event) {
    const at = this.buttons.indexOf(event.target);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: this.buttons.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.buttons[to]?.focus();
  }
}
