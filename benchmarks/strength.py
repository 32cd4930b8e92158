"""Writes what the cards of the shipped checkpoints say into docs/strength.md and the README.

Between the marks of each checkpoint there: its training, its matches and the wins that it throws
away, as tables; in the README's table the shares of wins. The cards themselves are made by `linkzoo
evaluate CHECKPOINT --ladder --card` and `--solved-positions --card`.

With `--check`, plays the matches of the README's table again instead, from another seed, and fails
where an interval of a card and the new one don't overlap; with `--check --all` every match of the
cards, which takes hours.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from linkzoo import get_game
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.commands.common import share_rows
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.match import blocks_of, play_match
from linkzoo_training.evaluation.result import MatchResult, settings_of
from linkzoo_training.evaluation.statistics import Estimate

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "strength.md"
README = ROOT / "README.md"
CHECKPOINTS = ROOT / "checkpoints"
# A row of the README's table: policy, number of players, opponent, share of wins.
ROW = re.compile(
    r"^(\| `(\w+)`, (\d) players \|[^|]+\| `([\w-]+)`[^|]*\| )([^|]+)( \|)$", re.MULTILINE
)

Rows = Iterable[Iterable[str]]


def percent(share: Mapping[str, float]) -> str:
    mean, low, high = (100 * share[name] for name in ("mean", "low", "high"))
    return f"{mean:.1f} % [{low:.1f}, {high:.1f}]"


def games(match: Mapping[str, Any]) -> str:
    """How many, and how many of them were drawn."""
    draws = match.get("draws", 0)  # cards of earlier versions don't count them
    return f"{match['games']:,}" + (f" ({draws:,} drawn)" if draws else "")


def table(rows: Rows) -> str:
    first, *others = ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([first, "|" + "---|" * (first.count("|") - 1), *others])


def duel_rows(matches: list[dict[str, Any]]) -> Rows:
    """Two roles: a row for each match."""
    yield "agent", "opponent", "options", "games", *map(role, matches[0]["sides"]), "both"
    for match in matches:
        options = ", ".join(settings_of(get_game(match["game"]), match["options"])) or "as printed"
        shares = [percent(part["win_share"]) for part in (*match["sides"], match)]
        yield *match["agents"], options, games(match), *shares


def role(side: Mapping[str, Any]) -> str:
    return str(side["label"]).partition(" (")[0]


def table_rows(matches: list[dict[str, Any]]) -> Rows:
    """Seats alike: a row for each opponent, a column for each number of players."""
    players = sorted({match["num_players"] for match in matches})
    yield "agent", "opponent", *(f"{number} players" for number in players)
    for agents in dict.fromkeys(tuple(match["agents"]) for match in matches):
        found = {m["num_players"]: m for m in matches if tuple(m["agents"]) == agents}
        cells = (
            f"{percent(found[number]['win_share'])} of {games(found[number])}"
            if number in found
            else ""
            for number in players
        )
        yield *agents, *cells


def blunder_rows(found: list[dict[str, Any]]) -> Rows:
    yield "agent", "positions", *map(role, found[0]["seats"]), "both"
    for entry in found:
        shares = [percent(part["share"]) for part in (*entry["seats"], entry)]
        yield entry["agent"], f"{entry['positions']:,}", *shares


def section(card: Mapping[str, Any]) -> str:
    """All that a card says of a policy's training and strength, as Markdown."""
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
    """The page with what the cards say between the marks."""

    def fill(match: re.Match[str]) -> str:
        return f"<!-- card {match[1]} -->\n\n{section(card_of(match[1]))}\n\n<!-- /card -->"

    return re.sub(r"<!-- card (\w+) -->.*?<!-- /card -->", fill, page, flags=re.DOTALL)


def entry_of(row: re.Match[str]) -> dict[str, Any]:
    """The match that a row of the README's table tells: the card's first with these agents."""
    name, players, opponent = row[2], int(row[3]), row[4]
    return next(
        entry
        for entry in card_of(name)["strength"]
        if entry["agents"] == [name, opponent] and entry["num_players"] == players
    )


def filled_readme(page: str) -> str:
    """The README with the shares of wins that the cards say."""
    return ROW.sub(lambda row: f"{row[1]}{percent(entry_of(row)['win_share'])}{row[6]}", page)


def overlap(one: Mapping[str, float], other: Estimate) -> bool:
    """Whether two intervals have a value in common."""
    return one["low"] <= other.high and other.low <= one["high"]


def again(entry: Mapping[str, Any], games: int, seed: int) -> MatchResult:
    """A card's match, with at most so many games, from another seed."""
    game, options, players = get_game(entry["game"]), entry["options"], entry["num_players"]
    a, b = (make_agent(name, game.name) for name in entry["agents"])
    return play_match(
        game.name,
        a,
        b,
        blocks_of(game, players, min(games, entry["games"]), options),
        seed=seed,
        openings=entry["openings"],
        num_players=players,
        options=options,
    )


def entries_of(readme: str, *, every: bool) -> Iterable[dict[str, Any]]:
    """The matches of the README's table, or those of every card."""
    if not every:
        return map(entry_of, ROW.finditer(readme))
    names = [path.parent.name for path in sorted(CHECKPOINTS.glob("*/card.json"))]
    return (entry for name in names for entry in card_of(name)["strength"])


def check(entries: Iterable[Mapping[str, Any]], games: int, seed: int) -> bool:
    """Prints each match of the cards beside a new one; whether all of them agree."""
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
    parser.add_argument("--check", action="store_true", help="play the README's matches again")
    parser.add_argument("--all", action="store_true", help="every match of the cards")
    parser.add_argument(
        "--games", type=int, default=1000, help="of a match that is checked, at most"
    )
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    readme = README.read_text(encoding="utf-8")
    if arguments.check:
        share_rows()
        entries = entries_of(readme, every=arguments.all)
        sys.exit(not check(entries, arguments.games, arguments.seed))
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    README.write_text(filled_readme(readme), encoding="utf-8")


if __name__ == "__main__":
    main()
