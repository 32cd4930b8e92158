"""A policy's values along a game, and the moves with the largest losses."""

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, GameRecord, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.policy import PolicyAgent, SearchAgent

_BATCH = 256  # positions per forward pass
_MAX_FALLS, _MIN_FALL = 5, 0.05  # number listed, and the smallest listed


@dataclass(frozen=True)
class Fall:
    """A move at `ply` that lowered the value of its own seat by `by`."""

    ply: int
    seat: int
    move: str
    by: float


@dataclass(frozen=True)
class Values:
    """Values along a game with `plies` actions, -1 to 1, and the falls, largest first."""

    agent: str
    seats: list[str]  # seat labels
    by_ply: NDArray[np.float32]  # [plies + 1, players]
    falls: list[Fall]

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {
            "agent": self.agent,
            "seats": self.seats,
            "values": [[round(float(value), 3) for value in row] for row in self.by_ply],
            "falls": [{**asdict(fall), "by": round(fall.by, 3)} for fall in self.falls],
        }


def values_along(agent: Agent, record: GameRecord) -> Values:
    """Evaluates every position of a game with an agent's policy, without search.

    Each position is evaluated from its seat's observation; the last values of a finished game are
    the payoffs.

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
    for first in range(0, len(open_ones), _BATCH):
        rows = open_ones[first : first + _BATCH]
        _, relative = policy.evaluate(Positions(game, states[rows], np.zeros(len(rows), np.uint64)))
        turned = (seats - states["seat"][rows, None]) % record.num_players
        values[rows] = np.take_along_axis(relative.numpy(), turned, 1)
    plies, movers = np.arange(len(states) - 1), states["seat"][:-1].astype(np.int64)
    losses = values[plies, movers] - values[plies + 1, movers]
    falls = []
    for ply in np.argsort(-losses, kind="stable")[:_MAX_FALLS].tolist():
        if losses[ply] >= _MIN_FALL:
            move = game.notation.action_to_text(states[ply], record.actions[ply])
            falls.append(Fall(ply + 1, int(movers[ply]), move, float(losses[ply])))
    roles = game.roles(record.options)
    names = [f"player {seat}" + (f" ({roles[seat]})" if roles else "") for seat in seats]
    return Values(policy.name, names, values, falls)
