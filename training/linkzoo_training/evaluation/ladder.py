"""Ladders: each game has fixed opponents of growing strength to measure agents against.

A file in `ladders/` has the opponents, the games against each, the openings and the seed. Any
change to the measurement raises the ladder's version.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

from linkzoo import Agent
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.json_files import read_game_data
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import MatchResult, variants_of
from linkzoo_training.selfplay.executors import Executor

FORMAT = "linkzoo-ladder/2"
LADDERS = Path(__file__).parent / "ladders"


@dataclass(frozen=True)
class Ladder:
    """The opponents of a game, from weak to strong, and the settings of the matches.

    Attributes:
        game: The game's name.
        version: The version of the ladder.
        seed: The seed of each match.
        openings: The openings of each match, as in `Match`.
        opponents: The opponents, with the games of each match.
        options: The options of the game; each opponent plays a match with each of them. The first
            options measure strength; the others are only reported.
    """

    game: str
    version: int
    seed: int
    openings: str
    opponents: Mapping[AgentSpec, int]
    options: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])

    def match(
        self,
        agent: Agent,
        opponent: AgentSpec,
        games: int,
        players: int | None,
        options: Mapping[str, Any],
    ) -> Match:
        """Returns the match of an agent against an opponent, of at least this many games."""
        blocks = blocks_of(self.game, players, games, options)
        rival = NamedAgent(opponent, self.game, variants_of(options)[0])
        return Match(self.game, agent, rival, blocks, self.seed, self.openings, players, options)


def read_ladder(game: str) -> Ladder:
    """Returns the ladder of a game; ValueError if it has none."""
    data = read_game_data(LADDERS, game, FORMAT, "ladder")
    data["opponents"] = {AgentSpec.parse(name): games for name, games in data["opponents"].items()}
    return Ladder(**data)


def run_ladder(
    ladder: Ladder,
    agent: Agent,
    players: Sequence[int],
    batch: int = 64,
    progress: Callable[[str, int, int], None] = lambda *_: None,
    executor: Executor | None = None,
) -> Iterator[MatchResult]:
    """Plays an agent against every opponent; after Ctrl-C no further match is played.

    Args:
        ladder: The ladder.
        agent: The agent.
        players: The numbers of players; each gives a match.
        batch: Blocks in lock-step, as in `Match.play`.
        progress: Called as `progress(match, finished, blocks)` after each batch of blocks.
        executor: As in `Match.play`.

    Yields:
        The result of each match.
    """
    matches = product(ladder.opponents.items(), ladder.options, players)
    for (opponent, games), options, count in matches:
        settings = "".join(f", {name}={value}" for name, value in options.items())
        show = partial(progress, f"{opponent}, {count} players{settings}")
        match = ladder.match(agent, opponent, games, count, options)
        try:
            result = match.play(batch=batch, progress=show, executor=executor)
        except KeyboardInterrupt:
            return
        yield result


def with_strength(card: Mapping[str, Any], ladder: Ladder, match: MatchResult) -> dict[str, Any]:
    """Adds a match to the strength in a checkpoint's card.

    It replaces an earlier match of the same agents, number of players and options. Matches of other
    versions of the ladder are dropped.

    Returns:
        The new card.
    """
    settings = itemgetter("agents", "num_players", "options")
    new = {**match.for_card(), "ladder": ladder.version}
    kept = [
        entry
        for entry in card.get("strength", [])
        if entry.get("ladder") == ladder.version and settings(entry) != settings(new)
    ]
    return {**card, "strength": [*kept, new]}
