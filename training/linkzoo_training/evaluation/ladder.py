"""A game's ladder: fixed agents of growing strength that every other is measured against.

Each game has one in `ladders/`, with the openings and the seed that belong to it and how many games
are played against each rung. Whatever changes what is measured changes the ladder's version.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from linkzoo import Agent, get_game
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.evaluation.match import Match, MatchResult, blocks_of

FORMAT = "linkzoo-ladder/1"
LADDERS = Path(__file__).parent / "ladders"


@dataclass(frozen=True)
class Ladder:
    """The rungs of a game, from weak to strong, and how matches against them are played."""

    game: str
    version: int
    seed: int
    openings: str  # see Match
    rungs: Mapping[str, int]  # agents, and the games against each, with each number of players


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

    They are those of the ladder, but for the games of a match, seed and openings where they are
    given. `progress(match, finished, blocks)` is called after each batch. An interruption (Ctrl-C)
    ends the climb with the last match that was finished.
    """
    rules = get_game(ladder.game, options)
    for rung, usual in ladder.rungs.items():
        for count in players:
            blocks = blocks_of(rules, count, usual if games is None else games)
            what = f"{rung}, {count} players"
            try:
                match = Match(
                    ladder.game,
                    agent,
                    make_agent(rung, ladder.game),
                    blocks,
                    seed=ladder.seed if seed is None else seed,
                    openings=ladder.openings if openings is None else openings,
                    num_players=count,
                    options=options,
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

    They take the places of earlier ones of the same agents with as many players. What was not
    measured by this version of the ladder goes.
    """
    new = [{**match.for_card(), "ladder": ladder.version} for match in matches]
    replaced = {(*entry["agents"], entry["num_players"]) for entry in new}
    kept = [
        entry
        for entry in card.get("strength", [])
        if entry.get("ladder") == ladder.version
        and (*entry["agents"], entry["num_players"]) not in replaced
    ]
    return {**card, "strength": [*kept, *new]}
