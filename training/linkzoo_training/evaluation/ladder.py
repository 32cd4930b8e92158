"""A game's ladder: fixed agents of growing strength that every other is measured against.

Each game has one in `ladders/`, with the openings and the seed that belong to it and how many games
are played against each rung. Whatever changes what is measured changes the ladder's version.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from pathlib import Path
from typing import Any

from linkzoo import Agent, get_game
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import MatchResult

FORMAT = "linkzoo-ladder/1"
LADDERS = Path(__file__).parent / "ladders"


@dataclass(frozen=True)
class Ladder:
    """The rungs of a game, from weak to strong, and how matches against them are played.

    Against each rung there is a match with each of `options` (see play_match): first those with
    which strength is told, then those that are reported beside it.
    """

    game: str
    version: int
    seed: int
    openings: str  # see Match
    rungs: Mapping[str, int]  # agents, and the games of each match
    options: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])


def read_ladder(game: str) -> Ladder:
    """The ladder of a game; ValueError if it has none."""
    game = get_game(game).name
    path = LADDERS / f"{game}.json"
    if not path.is_file():
        names = sorted(file.stem for file in LADDERS.glob("*.json"))
        raise ValueError(f"ladder: none for {game}; there are some for {names}")
    data = json.loads(path.read_text(encoding="utf-8"))
    if (data.pop("format"), data["game"]) != (FORMAT, game):
        raise ValueError(f"{path} is no ladder of {game} in the format {FORMAT}")
    return Ladder(**data)


def climb(
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
    """The matches of an agent against every rung, with each of these numbers of players.

    They are those of the ladder, but for the games of a match, seed, openings and options where
    they are given. `progress(match, finished, blocks)` is called after each batch. An interruption
    (Ctrl-C) ends the climb with the last match that was finished.
    """
    rules = get_game(ladder.game)
    every = ladder.options if not options else [options]
    for rung, chosen, count in product(ladder.rungs, every, players):
        what = f"{rung}, {count} players{''.join(f', {n}={v}' for n, v in chosen.items())}"
        number = ladder.rungs[rung] if games is None else games
        try:
            match = Match(
                ladder.game,
                agent,
                make_agent(rung, ladder.game),
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
    """A checkpoint's card with these matches as its strength.

    They take the places of earlier ones of the same agents with as many players and the same
    options. What was not measured by this version of the ladder goes.
    """

    def what(entry: Mapping[str, Any]) -> list[Any]:
        return [entry["agents"], entry["num_players"], entry["options"]]

    new = [{**match.for_card(), "ladder": ladder.version} for match in matches]
    replaced = [what(entry) for entry in new]
    measured = [e for e in card.get("strength", []) if e.get("ladder") == ladder.version]
    return {**card, "strength": [*(e for e in measured if what(e) not in replaced), *new]}
