"""A game's symmetries over what a network reads and answers."""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game
from linkzoo.engine.rng import STREAM_VIEWS, below
from linkzoo.engine.compiled import compiled
from linkzoo.core.features import FeatureMap
from linkzoo.core.game import ObservationSpec
from linkzoo.engine.threads import Rows


@compiled
def _draw(first: Any, last: Any, which: Any, bound: Any, seed: Any, ply: Any, game: Any) -> None:
    """Draws one of `bound` symmetries for every row: those of games from `game` on."""
    for i in range(first, last):
        which[i] = below(bound, seed, STREAM_VIEWS, ply, game + i)


DRAW = Rows(_draw, 512)


@compiled
def _permute(first: Any, last: Any, rows: Any, which: Any, sources: Any) -> None:
    """Turns every row by its symmetry."""
    for i in range(first, last):
        before = rows[i].copy()
        for k in range(before.shape[0]):
            rows[i, k] = before[sources[which[i], k]]


PERMUTE = Rows(_permute, 64)


class Symmetries:
    """The symmetries of a game over features (FeatureMap) and actions; the first is the identity.

    ValueError if the game declares none.
    """

    def __init__(self, game: Game) -> None:
        if game.symmetries is None:
            raise ValueError(f"{game.name} declares no symmetries")
        observations, self.actions, hidden = game.symmetries()
        self.back = np.argsort(self.actions, axis=1)  # from the actions of a view
        self.features = _of_features(game.observation, observations)
        self.hidden = hidden if game.hidden is None else _of_features(game.hidden, hidden)

    def __len__(self) -> int:
        return len(self.actions)

    def draw(self, count: int, seed: np.uint64, ply: int, game: int = 0) -> NDArray[np.int64]:
        """A random symmetry for each of `count` games from `game` on, at a ply; [count]."""
        which = np.empty(count, np.int64)
        DRAW(which, len(self), seed, ply, game)
        return which

    def turn(
        self, features: NDArray[Any], mask: NDArray[np.int8], which: NDArray[np.int64]
    ) -> None:
        """Turns features [N, F] and masks [N, A] of positions into those of symmetric views.

        Row i becomes what symmetry `which[i]` makes of it; action v there is `back[which[i], v]`.
        """
        self.turn_features(features, which)
        self.turn_actions(mask, which)

    def turn_features(self, features: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Turns features [N, F] of positions into those of symmetric views."""
        PERMUTE(features, which, self.features)

    def turn_hidden(self, features: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Turns features [N, H] of what positions hide into those of symmetric views."""
        PERMUTE(features, which, self.hidden)

    def turn_actions(self, numbers: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Turns numbers [N, A] for the actions of positions into those for symmetric views'."""
        PERMUTE(numbers, which, self.back)

    def turn_back(self, numbers: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Turns numbers [N, A] for the actions of symmetric views into those for positions'."""
        PERMUTE(numbers, which, self.actions)

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


def _of_features(spec: ObservationSpec, symmetric: NDArray[np.int64]) -> NDArray[np.int64]:
    """Symmetries [S, size] of numbers of an observation as symmetries [S, F] of its features."""
    features = FeatureMap(spec)
    # A repeated number stands for all its copies, wherever a symmetry moves them.
    copies = np.arange(spec.size)
    for piece, where in zip(spec.pieces, spec.slices().values(), strict=True):
        if piece.broadcast:
            repeats = int(np.prod(piece.shape[-2:]))
            copies[where] = np.repeat(np.arange(where.start, where.stop, repeats), repeats)
    read = list(zip(features.columns.tolist(), features.levels.tolist(), strict=True))
    index = {pair: feature for feature, pair in enumerate(read)}
    return np.array(
        [
            [index[int(copies[sources[column]]), level] for column, level in read]
            for sources in symmetric
        ]
    )


@cache
def symmetries(game: Game) -> Symmetries:
    """The symmetries of a game, made once."""
    return Symmetries(game)
