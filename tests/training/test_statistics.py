"""Intervals and Elo: checked by hand, against the literature, and by how often they hold."""

from math import sqrt

import numpy as np
import pytest

from linkzoo_training.evaluation.statistics import elo, from_blocks, wilson
from tests.driving import first_quick


def test_intervals() -> None:
    # Newcombe, "Two-sided confidence intervals for the single proportion" (1998), table I.
    assert wilson(81 / 263, 263) == pytest.approx((0.3080, 0.2553, 0.3662), abs=1e-4)
    assert wilson(0 / 20, 20) == pytest.approx((0, 0, 0.1611), abs=1e-4)
    for count in (1, 7, 20, 500, 1050, 2100):
        for wins in {0, 1, count // 2, count - 1, count}:
            share, low, high = wilson(wins / count, count)
            assert 0 <= low <= share <= high <= 1
    scores = np.array([1.0, 0.5, 0.5, 0.0, 1.0])
    half = 1.959964 * scores.std(ddof=1) / sqrt(5)
    assert from_blocks(scores, 0, 1) == pytest.approx((0.6, 0.6 - half, 0.6 + half))
    half = 1.959964**2 / 2 / (8 + 1.959964**2)  # as if about two blocks had been won, two lost
    assert from_blocks(np.full(8, 0.5), 0, 1) == pytest.approx((0.5, 0.5 - half, 0.5 + half))
    assert from_blocks(np.ones(20), 0, 1) == pytest.approx((1, 1 - 0.1611, 1), abs=1e-4)
    assert from_blocks(np.full(20, -1.0), -1, 1) == pytest.approx((-1, -1, -0.6777), abs=1e-4)
    assert from_blocks(np.array([0.5]), 0, 1).high > 0.9


def test_intervals_cover_the_truth() -> None:
    """Blocks of two correlated games: about 95 % of the intervals hold the true mean."""
    rng = np.random.Generator(np.random.PCG64(1))
    covered = 0
    for _ in range(2000):
        luck = rng.random((200, 1))
        blocks = (0.6 * luck + 0.4 * rng.random((200, 2)) < 0.5).mean(1)
        estimate = from_blocks(blocks, 0, 1)
        covered += estimate.low <= 0.5 <= estimate.high
    assert 0.93 <= covered / 2000 <= 0.97


@pytest.mark.parametrize("blocks", first_quick([10, 100]))
@pytest.mark.parametrize(
    "chances",  # of block scores 0, 1/4, ..., 1
    first_quick(
        [
            [0, 0, 1, 0, 0],
            [0.001, 0.002, 0.99, 0.005, 0.002],
            [0, 0, 0.98, 0, 0.02],
            [0, 0.05, 0.9, 0.05, 0],
            [0.1, 0.2, 0.4, 0.2, 0.1],
            [0, 0, 0, 0.01, 0.99],
            [0, 0, 0.02, 0, 0.98],
            [0.005, 0, 0, 0, 0.995],
            [0.02, 0, 0, 0, 0.98],
            [0, 0, 0, 0, 1],
        ],
        3,
        7,
    ),
)
def test_intervals_cover_the_truth_of_draws_and_of_certain_results(
    blocks: int, chances: list[float]
) -> None:
    """Draws: no interval has the width 0, and those of nearly certain results hold the truth too.

    95 % where all outcomes are common, and more where some are rare.
    """
    rng, outcomes = np.random.Generator(np.random.PCG64(2)), np.arange(5) / 4
    truth, covered = float(outcomes @ chances), 0
    for _ in range(1000):
        estimate = from_blocks(rng.choice(outcomes, blocks, p=chances), 0, 1)
        assert estimate.high - estimate.low > 1 / blocks / 4
        covered += estimate.low - 1e-12 <= truth <= estimate.high + 1e-12
    assert covered >= 940


def test_elo() -> None:
    assert elo(0.5) == 0
    assert elo(10 / 11) == pytest.approx(400)
    assert elo(0.0) is None
    assert elo(1.0) is None
