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
from linkzoo.core.observation import ObservationSpec
from linkzoo_training.evaluation.labels import Labels, means, regrets
from linkzoo_training.evaluation.statistics import Estimate, normal_mean
from linkzoo_training.search.linear import action_spec, context_of

_HELD_OUT = 0.1  # share of the positions
_PENALTY = 1.0
_STEP = 1000  # positions between rows of the table


class FitRow(NamedTuple):
    """The regret in held-out positions of a scorer fitted to some positions."""

    positions: int
    regret: Estimate


class Fit(NamedTuple):
    """Weights float32[K, 1 + C] of all positions, and what fewer positions give."""

    weights: NDArray[np.float32]
    rows: list[FitRow]
    random: float  # the regret of random play in the held-out positions


def fit_linear(files: Sequence[Labels]) -> Fit:
    """Fits a scorer to the labels of one game.

    Raises:
        ValueError: There are no labels, they are of different games, or the game has no action
            features.
    """
    games = {labels.game.key: labels.game for labels in files}
    if len(games) != 1 or not any(len(labels.states) for labels in files):
        raise ValueError(f"labels of one game are needed, not of {shown(list(map(str, games)))}")
    spec = action_spec(next(iter(games.values())))
    context = context_of(spec)
    own = np.setdiff1d(np.arange(spec.size), context)
    features = np.concatenate([labels.features() for labels in files]).astype(np.float32)
    values = np.concatenate([labels.values for labels in files])
    counts = np.concatenate([labels.counts for labels in files])
    scale = np.maximum(_centred(features[:, own], counts).std(0), 1e-6)
    factors = context_factors(spec, features[:, context])
    inputs = (features[:, own] / scale)[:, :, None] * factors[:, None, :]
    rows = _centred(inputs.reshape(len(inputs), -1), counts)
    targets = _centred(values[:, None], counts)[:, 0]
    # A position is held out by its number, so that more labels keep the division.
    held_out = np.arange(len(counts)) % round(1 / _HELD_OUT) == 0
    position = np.repeat(np.arange(len(counts)), counts)
    tests = held_out[position]
    test_rows, test_values, test_counts = rows[tests], targets[tests], counts[held_out]
    table = []
    most = int((~held_out).sum())
    for size in (*takewhile(lambda size: size < most, (_STEP << n for n in count())), most):
        known = np.flatnonzero(~held_out)[:size]
        used = np.isin(position, known)
        scores = test_rows @ _ridge(rows[used], targets[used])
        chosen = test_values[_best(scores, test_counts)]
        table.append(FitRow(size, normal_mean(regrets(test_values, test_counts, chosen))))
    weights = unscaled(spec, _ridge(rows, targets), scale)
    uniform = regrets(test_values, test_counts, means(test_values, test_counts))
    return Fit(weights, table, float(uniform.mean()))


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
    context = context_of(spec)
    own = np.setdiff1d(np.arange(spec.size), context)
    weights = np.zeros((spec.size, 1 + len(context)), np.float32)
    factors = np.concatenate([[1], _bounds(spec)])
    weights[own] = solved.reshape(len(own), -1) / scale[:, None] / factors
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


def _ridge(rows: NDArray[np.float32], targets: NDArray[np.float32]) -> NDArray[np.float64]:
    """Returns the weights [D] of a ridge regression of targets [M] on rows [M, D]."""
    square = (rows.T @ rows).astype(np.float64) + _PENALTY * np.eye(rows.shape[1])
    return np.asarray(np.linalg.solve(square, (rows.T @ targets).astype(np.float64)), np.float64)
