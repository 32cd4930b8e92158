"""Policies of frameworks as agents, and several agents as one."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.core.agent import Agent, Positions
from linkzoo.core.arguments import boolean
from linkzoo.core.features import FeatureMap
from linkzoo.engine.rng import STREAM_POOL, random_u64s

_feature_map = cache(FeatureMap)


class FunctionAgent:
    """A framework's policy as an agent: opponent of a SeatEnv, or one side of a match.

    Args:
        name: The agent's name.
        choose: `choose(features, mask)` takes float32[N, F] (FeatureMap) and int8[N, A] and returns
            the actions, integers [N]. An illegal action is a ValueError.
        features: False to pass observations of `GameEnv`, [N, *observation.shape], in place of
            features.
    """

    def __init__(
        self,
        name: str,
        choose: Callable[[NDArray[Any], NDArray[np.int8]], ArrayLike],
        *,
        features: bool = True,
    ) -> None:
        self.name = name
        self._choose = choose
        self._features = boolean("features", features)

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the function's action for each position, int64[N]."""
        count = len(positions)
        seen = positions.observation
        if self._features:
            features = _feature_map(positions.game.observation.spec)
            seen = features.scaled(seen.reshape(count, -1))
        mask = positions.action_mask
        actions = np.asarray(self._choose(seen, mask.copy()), np.int64).reshape(count)
        if not mask[np.arange(count), actions].all():
            raise ValueError(f"{self.name} chose an illegal action")
        return actions


class OpponentPool:
    """Several agents as one: each seat of each game is played by one of them, drawn at random.

    The draw is a function of the game's seed and the seat, so an agent plays its game to the end as
    long as nothing is added; `add` drops the oldest member but the first where `size` is reached.
    """

    name = "pool"

    def __init__(self, agents: Sequence[Agent], size: int = 8) -> None:
        if not 1 <= len(agents) <= size:
            raise ValueError(f"agents: {len(agents)} of them, not 1..{size}")
        self.agents = list(agents)
        self.size = size

    def add(self, agent: Agent) -> None:
        """Adds a member; a full pool gives up the oldest one but the first."""
        if len(self.agents) == self.size:
            del self.agents[min(1, self.size - 1)]
        self.agents.append(agent)

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the action of the agent that plays each position's seat, int64[N]."""
        states = positions.states
        actions = np.empty(len(positions), np.int64)
        drawn = random_u64s(states["seed"], STREAM_POOL, states["seat"])
        member = drawn % np.uint64(len(self.agents))
        for index in np.unique(member):
            rows = np.flatnonzero(member == index)
            chosen = positions.part(rows)
            actions[rows] = self.agents[index].act(chosen)
        return actions
