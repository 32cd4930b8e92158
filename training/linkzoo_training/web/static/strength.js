// The strength of the shipped policies: each card's matches as bars with intervals.

import { ask, make } from "./api.js";

export async function strengthPage(page) {
  const { cards } = await ask("strength");
  document.title = "How strong, linkzoo";
  page.replaceChildren(
    make("h1", {}, "How strong"),
    make("p", {}, "Shares of the wins in matches against the agents of each game’s ladder, with intervals of 95 %. A name with :N searches with N simulations a move; cheat-N sees what is hidden from the others."),
    make("div", { className: "cards" }, ...cards.map(section)),
  );
}

function section({ name, title, algorithm, steps, minutes, machine, matches, blunders }) {
  const about = `${algorithm}, ${steps.toLocaleString("en")} steps in ${minutes} minutes (${machine})`;
  const thrown = blunders.map(({ agent, positions, share }) => row(agent, share, `${positions.toLocaleString("en")} solved positions`));
  return make(
    "section",
    { className: "card", id: name },
    make("h2", {}, `${name} plays ${title}`),
    make("p", { className: "soft" }, about),
    ...ways(matches).map(([way, found]) => strengths(way, "against", "wins, %", found.map((match) => row(match.opponent, match.share, `${match.games.toLocaleString("en")} games ${match.openings}`, match.roles)))),
    thrown.length ? strengths("Wins thrown away", "agent", "blunders, %", thrown) : null,
  );
}

/** The matches by agent, players and options, as far as these differ. */
function ways(matches) {
  const several = (what) => new Set(matches.map((match) => match[what])).size > 1;
  const found = new Map();
  for (const match of matches) {
    const parts = [match.agent, several("players") && `${match.players} players`, several("options") && (match.options || "as printed")];
    const way = parts.filter(Boolean).join(", ");
    found.set(way, [...(found.get(way) ?? []), match]);
  }
  return [...found];
}

function strengths(caption, who, what, rows) {
  const head = make("tr", {}, make("th", { scope: "col" }, who), make("th", { scope: "col" }, what));
  return make("table", { className: "strengths" }, make("caption", {}, caption), make("thead", {}, head), make("tbody", {}, ...rows));
}

function row(name, share, count, roles = []) {
  const parts = roles.map(({ role, share: own }) => make("div", { className: "soft" }, `as ${role}: ${percent(own)}`));
  return make("tr", {}, make("th", { scope: "row" }, name), make("td", {}, bar(share), `${percent(share)} `, make("span", { className: "soft" }, count), ...parts));
}

const percent = ({ mean, low, high }) => `${(100 * mean).toFixed(1)} [${(100 * low).toFixed(1)}, ${(100 * high).toFixed(1)}]`;

/** 0 to 100 %, its middle marked: a point, and its interval. */
function bar({ mean, low, high }) {
  const interval = make("span", { className: "interval" });
  const point = make("span", { className: "point" });
  interval.style.left = `${100 * low}%`;
  interval.style.width = `${100 * (high - low)}%`;
  point.style.left = `${100 * mean}%`;
  return make("div", { className: "bar", "aria-hidden": "true" }, interval, point);
}
