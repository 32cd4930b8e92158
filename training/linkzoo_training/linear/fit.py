"""Fits a linear scorer of action features to labelled positions, by ridge regression.

Only differences between the actions of a position count: features and values are centred in each
position. Features are scaled to deviation 1; the penalty applies to the scaled weights.
"""

from collections.abc import Sequence
from itertools import count, takewhile
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import shown
from linkzoo.core.kernels import kernels
from linkzoo.core.observation import ObservationSpec
from linkzoo_training.evaluation.labelled_positions import Labels, means, regrets
from linkzoo_training.evaluation.statistics import Estimate, normal_mean
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.linear import action_spec

_HELD_OUT = 0.1  # share of the positions
_PENALTY = 1.0
_STEP = 1000  # positions between rows of the table


class FitRow(NamedTuple):
    """The regret in held-out positions of a scorer fitted to a number of positions."""

    positions: int
    regret: Estimate


class Fit(NamedTuple):
    """A fitted scorer.

    Attributes:
        weights: float32[K, 1 + C], fitted to all positions.
        rows: Results of fits to fewer positions.
        random: The regret of random play in the held-out positions.
    """

    weights: NDArray[np.float32]
    rows: list[FitRow]
    random: float


class _Regression(NamedTuple):
    """Centred regression data of M actions in N positions."""

    inputs: NDArray[np.float32]  # [M, D]
    targets: NDArray[np.float32]  # [M]
    counts: NDArray[np.int64]  # [N], the actions of each position

    def subset(self, chosen: NDArray[np.bool_]) -> "_Regression":
        """Returns the data of the positions where `chosen` [N] is set."""
        rows = np.repeat(chosen, self.counts)
        return _Regression(self.inputs[rows], self.targets[rows], self.counts[chosen])

    def solve(self) -> NDArray[np.float64]:
        """Returns the weights [D] of the ridge regression."""
        square = (self.inputs.T @ self.inputs).astype(np.float64)
        square += _PENALTY * np.eye(len(square))
        product = (self.inputs.T @ self.targets).astype(np.float64)
        return np.asarray(np.linalg.solve(square, product), np.float64)

    def regrets(self, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """Returns the regret of the best action by these weights, in each position [N]."""
        best = _best(self.inputs @ weights, self.counts)
        return regrets(self.targets, self.counts, self.targets[best])


def fit_linear(files: Sequence[Labels]) -> Fit:
    """Fits a scorer to the labels of one game.

    Raises:
        ValueError: There are no labels, they are of different games or score margin weights, or the
            game has no action features.
    """
    games = {labels.game.key: labels.game for labels in files}
    if len(games) != 1 or not any(len(labels.states) for labels in files):
        raise ValueError(f"labels of one game are needed, not of {shown(list(map(str, games)))}")
    weights = sorted({labels.settings.score_margin_weight for labels in files})
    if len(weights) > 1:
        raise ValueError(
            f"score_margin_weight: the labels were made with {shown(weights)}, so their values are "
            "on different scales; make all of them with one weight"
        )
    spec = action_spec(next(iter(games.values())))
    features = np.concatenate([action_features(labels) for labels in files]).astype(np.float32)
    values = np.concatenate([labels.values for labels in files])
    counts = np.concatenate([labels.counts for labels in files])
    context = context_of(spec)
    action_inputs = features[:, action_indices(spec)]
    scale = np.maximum(_centred(action_inputs, counts).std(0), 1e-6)
    factors = context_factors(spec, features[:, context])
    products = (action_inputs / scale)[:, :, None] * factors[:, None, :]
    inputs = _centred(products.reshape(len(products), -1), counts)
    targets = _centred(values[:, None], counts)[:, 0]
    data = _Regression(inputs, targets, counts)
    # A position is held out by its number, so that more labels keep the division.
    held_out = np.arange(len(counts)) % round(1 / _HELD_OUT) == 0
    test = data.subset(held_out)
    rows = [
        FitRow(size, normal_mean(test.regrets(data.subset(first).solve())))
        for size, first in _growing_subsets(~held_out)
    ]
    random_regrets = regrets(test.targets, test.counts, means(test.targets, test.counts))
    return Fit(unscaled(spec, data.solve(), scale), rows, float(random_regrets.mean()))


def _growing_subsets(known: NDArray[np.bool_]) -> list[tuple[int, NDArray[np.bool_]]]:
    """Returns sizes and masks [N] of the first 1,000, 2,000, 4,000 ... and of all known."""
    numbers = np.cumsum(known)
    total = int(known.sum())
    sizes = [*takewhile(lambda size: size < total, (_STEP << n for n in count())), total]
    return [(size, known & (numbers <= size)) for size in sizes]


def action_features(labels: Labels) -> NDArray[np.int8]:
    """Returns the action features int8[M, K] of labelled positions."""
    game = labels.game
    size = action_spec(game).size
    masks = np.zeros((len(labels.states), game.num_actions), np.int8)
    masks[labels.position, labels.actions] = 1
    most_actions = max(labels.counts, default=0)
    features = np.zeros((len(labels.states), most_actions * (1 + size)), np.int16)
    observe_actions = kernels(game).observe_actions
    assert observe_actions is not None  # else `action_spec` has raised
    observe_actions(labels.states, np.empty_like(labels.states), masks, features)
    rows = features.reshape(-1, 1 + size)
    return rows[rows[:, 0] > 0, 1:].astype(np.int8)


def action_indices(spec: ObservationSpec) -> NDArray[np.int64]:
    """Returns the indices of the features that aren't context."""
    return np.setdiff1d(np.arange(spec.size), context_of(spec))


def context_factors(spec: ObservationSpec, context: NDArray[np.float32]) -> NDArray[np.float32]:
    """Returns [M, 1 + C]: 1, and context features [M, C] divided by their largest values."""
    ones = np.ones((len(context), 1), np.float32)
    return np.concatenate([ones, context / _bounds(spec)], 1)


def unscaled(
    spec: ObservationSpec, solved: NDArray[np.float64], scale: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Returns a scorer's weights [K, 1 + C].

    Args:
        spec: The layout of the action features.
        solved: The weights of products of features, divided by `scale`, and `context_factors`.
        scale: The divisors of the features that aren't context.
    """
    columns = action_indices(spec)
    factors = np.concatenate([[1], _bounds(spec)])
    weights = np.zeros((spec.size, len(factors)), np.float32)
    weights[columns] = solved.reshape(len(columns), -1) / scale[:, None] / factors
    return weights


def _bounds(spec: ObservationSpec) -> NDArray[np.float32]:
    """Returns the largest absolute value [C] of each context feature, at least 1."""
    parts = (spec.parts[k] for k in context_of(spec))
    return np.array([max(abs(part.low), abs(part.high), 1) for part in parts], np.float32)


def _centred(numbers: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float32]:
    """Subtracts each position's mean from numbers [M, D]."""
    centre = np.repeat(means(numbers, counts), counts, 0).astype(np.float32)
    return np.asarray(numbers - centre, np.float32)


def _best(scores: NDArray[np.float64], counts: NDArray[np.int64]) -> NDArray[np.intp]:
    """Returns the row of each position's best score [M], the first of equal ones."""
    order = np.lexsort((-scores, np.repeat(np.arange(len(counts)), counts)))
    return np.asarray(order[np.cumsum(counts) - counts])
