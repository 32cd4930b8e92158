"""A game's symmetries, applied to the inputs and outputs of networks."""

from functools import cache

import numpy as np
import torch
from torch import Tensor

from linkzoo import Game
from linkzoo.core.features import FeatureMap
from linkzoo.core.observation import ObservationSpec
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_VIEWS, below
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array, Int64s
from linkzoo_training.networks.inputs import RELABEL


@compiled
def _draw(
    first: int, last: int, symmetry: Int64s, bound: int, seed: np.uint64, ply: int, game: int
) -> None:
    """Draws one of `bound` symmetries for every row; row i belongs to game `game + i`."""
    for i in range(first, last):
        symmetry[i] = below(bound, seed, STREAM_VIEWS, ply, game + i)


DRAW = RowKernel(_draw, 4096)


@compiled
def _permute(first: int, last: int, rows: Array, symmetry: Int64s, sources: Int64s) -> None:
    """Permutes the first K numbers of every row by row `symmetry[i]` of `sources`, in place."""
    for i in range(first, last):
        before = rows[i].copy()
        for k in range(sources.shape[1]):
            rows[i, k] = before[sources[symmetry[i], k]]


PERMUTE = RowKernel(_permute, 512)


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
        self._row = 0  # of listed actions (Inputs)
        if observation.action_spec is not None:
            self._row = 1 + observation.action_spec.size
        self.hidden = hidden
        if observation.privileged_spec is not None:
            self.hidden = _of_features(observation.privileged_spec, hidden)

    def __len__(self) -> int:
        return len(self.actions)

    def draw(self, count: int, seed: np.uint64, ply: int, game: int = 0) -> Int64s:
        """Draws a symmetry for each of `count` games from `game` on, at a ply; int64 [count]."""
        symmetry = np.empty(count, np.int64)
        DRAW(symmetry, len(self), seed, ply, game)
        return symmetry

    def turn_features(self, features: Array, symmetry: Int64s) -> None:
        """Transforms row i of inputs [N, F] (Inputs) by `symmetry[i]`, in place."""
        PERMUTE(features, symmetry, self.features)
        width = self.features.shape[1]
        if features.shape[1] > width:
            RELABEL(features[:, width:], symmetry, self.actions, self._row)

    def turn_actions(self, numbers: Array, symmetry: Int64s) -> None:
        """Transforms numbers [N, A] per action into symmetric views, in place."""
        PERMUTE(numbers, symmetry, self.back)

    def turn_back(self, numbers: Array, symmetry: Int64s) -> None:
        """Transforms numbers [N, A] per action of symmetric views back, in place."""
        PERMUTE(numbers, symmetry, self.actions)

    def views(self, features: Array, chosen: Int64s) -> Array:
        """Returns inputs [N, F] under each of the chosen symmetries [S], as [S, N, F]."""
        views = np.repeat(features[None], len(chosen), 0)
        for view, symmetry in zip(views, chosen, strict=True):
            self.turn_features(view, np.full(len(view), symmetry))
        return views

    def from_views(self, views: Tensor, chosen: Int64s) -> Tensor:
        """Transforms numbers [S, N, A] per action of the views back to the positions' actions."""
        actions = torch.from_numpy(self.actions[chosen])
        return torch.stack([view[:, back] for view, back in zip(views, actions, strict=True)])


def _of_features(spec: ObservationSpec, symmetric: Int64s) -> Int64s:
    """Converts symmetries [S, size] of an observation's numbers to its features' [S, F]."""
    features = FeatureMap(spec)
    read = list(zip(features.columns.tolist(), features.levels.tolist(), strict=True))
    index = {pair: feature for feature, pair in enumerate(read)}
    return np.array(
        [
            [index[int(features.first[sources[column]]), level] for column, level in read]
            for sources in symmetric
        ]
    )


@cache
def symmetries(game: Game) -> Symmetries:
    """Returns the symmetries of a game, cached."""
    return Symmetries(game)
