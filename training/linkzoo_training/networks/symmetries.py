"""A game's symmetries, applied to the inputs and outputs of networks."""

from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Game
from linkzoo.core.features import FeatureMap
from linkzoo.core.observation import ObservationSpec
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_VIEWS, below
from linkzoo.engine.threads import RowKernel


@compiled
def _draw(
    first: int,
    last: int,
    which: NDArray[np.int64],
    bound: int,
    seed: np.uint64,
    ply: int,
    game: int,
) -> None:
    """Draws one of `bound` symmetries for every row; row i belongs to game `game + i`."""
    for i in range(first, last):
        which[i] = below(bound, seed, STREAM_VIEWS, ply, game + i)


DRAW = RowKernel(_draw, 512)


@compiled
def _permute(
    first: int,
    last: int,
    rows: NDArray[Any],
    which: NDArray[np.int64],
    sources: NDArray[np.int64],
) -> None:
    """Permutes every row by its symmetry, in place."""
    for i in range(first, last):
        before = rows[i].copy()
        for k in range(before.shape[0]):
            rows[i, k] = before[sources[which[i], k]]


PERMUTE = RowKernel(_permute, 64)


class Symmetries:
    """The symmetries of a game over features (FeatureMap) and actions; the first is the identity.

    Raises:
        ValueError: The game declares none.
    """

    def __init__(self, game: Game) -> None:
        observation = game.observation
        if observation.symmetries is None:
            raise ValueError(f"{game.name} declares no symmetries")
        observations, self.actions, hidden = observation.symmetries()
        self.back = np.argsort(self.actions, axis=1)  # position's action for each action of a view
        self.features = _of_features(observation.spec, observations)
        privileged = observation.privileged_spec
        self.hidden = hidden if privileged is None else _of_features(privileged, hidden)

    def __len__(self) -> int:
        return len(self.actions)

    def draw(self, count: int, seed: np.uint64, ply: int, game: int = 0) -> NDArray[np.int64]:
        """Draws a symmetry for each of `count` games from `game` on, at a ply; int64 [count]."""
        which = np.empty(count, np.int64)
        DRAW(which, len(self), seed, ply, game)
        return which

    def turn(
        self, features: NDArray[Any], mask: NDArray[np.int8], which: NDArray[np.int64]
    ) -> None:
        """Transforms features [N, F] and masks [N, A] into symmetric views, in place.

        Row i is transformed by symmetry `which[i]`; its action v was `back[which[i], v]`.
        """
        self.turn_features(features, which)
        self.turn_actions(mask, which)

    def turn_features(self, features: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Transforms features [N, F] into symmetric views, in place."""
        PERMUTE(features, which, self.features)

    def turn_hidden(self, features: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Transforms privileged features [N, H] into symmetric views, in place."""
        PERMUTE(features, which, self.hidden)

    def turn_actions(self, numbers: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Transforms numbers [N, A] per action into symmetric views, in place."""
        PERMUTE(numbers, which, self.back)

    def turn_back(self, numbers: NDArray[Any], which: NDArray[np.int64]) -> None:
        """Transforms numbers [N, A] per action of symmetric views back, in place."""
        PERMUTE(numbers, which, self.actions)

    def views(self, features: NDArray[Any], which: NDArray[np.int64]) -> NDArray[Any]:
        """Returns features [N, F] under each symmetry of `which` [S], as [S, N, F]."""
        return np.stack([features[:, self.features[s]] for s in which])

    def answers(self, views: Tensor, which: NDArray[np.int64]) -> Tensor:
        """Transforms numbers [S, N, A] per action of the views back to the positions' actions."""
        return torch.stack(
            [
                view[:, torch.from_numpy(self.actions[s])]
                for view, s in zip(views, which, strict=True)
            ]
        )


def _of_features(spec: ObservationSpec, symmetric: NDArray[np.int64]) -> NDArray[np.int64]:
    """Converts symmetries [S, size] of an observation's numbers to its features' [S, F]."""
    features = FeatureMap(spec)
    # Features hold a broadcast number once: replace each of its copies by the first.
    copies = np.arange(spec.size)
    for part, where in zip(spec.parts, spec.slices().values(), strict=True):
        if part.broadcast:
            repeats = int(np.prod(part.shape[-2:]))
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
    """Returns the symmetries of a game, cached."""
    return Symmetries(game)
