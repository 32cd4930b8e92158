"""Ladders: each game has fixed opponents of growing strength to measure agents against.

A file in `ladders/` has the opponents, the games against each, the openings and the seed. Any
change to the measurement raises the ladder's version.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import product
from operator import itemgetter
from pathlib import Path
from typing import Any

from linkzoo import Agent, get_game
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.match import Match, blocks_of
from linkzoo_training.evaluation.result import MatchResult, variants_of
from linkzoo_training.selfplay.executors import Executor

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
    opponents: Mapping[AgentSpec, int]  # with the games of each match
    options: Sequence[Mapping[str, Any]] = field(default_factory=lambda: [{}])

    def match(
        self,
        agent: Agent,
        opponent: AgentSpec,
        games: int,
        players: int | None,
        options: Mapping[str, Any],
    ) -> Match:
        """Returns the match of an agent against an opponent, of at least so many games."""
        blocks = blocks_of(self.game, players, games, options)
        against = NamedAgent(opponent, self.game, variants_of(options)[0])
        return Match(self.game, agent, against, blocks, self.seed, self.openings, players, options)


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
    """Plays an agent against every opponent with all these numbers of players; yields the results.

    Calls `progress(match, finished, blocks)` after each batch of blocks. After Ctrl-C no further
    match is played. `executor` is that of `Match.play`.
    """
    matches = product(ladder.opponents.items(), ladder.options, players)
    for (opponent, games), options, count in matches:
        what = f"{opponent}, {count} players{''.join(f', {n}={v}' for n, v in options.items())}"
        match = ladder.match(agent, opponent, games, count, options)
        try:
            show = partial(progress, what)
            result = match.play(batch=batch, progress=show, executor=executor)
        except KeyboardInterrupt:
            return
        yield result


def with_strength(card: Mapping[str, Any], ladder: Ladder, match: MatchResult) -> dict[str, Any]:
    """Returns a checkpoint's card with a match added to its strength.

    It replaces an earlier match of the same agents, number of players and options. Matches of other
    versions of the ladder are dropped.
    """
    what = itemgetter("agents", "num_players", "options")
    new = {**match.for_card(), "ladder": ladder.version}
    measured = [e for e in card.get("strength", []) if e.get("ladder") == ladder.version]
    return {**card, "strength": [*(e for e in measured if what(e) != what(new)), new]}
