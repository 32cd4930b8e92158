"""A game's symmetries over what a network reads and answers."""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game
from linkzoo_training.networks import FeatureMap


class Symmetries:
    """The symmetries of a game over features (FeatureMap) and actions; the first is the identity.

    ValueError if the game declares none.
    """

    def __init__(self, game: Game) -> None:
        if game.symmetries is None:
            raise ValueError(f"{game.name} declares no symmetries")
        observations, self.actions = game.symmetries()
        features = FeatureMap(game.observation)
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

    def __len__(self) -> int:
        return len(self.actions)

    def views(self, features: NDArray[Any], which: NDArray[np.int64]) -> NDArray[Any]:
        """Features [N, F] of positions as features [S, N, F] of what symmetries make of them."""
        return np.stack([features[:, self.features[s]] for s in which])

    def answers(self, views: Tensor, which: NDArray[np.int64]) -> Tensor:
        """Numbers [S, N, A] for the actions of the views as numbers for those of the positions."""
        return torch.stack(
            [
                view[:, torch.from_numpy(self.actions[s])]
                for view, s in zip(views, which, strict=True)
            ]
        )


@cache
def symmetries(game: Game) -> Symmetries:
    """The symmetries of a game, made once."""
    return Symmetries(game)
