"""Policies across the border: a framework's as an agent of ours, and ours as a callable."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.core.agent import Agent, Positions
from linkzoo.core.arguments import boolean
from linkzoo.core.features import FeatureMap
from linkzoo.core.game import Game
from linkzoo.core.state import Records
from linkzoo.engine.rng import STREAM_POOL, random_u64s

_feature_map = cache(FeatureMap)


class FunctionAgent:
    """A framework's policy as an agent: opponent of a SeatEnv, or one side of a match.

    `choose(features, mask)` takes float32[N, F] (FeatureMap) and int8[N, A] and returns the
    actions, integers [N]. With `features=False` it takes observations as `GameEnv` shows them,
    [N, *observation.shape], in place of features. ValueError if an action is illegal.
    """

    def __init__(
        self,
        name: str,
        choose: Callable[[NDArray[Any], NDArray[np.int8]], ArrayLike],
        *,
        features: bool = True,
    ) -> None:
        self.name, self._choose = name, choose
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
        self.agents, self.size = list(agents), size

    def add(self, agent: Agent) -> None:
        """Adds a member; a full pool gives up the oldest one but the first."""
        if len(self.agents) == self.size:
            del self.agents[1 if self.size > 1 else 0]
        self.agents.append(agent)

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the action of the agent that plays each position's seat, int64[N]."""
        states, actions = positions.states, np.empty(len(positions), np.int64)
        drawn = random_u64s(states["seed"], STREAM_POOL, states["seat"])
        member = drawn % np.uint64(len(self.agents))
        for index in np.unique(member):
            rows = np.flatnonzero(member == index)
            chosen = Positions(positions.game, states[rows], positions.seeds[rows])
            actions[rows] = self.agents[index].act(chosen)
        return actions


@dataclass
class _Seen:
    """The part of Positions that observations alone can give."""

    game: Game
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]
    seeds: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.observation)

    @property
    def states(self) -> Records:
        raise ValueError("this agent needs whole positions, not observations: use its act()")


class ObservationPolicy:
    """A trained policy of ours as a callable over observations, without an environment.

    `policy(observation)` takes the dict that `GameEnv` gives, of one seat or of a batch, and
    returns the action, an int or int64[N]; `predict` is that of Stable-Baselines3. For agents that
    need no more than the observation and the mask: a loaded checkpoint does, tree search doesn't
    (ValueError). `seed` fixes the draws of a policy with a temperature.
    """

    def __init__(self, agent: Agent, game: Game, seed: int = 0) -> None:
        self.agent, self.game = agent, game
        self._rng = np.random.default_rng(seed)

    def __call__(self, observation: Mapping[str, NDArray[Any]]) -> Any:
        """Returns the action for an observation dict (`observation`, `action_mask`), or a batch."""
        return self.predict(observation["observation"], observation["action_mask"])[0]

    def predict(
        self,
        observation: NDArray[Any],
        action_masks: ArrayLike,
        state: None = None,
        episode_start: None = None,  # noqa: ARG002  # Stable-Baselines3's signature
        deterministic: bool = True,  # noqa: ARG002  # the same
    ) -> tuple[Any, None]:
        """Returns the actions for observations [*spec.shape] or [N, ...], and the state, None.

        `episode_start` and `deterministic` are accepted and ignored: the policy has no memory,
        and draws if it was loaded with a temperature.
        """
        spec = self.game.observation.spec
        shape = spec.shape
        many = observation.ndim > len(shape)
        if observation.shape[many:] != shape or observation.dtype.kind == "f":
            raise ValueError(
                f"observations are {observation.dtype}{list(observation.shape)}, and this policy "
                f"reads {np.dtype(spec.dtype)}{list(shape)} or a batch: those of GameEnv and "
                "SeatEnv, not the features of FeatureEnv and FeatureSeatEnv"
            )
        batch = observation.reshape(-1, *shape).astype(spec.dtype, copy=False)
        mask = np.asarray(action_masks, np.int8).reshape(len(batch), self.game.num_actions)
        seeds = self._rng.integers(2**63, size=len(batch), dtype=np.uint64)
        actions = self.agent.act(_Seen(self.game, batch, mask, seeds))  # type: ignore[arg-type]
        return (actions if many else int(actions[0])), state
