"""A game's symmetries applied to what a network reads: every position is worth many."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo.compiled import compiled
from linkzoo_training.networks import FeatureMap


class Symmetries:
    """The symmetries of a game, over features (FeatureMap), masks and actions."""

    def __init__(self, game: Game, features: FeatureMap) -> None:
        if game.symmetries is None:
            raise ValueError(f"augment: {game.name} declares no symmetries")
        observations, self.actions = game.symmetries()
        self.count = len(observations)
        # A repeated number stands for all its copies, wherever a symmetry moves them.
        copies = np.arange(game.observation.size)
        pieces = zip(game.observation.pieces, game.observation.slices().values(), strict=True)
        for piece, where in pieces:
            if piece.broadcast:
                repeats = int(np.prod(piece.shape[-2:]))
                copies[where] = np.repeat(np.arange(where.start, where.stop, repeats), repeats)
        read = list(zip(features.columns.tolist(), features.levels.tolist(), strict=True))
        index = {pair: feature for feature, pair in enumerate(read)}
        self.features = np.array(
            [
                [index[int(copies[sources[column]]), level] for column, level in read]
                for sources in observations
            ]
        )

    def apply(
        self,
        chosen: NDArray[np.int64],
        features: NDArray[Any],
        mask: NDArray[np.int8],
        action: NDArray[np.int64],
    ) -> tuple[NDArray[Any], NDArray[np.int8], NDArray[np.int64]]:
        """Features [N, F], masks [N, A] and actions [N] under the symmetries `chosen` [N]."""
        out = np.empty_like(features), np.empty_like(mask), np.empty_like(action)
        _apply(self.features, self.actions, chosen, features, mask, action, *out)
        return out


@compiled
def _apply(
    feature_of: Any,
    action_of: Any,
    chosen: Any,
    features: Any,
    mask: Any,
    action: Any,
    new_features: Any,
    new_mask: Any,
    new_action: Any,
) -> None:
    for i in range(chosen.shape[0]):
        s = chosen[i]
        for k in range(features.shape[1]):
            new_features[i, k] = features[i, feature_of[s, k]]
        for a in range(mask.shape[1]):
            new_mask[i, action_of[s, a]] = mask[i, a]
        new_action[i] = action_of[s, action[i]]
