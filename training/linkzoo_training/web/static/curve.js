// The value of each seat along a game as a curve, the winner with best play, and the turning points.

// A colour and a way of dashing for each seat.
const LOOKS = [
  ["light-dark(#0b5cad, #8cc4ff)", ""],
  ["light-dark(#b3261e, #ffb0a8)", "9 4"],
  ["light-dark(#1b6e3c, #8fe0ad)", "2 4"],
  ["light-dark(#7a4b00, #f0c36b)", "12 3 2 3"],
  ["light-dark(#7b1fa2, #dca8ff)", "4 3"],
  ["light-dark(#444444, #dddddd)", "16 5"],
];
const [HEIGHT, LEFT, RIGHT, EDGE, LETTER] = [170, 26, 22, 12, 13];

export const colourOf = (seat) => LOOKS[seat % LOOKS.length][0];

export function drawn(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function line(steps, seat) {
  const [colour, dashes] = LOOKS[seat % LOOKS.length];
  const path = drawn("path", { d: steps, fill: "none", stroke: "currentColor", "stroke-width": 2.2, "stroke-dasharray": dashes });
  path.style.stroke = colour;
  return path;
}

/** A line of a legend. */
function sample(seat) {
  return drawn("svg", { width: 34, height: 10, "aria-hidden": "true" }, line("M0 5H34", seat));
}

/** Moves overlapping words apart: [x, y, …] below the word in the way. */
function apart(places) {
  let free = 0;
  return places
    .sort(([, a], [, b]) => a - b)
    .map(([x, y, ...rest]) => {
      const there = Math.max(free, y);
      free = there + LETTER;
      return [x, there, ...rest];
    });
}

function part(tag, className, ...children) {
  const element = document.createElement(tag);
  element.className = className;
  element.append(...children);
  return element;
}

const signed = (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(2)}`;

export class Curve {
  /** `go(ply)` is called when a ply is chosen. */
  constructor(go) {
    this.go = go;
    this.ply = 0;
    this.chart = part("div", "chart");
    this.legend = part("div", "legend");
    this.exact = part("p", "exact");
    this.turns = part("h3", "", "Turning points");
    this.falls = part("ol", "falls");
    this.element = part("div", "curve", this.chart, this.legend, this.exact, this.turns, this.falls);
    this.chart.addEventListener("click", (event) => this.point(event));
    new ResizeObserver(() => this.draw()).observe(this.chart);
  }

  show(found) {
    this.found = found;
    const falls = found.falls.map(({ ply, seat, move, by, thrown }) => {
      const cost = thrown ? "threw away a won game" : signed(-by);
      const jump = part("button", "", `Move ${ply}, ${found.seats[seat]}: ${move}, ${cost}`);
      jump.type = "button";
      jump.onclick = () => this.go(ply);
      return part("li", "", jump);
    });
    this.turns.hidden = !falls.length;
    this.falls.replaceChildren(...falls);
    this.draw();
  }

  mark(ply) {
    this.ply = ply;
    this.draw();
  }

  place(ply, value) {
    const plies = Math.max(1, this.found.values.length - 1);
    const x = LEFT + (ply / plies) * (this.chart.clientWidth - LEFT - RIGHT);
    return [x, EDGE + ((1 - value) / 2) * (HEIGHT - 2 * EDGE)];
  }

  point({ clientX }) {
    const { left, width } = this.chart.getBoundingClientRect();
    const plies = this.found.values.length - 1;
    const ply = Math.round(((clientX - left - LEFT) / (width - LEFT - RIGHT)) * plies);
    this.go(Math.max(0, Math.min(plies, ply)));
  }

  draw() {
    const width = this.chart.clientWidth;
    if (!this.found || !width) return;
    const { values, seats, agent } = this.found;
    const picture = drawn("svg", { width, height: HEIGHT, role: "img", "aria-label": `The values of ${agent} along the game` });
    for (const level of [1, 0, -1]) {
      const [x, y] = this.place(0, level);
      picture.append(
        drawn("path", { d: `M${x} ${y}H${width - RIGHT}`, stroke: "currentColor", opacity: 0.3 }),
        drawn("text", { x: 0, y: y + 4, fill: "currentColor", "font-size": LETTER }, level > 0 ? "+1" : level < 0 ? "−1" : "0"),
      );
    }
    const [now] = this.place(this.ply, 0);
    picture.append(drawn("path", { d: `M${now} ${EDGE / 2}V${HEIGHT - EDGE / 2}`, stroke: "currentColor", "stroke-width": 1.5, class: "now" }));
    const ends = [];
    seats.forEach((_, seat) => {
      const steps = values.map((row, ply) => this.place(ply, row[seat]).map((z) => z.toFixed(1)).join(" "));
      picture.append(line(`M${steps.join("L")}`, seat));
      ends.push([...this.place(values.length - 1, values.at(-1)[seat]), seat]);
    });
    for (const [x, y, seat] of apart(ends)) {
      picture.append(drawn("text", { x: x + 6, y: y + 4, fill: "currentColor", "font-size": LETTER }, `${seat}`));
    }
    this.chart.replaceChildren(picture);
    this.exact.textContent = this.verdict();
    const here = values[this.ply];
    this.legend.replaceChildren(
      ...seats.map((name, seat) => part("span", "", sample(seat), ` ${name}: ${here ? signed(here[seat]) : ""}`)),
    );
  }
  /** The winner with best play, if a solver knows it. */
  verdict() {
    const { exact, seats } = this.found;
    if (!exact.length) return "";
    const winner = exact[this.ply];
    if (winner === null || winner === undefined) return `With best play: known from move ${exact.findIndex((one) => one !== null)} on.`;
    return winner < 0 ? "With best play: a draw." : `With best play: ${seats[winner]} wins.`;
  }
}
