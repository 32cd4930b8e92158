"""The protocol of everything that plays: a batch of positions in, an action for each out."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.kernels import kernels
from linkzoo.core.arguments import shown
from linkzoo.core.game import Game


@dataclass
class Positions:
    """Positions of one game in which a seat is to act.

    `states` are N whole records: a fair agent uses only what the seat to act may know, which is
    `observation`, `action_mask` and worlds from the game's `redeal`. `seeds` (uint64[N]) is all the
    randomness that an agent may use: the same positions and seeds give the same actions.
    """

    game: Game
    states: NDArray[Any]
    seeds: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.states)

    @cached_property
    def action_mask(self) -> NDArray[np.int8]:
        """int8[N, num_actions]: 1 for legal actions."""
        masks = np.empty((len(self), self.game.num_actions), np.int8)
        kernels(self.game).legal(self.states, masks)
        return masks

    @cached_property
    def observation(self) -> NDArray[Any]:
        """[N, *observation.shape]: what the seat to act sees."""
        spec = self.game.observation
        flat = np.empty((len(self), spec.size), spec.dtype)
        kernels(self.game).observe(self.states, np.ascontiguousarray(self.states["seat"]), flat)
        return flat.reshape(len(self), *spec.shape)


class Agent(Protocol):
    """Something that plays: random, greedy, search, a trained policy, a person."""

    @property
    def name(self) -> str:
        """A short name for tables, such as `uct-100`."""
        ...

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """A legal action for each position, int64[N]."""
        ...


def is_agent(value: Any) -> bool:
    """Whether something has what an `Agent` has: a `name` and a method `act`; a class is none."""
    named = isinstance(getattr(value, "name", None), str) and not isinstance(value, type)
    return named and callable(getattr(value, "act", None))


def check_opponent(opponent: Agent) -> Agent:
    """`opponent` if it is an agent; ValueError otherwise."""
    if not is_agent(opponent):
        raise ValueError(
            f"opponent: {shown(opponent)} is no agent: one has a `name` and a method "
            "`act(positions)`"
        )
    return opponent


class RandomAgent:
    """Plays uniformly random legal actions."""

    name = "random"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """A uniformly random legal action for each position, int64[N]."""
        actions = np.empty(len(positions), np.int64)
        kernels(positions.game).random_actions(
            positions.action_mask, positions.seeds, np.int64(0), actions
        )
        return actions
