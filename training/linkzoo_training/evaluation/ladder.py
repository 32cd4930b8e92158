"""Ladders: each game has fixed opponents of growing strength to measure agents against.

A file in `ladders/` has the opponents, the games against each, the openings and the seed. Any
change to the measurement raises the ladder's version.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from linkzoo import Agent, get_game
from linkzoo_training.agents.make import make_agent
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import MatchResult

FORMAT = "linkzoo-ladder/2"
LADDERS = Path(__file__).parent / "ladders"


@dataclass(frozen=True)
class Ladder:
    """The opponents of a game, from weak to strong, and the settings of the matches.

    Each opponent is met once with each of `options`. The first options measure strength; the others
    are only reported.
    """

    game: str
    version: int
    seed: int
    openings: str  # see Match
    opponents: Mapping[str, int]  # agents, with the games against each
    options: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])


def read_ladder(game: str) -> Ladder:
    """Returns the ladder of a game; ValueError if it has none."""
    game = get_game(game).name
    path = LADDERS / f"{game}.json"
    if not path.is_file():
        names = sorted(file.stem for file in LADDERS.glob("*.json"))
        raise ValueError(f"ladder: none for {game}; there are some for {names}")
    data = json.loads(path.read_text(encoding="utf-8"))
    if (data.pop("format"), data["game"]) != (FORMAT, game):
        raise ValueError(f"{path} is no ladder of {game} in the format {FORMAT}")
    return Ladder(**data)


def run_ladder(
    ladder: Ladder,
    agent: Agent,
    players: Sequence[int],
    *,
    games: int | None = None,
    seed: int | None = None,
    openings: str | None = None,
    options: Mapping[str, Any] | None = None,
    batch: int = 64,
    progress: Callable[[str, int, int], None] | None = None,
) -> Iterator[MatchResult]:
    """Plays an agent against every opponent; Ctrl-C ends the run after the last finished match.

    Args:
        ladder: The opponents and the settings.
        agent: The agent to measure.
        players: Numbers of players; each opponent is met with all of them.
        games: Games per match; default: the ladder's.
        seed: Seed of the matches; default: the ladder's.
        openings: Openings of the matches; default: the ladder's.
        options: Options of the game; default: the ladder's. A list plays all its values in every
            block.
        batch: Blocks in lock-step.
        progress: Called as `progress(match, finished, blocks)` after each batch.

    Yields:
        The result of each match.
    """
    rules = get_game(ladder.game)
    every = ladder.options if not options else [options]
    for opponent, chosen, count in product(ladder.opponents, every, players):
        what = f"{opponent}, {count} players{''.join(f', {n}={v}' for n, v in chosen.items())}"
        number = ladder.opponents[opponent] if games is None else games
        try:
            match = Match(
                ladder.game,
                agent,
                make_agent(opponent, ladder.game),
                blocks_of(rules, count, number, chosen),
                seed=ladder.seed if seed is None else seed,
                openings=ladder.openings if openings is None else openings,
                num_players=count,
                options=chosen,
            ).play(batch=batch, progress=None if progress is None else _named(progress, what))
        except KeyboardInterrupt:
            return
        yield match


def _named(progress: Callable[[str, int, int], None], what: str) -> Callable[[int, int], None]:
    return lambda finished, blocks: progress(what, finished, blocks)


def with_strength(
    card: Mapping[str, Any], ladder: Ladder, matches: Sequence[MatchResult]
) -> dict[str, Any]:
    """Returns a checkpoint's card with these matches added to its strength.

    A match replaces an earlier one of the same agents, number of players and options. Matches of
    other versions of the ladder are dropped.
    """

    def what(entry: Mapping[str, Any]) -> list[Any]:
        return [entry["agents"], entry["num_players"], entry["options"]]

    new = [{**match.for_card(), "ladder": ladder.version} for match in matches]
    replaced = [what(entry) for entry in new]
    measured = [e for e in card.get("strength", []) if e.get("ladder") == ladder.version]
    return {**card, "strength": [*(e for e in measured if what(e) not in replaced), *new]}
