"""Writes the results in the cards of the shipped checkpoints into the pages that show them.

Fills the section of each checkpoint in lab/strength.md with its training, matches and blunder rate,
fills the summary tables of docs/strength.md and the README, and draws docs/images/strength.png. The
cards come from `linkzoo evaluate CHECKPOINT --ladder --card` and `--solved-positions --card`; the
matches of linear scorers, which have no cards, are in `lab/linear.json`.

With `--check`, replays the matches of the README's table instead, from another seed, and fails if
an interval of a card and the new one don't overlap. With `--check --all`, replays every match,
which takes hours.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

from linkzoo import get_game
from linkzoo.registry import NAMES
from linkzoo_training.agents.make import make_agent
from linkzoo_training.commands.common import share_rows
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.evaluation.result import MatchResult, settings_of
from linkzoo_training.evaluation.statistics import Estimate

ROOT = Path(__file__).parents[1]
PAGES = (ROOT / "docs" / "strength.md", ROOT / "lab" / "strength.md")
PICTURE = ROOT / "docs" / "images" / "strength.png"
README = ROOT / "README.md"
CHECKPOINTS = ROOT / "checkpoints"
LINEAR = ROOT / "lab" / "linear.json"
# A row of the README's table: agent, game if it has no card, players, opponent, share of wins.
ROW = re.compile(
    r"^(\| `(\w+)`(?: in ([^,|]+))?, (\d) players \|[^|]+\| `([\w-]+)`[^|]*\| )([^|]+)( \|)$",
    re.MULTILINE,
)
# The matches of the summary table: game, agent, opponent.
SUMMARY = [
    ("linkage", "linkage_az", "greedy"),
    ("linkage", "linkage_az", "uct-1000"),
    ("linkage", "linkage_az:200", "uct-1000"),
    ("linkage", "linkage_az:200", "uct-10000"),
    ("love_links", "linear", "greedy"),
    ("love_links", "linear", "uct-1000"),
    ("love_links", "linear:64", "uct-1000"),
    ("love_links", "linear:64", "linear"),
    ("love_links", "love_links_action", "greedy"),
    ("love_links", "love_links_action", "linear"),
    ("link_o", "linear", "greedy"),
    ("link_o", "linear:2000", "greedy"),
    ("link_o", "link_o_action", "greedy"),
    ("link_o", "link_o_action", "linear"),
    ("love_formula", "linear", "greedy"),
    ("love_formula", "linear:64", "linear"),
    ("love_formula", "love_formula_action", "greedy"),
    ("love_formula", "love_formula_action", "linear"),
]

Rows = Iterable[Iterable[str]]


def percent(share: Mapping[str, float]) -> str:
    mean, low, high = (100 * share[name] for name in ("mean", "low", "high"))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def games(match: Mapping[str, Any]) -> str:
    """Returns the number of games, and of draws if there are any."""
    draws = match.get("draws", 0)  # cards of earlier versions don't count them
    return f"{match['games']:,}" + (f" ({draws:,} drawn)" if draws else "")


def cell(match: Mapping[str, Any]) -> str:
    return f"{percent(match['win_share'])} of {games(match)}"


def table(rows: Rows) -> str:
    first, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([first, "|" + "---|" * (first.count("|") - 1), *others])


def duel_rows(matches: list[dict[str, Any]]) -> Rows:
    """Yields a row for each match of a game with two roles."""
    yield "agent", "opponent", "options", "games", *map(role, matches[0]["sides"]), "both"
    for match in matches:
        options = ", ".join(settings_of(get_game(match["game"]), match["options"])) or "as printed"
        shares = [percent(part["win_share"]) for part in (*match["sides"], match)]
        yield *match["agents"], options, games(match), *shares


def role(side: Mapping[str, Any]) -> str:
    return str(side["label"]).partition(" (")[0]


def table_rows(matches: list[dict[str, Any]]) -> Rows:
    """Yields a row for each opponent, with a column for each number of players."""
    players = sorted({match["num_players"] for match in matches})
    yield "agent", "opponent", *(f"{number} players" for number in players)
    for agents in dict.fromkeys(tuple(match["agents"]) for match in matches):
        found = {m["num_players"]: m for m in matches if tuple(m["agents"]) == agents}
        yield *agents, *(cell(found[number]) if number in found else "" for number in players)


def blunder_rows(found: list[dict[str, Any]]) -> Rows:
    yield "agent", "positions", *map(role, found[0]["seats"]), "both"
    for entry in found:
        shares = [percent(part["share"]) for part in (*entry["seats"], entry)]
        yield entry["agent"], f"{entry['positions']:,}", *shares


def section(card: Mapping[str, Any]) -> str:
    """Returns a card's training and results as Markdown."""
    trained, matches = card["trained"], card["strength"]
    minutes, network = trained["seconds"] / 60, card["network"]
    about = (
        f"{trained['algorithm']}, {trained['steps']:,} steps in {minutes:.0f} minutes "
        f"({trained['machine']}); network: {network['kind']}, {network['width']} wide, "
        f"{network['blocks']} blocks."
    )
    roles = any(role(side) != side["label"] for match in matches for side in match["sides"])
    parts = [about, table(duel_rows(matches) if roles else table_rows(matches))]
    present = read_ladder(card["game"]).version
    earlier = {match["ladder"] for match in matches if "ladder" in match} - {present}
    if earlier:
        parts.append(
            f"Measured on version {', '.join(map(str, sorted(earlier)))} of the game's ladder; it "
            f"is now at version {present}."
        )
    if card.get("blunder_rate"):
        parts += ["Blunder rate on solved positions:", table(blunder_rows(card["blunder_rate"]))]
    return "\n\n".join(parts)


def card_of(name: str) -> dict[str, Any]:
    card: dict[str, Any] = json.loads((CHECKPOINTS / name / "card.json").read_text("utf-8"))
    return card


def filled(page: str) -> str:
    """Returns a page with its sections and its summary table filled from the cards."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- card {match[1]} -->\n\n{section(card_of(match[1]))}\n\n<!-- /card -->"

    page = re.sub(r"<!-- card (\w+) -->.*?<!-- /card -->", fill, page, flags=re.DOTALL)
    text = f"<!-- summary -->\n\n{table(summary_rows())}\n\n<!-- /summary -->"
    return re.sub("<!-- summary -->.*<!-- /summary -->", text, page, flags=re.DOTALL)


def entries() -> list[dict[str, Any]]:
    """Returns all matches of the cards and of the linear scorers."""
    cards = [card_of(path.parent.name) for path in sorted(CHECKPOINTS.glob("*/card.json"))]
    linear: list[dict[str, Any]] = json.loads(LINEAR.read_text("utf-8"))
    return [*(entry for card in cards for entry in card["strength"]), *linear]


def find(game: str, agent: str, opponent: str) -> dict[int, dict[str, Any]]:
    """Returns the matches of two agents by number of players: the first with each number."""
    found = [e for e in entries() if (e["game"], e["agents"]) == (game, [agent, opponent])]
    return {entry["num_players"]: entry for entry in reversed(found)}


def summary_rows() -> Rows:
    """Yields a row for each pair of agents in SUMMARY."""
    players = 2, 3, 4, 6
    yield "game", "agent", "opponent", *(f"{number} players" for number in players)
    for game, agent, opponent in SUMMARY:
        found = find(game, agent, opponent)
        cells = (cell(found[number]) if number in found else "" for number in players)
        yield get_game(game).title, f"`{agent}`", f"`{opponent}`", *cells


def entry_of(row: re.Match[str]) -> dict[str, Any]:
    """Returns the match of a row of the README's table."""
    _, name, title, players, opponent, *_ = row.groups()
    titles = {get_game(game).title: game for game in NAMES}
    game = titles[title] if title else card_of(name)["game"]
    return find(game, name, opponent)[int(players)]


def filled_readme(page: str) -> str:
    """Returns the README with the win shares of its table filled."""
    return ROW.sub(lambda row: f"{row[1]}{cell(entry_of(row))}{row[7]}", page)


def draw() -> None:
    """Draws the summary table: win shares, intervals, and the share of equal players (|)."""
    matches = [m for row in SUMMARY for _, m in sorted(find(*row).items())][::-1]
    figure = Figure(figsize=(9, 0.24 * len(matches) + 0.8), layout="constrained")
    axes = figure.subplots()
    for height, match in enumerate(matches):
        share, players = match["win_share"], match["num_players"]
        axes.plot([100 * share["low"], 100 * share["high"]], [height] * 2, "C0", linewidth=2)
        axes.plot(100 * share["mean"], height, "C0o", markersize=4)
        sides = len(get_game(match["game"]).one_of_each_side(players))
        axes.plot(100 / sides, height, "k|", markersize=10)
    labels = [
        f"{get_game(m['game']).title}: {' v '.join(m['agents'])}, {m['num_players']} players"
        for m in matches
    ]
    axes.set(yticks=range(len(matches)), yticklabels=labels, xlim=(0, 101))
    axes.set_ylim(-0.7, len(matches) - 0.3)
    axes.set_xlabel("share of wins in %, 95 % interval; |: equal players")
    axes.grid(alpha=0.3)
    figure.savefig(PICTURE, dpi=100, metadata={"Software": None})


def overlap(one: Mapping[str, float], other: Estimate) -> bool:
    """Returns whether two intervals overlap."""
    return one["low"] <= other.high and other.low <= one["high"]


def again(entry: Mapping[str, Any], games: int, seed: int) -> MatchResult:
    """Replays a card's match from another seed, with at most `games` games."""
    game, options, players = entry["game"], entry["options"], entry["num_players"]
    a, b = (make_agent(name, game) for name in entry["agents"])
    return play_match(
        game,
        a,
        b,
        blocks_of(game, players, min(games, entry["games"]), options),
        seed=seed,
        openings=entry["openings"],
        num_players=players,
        options=options,
    )


def entries_of(readme: str, *, every: bool) -> Iterable[dict[str, Any]]:
    """Returns the matches of the README's table, or all."""
    return entries() if every else map(entry_of, ROW.finditer(readme))


def check(entries: Iterable[Mapping[str, Any]], games: int, seed: int) -> bool:
    """Replays and prints each match; returns whether all intervals overlap."""
    disagree = 0
    for entry in entries:
        match = again(entry, games, seed)
        share = match.win_share()
        agrees = overlap(entry["win_share"], share)
        disagree += not agrees
        options = settings_of(get_game(entry["game"]), entry["options"])
        print(
            f"{' '.join([' against '.join(entry['agents']), *options])}, {entry['num_players']} "
            f"players: {percent(entry['win_share'])}, again {percent(share._asdict())} of "
            f"{match.games:,} games{'' if agrees else ': DISAGREES'}",
            flush=True,
        )
    return not disagree


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="replay the README's matches")
    parser.add_argument("--all", action="store_true", help="replay every match")
    parser.add_argument("--games", type=int, default=1000, help="most games of a replayed match")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    if arguments.check:
        share_rows()
        entries = entries_of(readme, every=arguments.all)
        sys.exit(not check(entries, arguments.games, arguments.seed))
    for page in PAGES:
        page.write_text(filled(page.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(filled_readme(readme), encoding="utf-8")
    draw()


if __name__ == "__main__":
    main()
