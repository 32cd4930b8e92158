// What the shipped policies were measured to be: the cards as curves and tables, with intervals.

import { ask, make } from "./api.js";
import { apart, drawn, line, sample } from "./curve.js";

const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM, LETTER] = [230, 48, 26, 14, 26, 13];

export async function strengthPage(page) {
  const { cards } = await ask("strength");
  document.getElementById("title").textContent = "How strong";
  page.replaceChildren(
    make("p", {}, "Shares of the wins in matches against the agents of each game’s ladder, with intervals of 95 %. A name with :N searches with N simulations a move."),
    ...cards.map(section),
  );
}

function section({ name, title, algorithm, steps, minutes, machine, matches, blunders }) {
  const about = `${algorithm}, ${steps.toLocaleString("en")} steps in ${minutes} minutes (${machine})`;
  return make(
    "section",
    { className: "card", id: name },
    make("h1", {}, `${name} plays ${title}`),
    make("p", { className: "soft" }, about),
    matches.length ? chart(matches) : null,
    matches.length ? make("details", { open: true }, make("summary", {}, "All matches"), table(matches)) : null,
    blunders.length ? solved(blunders) : null,
  );
}

/** Whether matches differ in something: what they have in common is no column and no name. */
const several = (matches, what) => new Set(matches.map((match) => match[what])).size > 1;

const optionsOf = ({ options }) => options || "as printed";

function table(matches) {
  const columns = [
    several(matches, "agent") && ["agent", ({ agent }) => agent],
    ["against", ({ opponent }) => opponent],
    several(matches, "players") && ["players", ({ players }) => players],
    several(matches, "options") && ["options", optionsOf],
    ["share of wins, %", ({ share }) => percent(share)],
    ...matches[0].roles.map(({ role }, index) => [`as ${role}, %`, ({ roles }) => percent(roles[index].share)]),
    ["games", ({ games }) => games.toLocaleString("en")],
  ].filter(Boolean);
  return grid(columns.map(([name]) => name), matches.map((match) => columns.map(([, cell]) => cell(match))));
}

function solved(blunders) {
  const rows = blunders.map(({ agent, positions, share }) => [agent, positions.toLocaleString("en"), percent(share)]);
  return make("div", {}, make("h2", {}, "Wins thrown away in solved positions"), grid(["agent", "positions", "blunders, %"], rows));
}

function grid(head, rows) {
  const cells = (tag, row) => make("tr", {}, ...row.map((words) => make(tag, {}, `${words}`)));
  return make("div", { className: "wide", tabIndex: 0 }, make("table", {}, cells("th", head), ...rows.map((row) => cells("td", row))));
}

const percent = ({ mean, low, high }) => `${(100 * mean).toFixed(1)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;

/** A curve over the ladder's agents for each way of playing, drawn as wide as there is room. */
function chart(matches) {
  const opponents = [...new Set(matches.map(({ opponent }) => opponent))];
  const names = new Map();
  for (const match of matches) {
    const parts = [match.agent, several(matches, "players") && `${match.players} players`, several(matches, "options") && optionsOf(match)];
    const name = parts.filter(Boolean).join(", ");
    names.set(name, [...(names.get(name) ?? []), match]);
  }
  const place = make("div", { className: "ladder" });
  const legend = make("div", { className: "legend" }, ...[...names.keys()].map((name, index) => make("span", {}, sample(index), ` ${index + 1}: ${name}`)));
  new ResizeObserver(() => draw(place, opponents, [...names.values()])).observe(place);
  return make("div", { className: "curve" }, place, legend);
}

function draw(place, opponents, curves) {
  const width = place.clientWidth;
  if (!width) return;
  const height = (share) => TOP + (1 - share) * (HEIGHT - TOP - BOTTOM);
  const picture = drawn("svg", { width, height: HEIGHT, role: "img", "aria-label": "Shares of the wins by opponent; the table has the numbers" });
  for (const share of [0, 0.5, 1]) {
    picture.append(
      drawn("path", { d: `M${LEFT} ${height(share)}H${width - RIGHT}`, stroke: "currentColor", opacity: 0.3 }),
      drawn("text", { x: 0, y: height(share) + 4, fill: "currentColor", "font-size": LETTER }, `${100 * share} %`),
    );
  }
  const step = (width - LEFT - RIGHT) / opponents.length;
  const shift = Math.min(9, (0.7 * step) / curves.length); // curves stand beside one another
  const middle = (opponent) => LEFT + (opponents.indexOf(opponent) + 0.5) * step;
  for (const opponent of opponents) {
    picture.append(drawn("text", { x: middle(opponent), y: HEIGHT - 6, fill: "currentColor", "font-size": LETTER, "text-anchor": "middle" }, opponent));
  }
  const ends = curves.map((matches, index) => {
    const points = matches.map(({ opponent, share }) => [middle(opponent) + (index - (curves.length - 1) / 2) * shift, share]);
    picture.append(line(`M${points.map(([x, { mean }]) => `${x.toFixed(1)} ${height(mean).toFixed(1)}`).join("L")}`, index));
    for (const [x, { low, high }] of points) picture.append(line(`M${x} ${height(low)}V${height(high)}`, index, false));
    const [, { mean }] = points.at(-1);
    return [middle(matches.at(-1).opponent) + (curves.length / 2) * shift + 4, height(mean) + 4, index];
  });
  for (const [x, y, index] of apart(ends)) {
    picture.append(drawn("text", { x, y, fill: "currentColor", "font-size": LETTER }, `${index + 1}`));
  }
  place.replaceChildren(picture);
}
