"""One seat of many games in lock-step, with flat float32 observations."""

from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Space
from numpy.typing import NDArray

from linkzoo.core.features import FeatureMap
from linkzoo.envs.gym_vector import SeatVectorEnv


class FeatureSeatVectorEnv(SeatVectorEnv):
    """A SeatVectorEnv whose observations are the game's features (FeatureMap), float32[N, F].

    With `keys`, a pair of names, they are dicts of the features and of the masks (int8[N, A]) under
    these names, as in FeatureSeatEnv.
    """

    def __init__(self, *args: Any, keys: tuple[str, str] | None = None, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.features = FeatureMap(self.game.observation.spec)
        self.keys = keys
        space: Space[Any] = Box(-1, 1, (len(self.features),), np.float32)
        if keys is not None:
            mask = Box(0, 1, (self.game.num_actions,), np.int8)
            space = Dict({keys[0]: space, keys[1]: mask})
        self._show(space)

    def _shown(self, flat: NDArray[Any], mask: NDArray[np.int8]) -> Any:
        features = self.features.scaled(flat)
        if self.keys is None:
            return features
        return {self.keys[0]: features, self.keys[1]: mask}
