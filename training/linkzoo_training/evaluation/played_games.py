"""Games between agents as arrays: one row per decision, for data sets."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.agent import decision_seeds
from linkzoo.core.kernels import kernels, observations
from linkzoo.core.state import Record
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.playing import NOBODY, play_games
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.openings import Openings, begin_record, read_openings

__all__ = ["GamesPlan"]


@dataclass(frozen=True)
class GamesPlan:
    """The settings of games between agents.

    In game g, side k is played by agent `(g + k) % len(agents)`: agents take turns on the sides.
    Part i has the games from `i * batch` on, and depends on the settings and i alone.

    Attributes:
        game: The name of the game.
        agents: The agents.
        games: The number of games.
        num_players: The number of players.
        openings: Random plies before each game, or a file of positions, as in `Match`.
        seed: Seed of the games and agents.
        options: Options of the game.
        batch: Games of a part, which are played in lock-step.
    """

    game: str
    agents: tuple[AgentSpec, ...]
    games: int
    num_players: int
    openings: str
    seed: int = 0
    options: Mapping[str, Any] = field(default_factory=dict)
    batch: int = 512

    @property
    def rules(self) -> Game:
        """The game."""
        return get_game(self.game, self.options)

    @property
    def blank(self) -> Record:
        """A record with the number of players and the options set."""
        return self.rules.blank(self.num_players, self.options)

    @property
    def parts(self) -> list[range]:
        """The numbers of the games of each part."""
        starts = range(0, self.games, self.batch)
        return [range(first, min(first + self.batch, self.games)) for first in starts]

    def read_openings(self) -> Openings:
        """Returns the openings; ValueError if they are wrong, or too few."""
        return read_openings(self.openings, self.rules, [self.blank], self.games)


@dataclass(frozen=True)
class PlayedGames:
    """G finished games of P players, and their decisions as T rows, game by game in order of play.

    Attributes:
        games: The numbers of the games.
        openings: The openings of the plan.
        starts: Records [G], of the first positions.
        finals: Records [G], of the last positions.
        agents: int8[G, P], the index of the agent in each seat.
        payoff: float32[G, P].
        score: float32[G, P], score margins.
        game: int64[T], the number of the game.
        seat: int8[T], the seat that acts.
        action: int64[T].
        observation: [T, *shape], the observation of the seat.
        action_mask: int8[T, A].
    """

    games: range
    openings: Openings
    starts: NDArray[Any]
    finals: NDArray[Any]
    agents: NDArray[np.int8]
    payoff: NDArray[np.float32]
    score: NDArray[np.float32]
    game: NDArray[np.int64]
    seat: NDArray[np.int8]
    action: NDArray[np.int64]
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]

    @property
    def rows(self) -> list[slice]:
        """The rows of each game."""
        ends = np.searchsorted(self.game, np.arange(self.games.start, self.games.stop + 1))
        return [slice(first, last) for first, last in pairwise(ends.tolist())]

    def records(self, rules: Game) -> list[GameRecord]:
        """Returns the games as records."""
        records = []
        for state, rows in zip(self.starts, self.rows, strict=True):
            record = begin_record(rules, state, self.openings)
            record.actions += self.action[rows].tolist()
            records.append(record)
        return records


def play_part(plan: GamesPlan, games: range, openings: Openings) -> PlayedGames:
    """Plays the games with these numbers.

    Args:
        plan: The settings.
        games: The numbers of the games.
        openings: The openings of the plan.

    Returns:
        The finished games.

    Raises:
        ValueError: An agent doesn't exist, or plays an illegal action.
    """
    rules = plan.rules
    numbers = np.array(games)
    starts = openings.begin(rules, plan.blank, np.uint64(plan.seed), games)
    states = starts.copy()
    game_seeds = random_u64s(plan.seed, STREAM_ACTION, numbers)
    agents = [NamedAgent(spec, plan.game, plan.options) for spec in plan.agents]
    sides = np.array(rules.facts.sides(plan.num_players))
    by_seat = ((numbers[:, None] + sides) % len(agents)).astype(np.int8)

    def acting(states: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(by_seat[np.arange(len(states)), states["seat"]], np.int64)

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return decision_seeds(game_seeds[rows], states[rows])

    plies = []
    for actions in play_games(rules, states, agents, acting, seeds):
        rows = np.flatnonzero(actions != NOBODY)
        before = states[rows]
        seats = before["seat"].copy()
        masks = np.empty((len(rows), rules.num_actions), np.int8)
        kernels(rules).fill_masks(before, masks)
        plies.append((rows, seats, actions[rows], observations_of(rules, before, seats), masks))
    row, seat, action, observation, action_mask = (
        np.concatenate(column) for column in zip(*plies, strict=True)
    )
    order = np.argsort(row, kind="stable")  # by game, then by ply
    payoff, score = np.zeros((2, len(states), plan.num_players), np.float32)
    kernels(rules).outcome(states, payoff, score)
    return PlayedGames(
        games=games,
        openings=openings,
        starts=starts,
        finals=states,
        agents=by_seat,
        payoff=payoff,
        score=score,
        game=numbers[row[order]],
        seat=seat[order],
        action=action[order],
        observation=observation[order],
        action_mask=action_mask[order],
    )


def observations_of(game: Game, states: NDArray[Any], seats: NDArray[np.int8]) -> NDArray[Any]:
    """Returns the observations of seats [N] in records [N], [N, *shape]."""
    return observations(game, states, seats).reshape(len(states), *game.observation.spec.shape)
