"""A policy in any loop: actions, probabilities and values for environments and observations."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from pettingzoo import ParallelEnv

from linkzoo.core.agent import Agent, Positions
from linkzoo.core.arguments import integer, shown
from linkzoo.core.game import Game
from linkzoo.core.installing import install_command
from linkzoo.core.state import Records
from linkzoo.engine.rng import STREAM_PREDICT, random_u64s
from linkzoo.envs.aec import GameEnv
from linkzoo.envs.gym import SeatEnv

__all__ = ["Policy", "load_policy"]

# Keys of an observation dict.
_MASK = "action_mask"
_OBSERVATION = "observation"
_GROUP = "linkzoo.policies"  # of entry points; its one entry loads policies


class Policy:
    """An agent in any loop: pass an environment or its observations.

    Every method takes one of

    - a `GameEnv` (AEC) or a `SeatEnv` (gymnasium), wrapped or not: its next decision;
    - an observation dict, with `observation` and `action_mask`, of one decision or of N;
    - a PettingZoo parallel environment, or its dict of observation dicts by agent: the decisions of
      the agents to act;
    - a `VecEnv` or a `SeatVectorEnv` (gymnasium) of N games: the next decision of each.

    `predict` returns an argument of the environment's `step`. Results for one decision have no
    leading axis, results for N decisions a leading axis N, and results for a dict of agents are
    dicts by agent. A game of N that waits for its next `reset` has action 0, and its probabilities
    and values are 0.

    It is an agent too: an opponent, or one side of a match.

    Args:
        agent: The agent that plays. One that needs whole positions, such as a tree search, takes
            environments but no observations.
        game: The game that it plays.
        seed: The seed of the draws of `predict`, 0..2**64-1.

    Raises:
        ValueError: The seed is wrong.
    """

    def __init__(self, agent: Agent, game: Game, *, seed: int = 0) -> None:
        self.agent = agent
        self.game = game
        self.name = agent.name
        self._seed = integer("seed", seed, 0, 2**64 - 1)
        self._decisions = 0  # so far

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the agent's action for each position, int64[N]."""
        return self.agent.act(positions)

    def predict(self, source: Any) -> Any:
        """Returns the actions that the agent plays.

        Args:
            source: An environment or observations, see above.

        Returns:
            An int; int64[N] for N decisions; a dict of ints by agent.

        Raises:
            ValueError: `source` is none of the above or of another game, no seat is to act, or the
                agent needs whole positions.
        """
        return self._answer(source, self._actions)[0]

    def probabilities(self, source: Any) -> Any:
        """Returns the policy's probability of every action, 0 for illegal ones.

        A network's probabilities are at temperature 1, averaged over its symmetric views; a search
        gives its improved policy. `linear` gives the softmax of its scores.

        Args:
            source: An environment or observations, see above.

        Returns:
            float32[A]; float32[N, A] for N decisions; a dict by agent.

        Raises:
            ValueError: As `predict`, or the agent has no probabilities.
        """
        return self._answer(source, self._probabilities)[0]

    def values(self, source: Any) -> Any:
        """Returns the expected payoff of every seat, -1 to 1.

        Index 0 is the seat to act, index 1 the next one, and so on; absent seats have 0.

        Args:
            source: An environment or observations, see above.

        Returns:
            float32[P], for P the game's largest number of players; float32[N, P] for N decisions;
            a dict by agent.

        Raises:
            ValueError: As `predict`, or the agent has no values: it is no network.
        """
        return self._answer(source, self._values)[0]

    def _actions(self, decisions: "_Decisions") -> tuple[NDArray[Any], ...]:
        """Returns the actions [N], 0 where no seat is to act."""
        actions = np.zeros(len(decisions.open), np.int64)
        if decisions.open.any():
            actions[decisions.open] = self.agent.act(decisions.positions)
        return (actions,)

    def _probabilities(self, decisions: "_Decisions") -> tuple[NDArray[Any], ...]:
        """Returns probabilities [N, A], 0 where no seat is to act."""
        probabilities = np.zeros((len(decisions.open), self.game.num_actions), np.float32)
        if decisions.open.any():
            probabilities[decisions.open] = self._distribution(decisions)[0]
        return (probabilities,)

    def _values(self, decisions: "_Decisions") -> tuple[NDArray[Any], ...]:
        """Returns values [N, P], 0 where no seat is to act."""
        values = np.zeros((len(decisions.open), self.game.max_players), np.float32)
        if decisions.open.any():
            payoffs = self._distribution(decisions)[1]
            if payoffs is None:
                raise ValueError(f"{self.name} has no values: choose a checkpoint")
            values[decisions.open] = payoffs.clip(-1, 1)  # with score margins they go beyond
        return (values,)

    def _distribution(
        self, decisions: "_Decisions"
    ) -> tuple[NDArray[np.float32], NDArray[np.float32] | None]:
        """Returns the agent's probabilities [M, A] and values [M, P] where a seat is to act."""
        agent: Any = self.agent
        if not hasattr(agent, "distribution"):
            raise ValueError(f"{self.name} has no probabilities and values: choose a checkpoint")
        policy, payoffs = agent.distribution(decisions.positions)
        return policy, payoffs

    def _draw(self, count: int) -> NDArray[np.uint64]:
        """Returns the seeds of the next decisions."""
        indices = self._decisions + np.arange(count)
        self._decisions += count
        return random_u64s(self._seed, STREAM_PREDICT, indices)

    def _answer(
        self, source: Any, ask: Callable[["_Decisions"], tuple[NDArray[Any], ...]]
    ) -> tuple[Any, ...]:
        """Returns the results of `ask` for the decisions, in the form of `source`."""
        if isinstance(source, ParallelEnv):
            env: Any = source.unwrapped
            observations = {name: env.observe(name) for name in env.agents}
            return self._by_agent(observations, lambda _: self._answer(env, ask))
        if not isinstance(source, Mapping):
            decisions = self._states(source)
        elif _OBSERVATION in source:
            decisions = self._observed(source)
        else:
            return self._by_agent(source, lambda name: self._answer(source[name], ask))
        results = ask(decisions)
        if not decisions.single:
            return results
        if not decisions.open[0]:
            raise ValueError(f"{self.name}: no seat is to act")
        return tuple(_first(array) for array in results)

    def _by_agent(
        self, observations: Mapping[str, Any], answer: Callable[[str], tuple[Any, ...]]
    ) -> tuple[Any, ...]:
        """Returns dicts of the results for the agents to act."""
        acting = [name for name, observed in observations.items() if np.any(_mask_of(observed))]
        if not acting:
            raise ValueError(f"{self.name}: no seat is to act")
        columns = zip(*map(answer, acting), strict=True)
        return tuple(dict(zip(acting, results, strict=True)) for results in columns)

    def _states(self, source: Any) -> "_Decisions":
        """Returns the decisions in an environment."""
        env = getattr(source, "unwrapped", source)
        if isinstance(env, SeatEnv):
            env = env.env
        single = isinstance(env, GameEnv)
        states: Any = getattr(env, "states", None)
        if single:
            states = np.frombuffer(bytearray(env.get_state()), env.game.state)
        game = getattr(env, "game", None)
        if not isinstance(states, np.ndarray) or not isinstance(game, Game):
            raise ValueError(
                f"{shown(source)} is no environment of linkzoo on the CPU, and no dict with "
                f"{_OBSERVATION!r} and {_MASK!r}"
            )
        if game.key != self.game.key:
            raise ValueError(f"{self.name} plays {self.game}, not {game}")
        acting = states["seat"] >= 0
        past_of = (lambda _: env.past) if single else None
        positions = Positions(game, states[acting], self._draw(int(acting.sum())), past_of)
        return _Decisions(acting, single, positions)

    def _observed(self, observed: Mapping[str, Any]) -> "_Decisions":
        """Returns the decisions in an observation dict."""
        spec = self.game.observation.spec
        mask = np.asarray(_mask_of(observed), np.int8) != 0
        observation = np.asarray(observed[_OBSERVATION])
        batch_axes = observation.ndim - len(spec.shape)
        fits = batch_axes in (0, 1) and observation.shape[batch_axes:] == spec.shape
        if not fits or observation.dtype.kind not in "iu":
            raise ValueError(
                f"observations are {observation.dtype}{list(observation.shape)}, and this policy "
                f"reads {np.dtype(spec.dtype)}{list(spec.shape)} or a batch: observations of "
                "GameEnv and SeatEnv, not the features of FeatureEnv and FeatureSeatEnv"
            )
        shape = (*observation.shape[:batch_axes], self.game.num_actions)
        if mask.shape != shape:
            raise ValueError(f"{_MASK} has shape {list(mask.shape)}, not {list(shape)}")
        batch = observation.reshape(-1, *spec.shape).astype(spec.dtype, copy=False)
        masks = mask.reshape(len(batch), self.game.num_actions)
        acting = np.asarray(masks.any(1))
        positions = _Observed(
            self.game,
            batch[acting],
            masks[acting].view(np.int8),
            self._draw(int(acting.sum())),
        )
        return _Decisions(acting, batch_axes == 0, positions)


def load_policy(
    agent: str | Path,
    game: str | None = None,
    options: Mapping[str, Any] | None = None,
    *,
    seed: int = 0,
) -> Policy:
    """Loads a trained policy, or any other agent, that plays in any loop.

    `linkzoo_training` loads it, found through the entry-point group `linkzoo.policies`. A
    checkpoint needs the extra `train`. Entry points belong to installed packages: with a source
    tree that is only on PYTHONPATH, call `linkzoo_training.load_policy`, the same function.

    Args:
        agent: The name of a shipped checkpoint, a checkpoint's folder, or any name of
            `linkzoo_training.make_agent`, such as `linkage~1` (sampled), `linkage:100` (with a
            search of 100 simulations), `greedy` or `my_file.py:MyAgent`.
        game: The game that it plays; None for a checkpoint's own.
        options: Options of the game: its board or cards; None for the checkpoint's.
        seed: The seed of the draws of a policy that samples, 0..2**64-1.

    Returns:
        The policy: `predict`, `probabilities` and `values` of environments and observations.

    Raises:
        ValueError: There is no such agent or game, the agent's game isn't named, or the extra
            `train` isn't installed.
    """
    for point in entry_points(group=_GROUP):
        policy: Policy = point.load()(agent, game, options, seed=seed)
        return policy
    raise ValueError(
        f"no installed package has an entry point {_GROUP}: {install_command('train')}, "
        "or call linkzoo_training.load_policy from a source tree"
    )


@dataclass
class _Decisions:
    """N decisions."""

    open: NDArray[np.bool_]  # [N], where a seat is to act
    single: bool  # whether it is one decision without a leading axis
    positions: Any  # Positions or _Observed, where a seat is to act


@dataclass
class _Observed:
    """The part of Positions that observations alone can give."""

    game: Game
    observation: NDArray[Any]
    action_mask: NDArray[np.int8]
    seeds: NDArray[np.uint64]

    def __len__(self) -> int:
        return len(self.observation)

    @property
    def num_players(self) -> NDArray[np.int64]:
        """int64[N], from the observation's part of this name, if it has one."""
        spec = self.game.observation.spec
        if "num_players" not in spec.slices():
            return np.full(len(self), self.game.max_players)
        numbers = spec.view(self.observation, "num_players").reshape(len(self), -1)[:, 0]
        return numbers.astype(np.int64)

    @property
    def states(self) -> Records:
        raise ValueError("this agent needs whole positions: pass the environment, no observations")


def _mask_of(observed: Any) -> Any:
    if not isinstance(observed, Mapping) or not {_OBSERVATION, _MASK} <= observed.keys():
        raise ValueError(f"{shown(observed)} is no dict with {_OBSERVATION!r} and {_MASK!r}")
    return observed[_MASK]


def _first(results: NDArray[Any]) -> Any:
    """Returns the first of N results, an action as an int."""
    if results.ndim == 1:
        return int(results[0])
    return results[0]
