"""Stable-Baselines3 and sb3-contrib: many games in lock-step as one of their vector environments.

    envs = SB3VecEnv(FeatureSeatVectorEnv("linkage", 512, seat=None, illegal="raise"))
    model = MaskablePPO("MlpPolicy", VecMonitor(envs), n_steps=32)

`env_method("action_masks")` is where sb3-contrib finds the masks. Needs the extra `sb3`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from stable_baselines3.common.vec_env import VecEnv

from linkzoo.envs.gym_vector import SeatVectorEnv

Indices = int | Iterable[int] | None  # of games; None for all


class SB3VecEnv(VecEnv):
    """A SeatVectorEnv as a VecEnv of Stable-Baselines3.

    The last observation of a game is in `infos[i]["terminal_observation"]`. `seed(s)` holds for all
    games from the next reset on, as `SeatVectorEnv.reset(seed=s)`. Attributes and methods come from
    the SeatVectorEnv: arrays and lists of N are split by game.
    """

    def __init__(self, envs: SeatVectorEnv) -> None:
        self.envs = envs
        self._run_seed: int | None = None
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Keeps the seed of the run for the next reset."""
        self._run_seed = seed
        return [seed] * self.num_envs

    def reset(self) -> Any:
        """Starts every game anew; returns observations [N, ...]."""
        observation, _ = self.envs.reset(seed=self._run_seed)
        self._run_seed = None
        return observation

    def step_async(self, actions: NDArray[np.int64]) -> None:
        """Keeps the actions [N]; `step_wait` plays them."""
        self._actions = actions

    def step_wait(self) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], list[dict[str, Any]]]:
        """Returns observations, rewards, whether games are over, and an info for each game."""
        observation, reward, over, _, step_infos = self.envs.step(self._actions)
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for index in np.flatnonzero(over):
            infos[index]["terminal_observation"] = step_infos["final_obs"][index]
        return observation, reward.astype(np.float32), over, infos

    def get_attr(self, attr_name: str, indices: Indices = None) -> list[Any]:
        """Returns an attribute of the games."""
        return self._by_game(getattr(self.envs, attr_name), indices)

    def set_attr(self, attr_name: str, value: Any, indices: Indices = None) -> None:
        """Sets an attribute for all games; ValueError for some of them."""
        if indices is not None:
            raise ValueError(f"{attr_name} is set for all games at once, not for {indices}")
        setattr(self.envs, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: Indices = None, **method_kwargs: Any
    ) -> list[Any]:
        """Calls a method and returns its result for the games."""
        result = getattr(self.envs, method_name)(*method_args, **method_kwargs)
        return self._by_game(result, indices)

    def env_is_wrapped(
        self,
        wrapper_class: type,  # noqa: ARG002  # Stable-Baselines3's signature
        indices: Indices = None,
    ) -> list[bool]:
        """Returns False for each game: games aren't environments of their own."""
        return [False for _ in self._get_indices(indices)]

    def close(self) -> None:
        """Nothing is held open."""
        self.envs.close()

    def _by_game(self, value: Any, indices: Indices) -> list[Any]:
        """Returns the value of each game: an element of N, else the value itself."""
        rows: Iterable[int] = self._get_indices(indices)
        if isinstance(value, np.ndarray | list | tuple) and len(value) == self.num_envs:
            return [value[row] for row in rows]
        return [value for _ in rows]
