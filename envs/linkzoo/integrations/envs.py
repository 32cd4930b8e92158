"""The environments with flat float32 observations, as fully connected networks read them."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict

from linkzoo.core.arguments import one_of
from linkzoo.core.features import FeatureMap
from linkzoo.envs.aec import GameEnv
from linkzoo.envs.gym import SeatEnv


class FeatureEnv(GameEnv):
    """A GameEnv whose `observation` is the game's features (FeatureMap), float32[F] in -1..1.

    Amounts are scaled by their bounds; roles, phases, kinds and other small numbers are one-hot.
    With `observation="flat"` an observation is the features alone, for wrappers that only know
    boxes (SuperSuit's); the mask is in `infos[agent]["action_mask"]`, as always.
    """

    def __init__(
        self, game: str, num_players: int | None = None, *, observation: str = "dict", **kwargs: Any
    ) -> None:
        one_of("observation", observation, ("dict", "flat"))
        super().__init__(game, num_players, **kwargs)
        self.features = FeatureMap(self.game.observation.spec)
        self._flat = observation == "flat"
        space: Any = Box(-1, 1, (len(self.features),), np.float32)
        if not self._flat:
            mask = Box(0, 1, (self.game.num_actions,), np.int8)
            space = Dict(observation=space, action_mask=mask)
        self.observation_spaces = dict.fromkeys(self.possible_agents, space)

    def observe(self, agent: str) -> Any:
        """Returns new arrays `observation` (float32[F]) and `action_mask` of an agent's seat."""
        seen = super().observe(agent)
        features = self.features.scaled(seen["observation"].reshape(1, -1))[0]
        if self._flat:
            return features
        return {**seen, "observation": features}


class FeatureSeatEnv(SeatEnv):
    """A SeatEnv whose observation is the game's features (FeatureEnv).

    The mask is in `info["action_mask"]` and from `action_masks()`, as in every SeatEnv. With
    `keys`, a pair of names, the observation is a dict of the features and of the mask (int8) under
    these names: Tianshou reads `("obs", "mask")`.
    """

    aec = FeatureEnv

    def __init__(self, *args: Any, keys: tuple[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.keys = keys
        if keys is not None:
            mask = Box(0, 1, (self.env.game.num_actions,), np.int8)
            self.observation_space = Dict({keys[0]: self.observation_space, keys[1]: mask})  # type: ignore[assignment]  # a dict of arrays

    def _observation(self) -> Any:
        seen = self.env.observe(self.agent)
        if self.keys is None:
            return seen["observation"]
        return {self.keys[0]: seen["observation"], self.keys[1]: seen["action_mask"]}
