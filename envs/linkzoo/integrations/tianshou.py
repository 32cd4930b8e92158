"""Tianshou: many games in lock-step as one of its vector environments.

    envs = TianshouVectorEnv("linkage", 512, seat=None)
    collector = Collector(dqn, envs, VectorReplayBuffer(100_000, len(envs)))

Observations are `Batch(obs=features, mask=...)`, where DQN finds the mask. `collect(random=True)`
draws from the action space and ignores masks: an epsilon of 1 draws legal actions. Needs the extra
`tianshou`.
"""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from tianshou.data import Batch
from tianshou.env import BaseVectorEnv

from linkzoo.integrations.vector import FeatureSeatVectorEnv

Rows = int | list[int] | NDArray[np.int64] | None  # numbers of games; None for all


class TianshouVectorEnv(BaseVectorEnv):
    """N games of a FeatureSeatVectorEnv as Tianshou's vector environment.

    `kwargs` are arguments of FeatureSeatVectorEnv; an illegal action raises ValueError. `seed(s)`
    holds for all games from the next reset of all on.
    """

    def __init__(
        self, game: str, num_envs: int, num_players: int | None = None, **kwargs: Any
    ) -> None:
        # Not BaseVectorEnv's own, which starts a worker for every game.
        self.envs = FeatureSeatVectorEnv(
            game, num_envs, num_players, keys=("obs", "mask"), illegal="raise", **kwargs
        )
        self.env_num = num_envs
        self.is_async = False
        self.is_closed = False
        self._run_seed: int | None = None
        self._begun = np.zeros(num_envs, np.bool_)  # by the last step, which ended a game there

    def seed(self, seed: int | list[int] | None = None) -> list[Any]:
        """Keeps the seed of the run, an integer, for the next reset of all games."""
        if isinstance(seed, list):
            raise ValueError("seed: one integer for all games, not a list")
        self._run_seed = seed
        return [[seed]] * self.env_num

    def reset(self, env_id: Rows = None, **kwargs: Any) -> tuple[Batch, NDArray[Any]]:
        """Starts all games, or the games of `env_id`, and shows them.

        A game that the last step ended has begun anew already, and is shown as it is.
        """
        if env_id is None:
            seed = kwargs.pop("seed", self._run_seed)
            self._run_seed = None
            self._now, _ = self.envs.reset(seed=seed, **kwargs)
            rows = np.arange(self.env_num)
        else:
            rows = np.atleast_1d(np.asarray(env_id))
            chosen = np.isin(np.arange(self.env_num), rows) & ~self._begun
            if chosen.any():
                self._now, _ = self.envs.reset(options={"reset_mask": chosen})
        self._begun[rows] = False
        return self._shown(self._now, rows), np.array([{} for _ in rows], object)

    def step(
        self,
        action: ArrayLike,
        id: Rows = None,  # noqa: A002  # Tianshou's name
    ) -> tuple[Batch, NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
        """Plays actions in all games, or in the games of `id`; a finished game shows its end."""
        rows = np.arange(self.env_num)
        if id is not None:
            rows = np.atleast_1d(np.asarray(id))
        self._now, reward, over, truncated, infos = self.envs.step(np.asarray(action), rows)
        self._begun[rows] = over[rows]
        shown = self._shown(self._now, rows)
        for index in np.flatnonzero(over[rows]):
            shown[index] = Batch(infos["final_obs"][rows[index]])
        no_infos = np.array([{} for _ in rows], object)
        return shown, reward[rows], over[rows], truncated[rows], no_infos

    def get_env_attr(self, key: str, id: Rows = None) -> list[Any]:  # noqa: A002
        """Returns an attribute of the games: as a space, the space of one game."""
        if key.endswith("_space"):
            key = f"single_{key}"
        return [getattr(self.envs, key) for _ in self._wrap_id(id)]

    def set_env_attr(self, key: str, value: Any, id: Rows = None) -> None:  # noqa: A002
        """Sets an attribute for all games; ValueError for some of them."""
        if id is not None:
            raise ValueError(f"{key} is set for all games at once, not for {id}")
        setattr(self.envs, key, value)

    def close(self) -> None:
        """Nothing is held open."""
        self.is_closed = True

    def _shown(self, seen: dict[str, NDArray[Any]], rows: NDArray[np.int64]) -> Batch:
        return Batch({key: values[rows] for key, values in seen.items()})
