"""A policy's values along a game, the exact outcomes, and the turning points."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, GameRecord, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent
from linkzoo_training.search.solver import new_solver

SOLVER_LIMIT = 2**17  # positions per search: half a second
_BATCH = 256  # positions per forward pass
_MAX_FALLS, _MIN_FALL = 5, 0.05  # number listed, and the smallest listed


@dataclass(frozen=True)
class Fall:
    """A move at `ply` that lowered the value of its own seat by `by`.

    `thrown`: with best play its seat would have won before the move, and not after it.
    """

    ply: int
    seat: int
    move: str
    by: float
    thrown: bool


@dataclass(frozen=True)
class Values:
    """Values along a game with `plies` actions, -1 to 1, and the falls, largest first.

    `exact` has the winner with best play at every ply, DRAW or None where it isn't known; it is
    empty without a solver.
    """

    agent: str
    seats: list[str]  # seat labels
    by_ply: NDArray[np.float32]  # [plies + 1, players]
    falls: list[Fall]
    exact: list[int | None]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {
            "agent": self.agent,
            "seats": self.seats,
            "values": [[round(float(value), 3) for value in row] for row in self.by_ply],
            "falls": [{**asdict(fall), "by": round(fall.by, 3)} for fall in self.falls],
            "exact": self.exact,
        }


def values_along(agent: Agent, record: GameRecord) -> Values:
    """Evaluates every position of a game with an agent's policy, without search.

    Each position is evaluated from its seat's observation; the last values of a finished game are
    the payoffs. A network that was trained with score margins beside payoffs goes beyond what can
    be won: its values are clipped. A fall is a choice: no forced move, and no winner's last move.

    Raises:
        ValueError: The agent has no policy, or one of another game.
    """
    policy = agent.policy if isinstance(agent, SearchAgent) else agent
    if not isinstance(policy, PolicyAgent):
        raise ValueError(f"{agent.name} has no policy: choose a checkpoint")
    game = get_game(record.game, record.options)
    states = np.array(list(record.replay()), game.state)
    values, margins = np.zeros((2, len(states), record.num_players), np.float32)
    kernels(game).outcome(states, values, margins)
    open_ones = np.flatnonzero(states["seat"] >= 0)
    seats = np.arange(record.num_players)
    chosen = np.zeros(len(states), bool)
    for first in range(0, len(open_ones), _BATCH):
        rows = open_ones[first : first + _BATCH]
        positions = Positions(game, states[rows], np.zeros(len(rows), np.uint64))
        chosen[rows] = positions.action_mask.sum(1) > 1
        turned = (seats - states["seat"][rows, None]) % record.num_players
        relative = policy.evaluate(positions)[1].numpy().clip(-1, 1)
        values[rows] = np.take_along_axis(relative, turned, 1)
    exact = _exact_winners(game, list(states))
    roles = game.roles(record.options)
    names = [f"player {seat}" + (f" ({roles[seat]})" if roles else "") for seat in seats]
    falls = _falls(game, record, states, values, exact, chosen)
    return Values(policy.name, names, values, falls, exact)


def _exact_winners(game: Game, states: Sequence[Record]) -> list[int | None]:
    """Solves positions from the last one back to the first that is out of reach."""
    if game.solver is None:
        return []
    found: list[int | None] = [None] * len(states)
    exact = new_solver(game)
    with suppress(OutOfReachError):
        for ply in reversed(range(len(states))):
            found[ply] = exact.winner(states[ply], SOLVER_LIMIT)
    return found


def _falls(
    game: Game,
    record: GameRecord,
    states: NDArray[Any],
    values: NDArray[np.float32],
    exact: list[int | None],
    chosen: NDArray[np.bool_],
) -> list[Fall]:
    """Returns the thrown wins and the moves that cost their seats most."""
    plies, movers = np.arange(len(states) - 1), states["seat"][:-1].astype(np.int64)
    losses = values[plies, movers] - values[plies + 1, movers]
    won = states["winners"][1:].astype(np.int64) >> movers & 1  # 0 before the end
    losses[~chosen[:-1] | (won == 1)] = 0
    thrown = np.zeros(len(plies), bool)
    for ply, (before, after) in enumerate(pairwise(exact)):
        thrown[ply] = before == movers[ply] and after not in (None, before)
    falls = []
    for ply in np.lexsort((-losses, ~thrown))[:_MAX_FALLS].tolist():
        if thrown[ply] or losses[ply] >= _MIN_FALL:
            move = game.guide.action_words(states[ply], record.actions[ply])
            loss = float(losses[ply])
            falls.append(Fall(ply + 1, int(movers[ply]), move, loss, bool(thrown[ply])))
    return falls
