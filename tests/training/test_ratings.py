"""Bradley-Terry ratings: known strengths are found, and intervals hold them."""

import numpy as np
import pytest

from linkzoo_training.evaluation.ratings import Pairing, bradley_terry
from tests.driving import first_quick


def drawn(strengths: list[float], sides: int, blocks: int, seed: int) -> list[Pairing]:
    """Returns pairings of agents that win as often as Luce's model says."""
    rng = np.random.Generator(np.random.PCG64(seed))
    pairings = []
    for a, one in enumerate(strengths):
        for b, other in enumerate(strengths):
            if a != b and (a < b or sides > 2):
                chance = one / (one + (sides - 1) * other)
                wins = rng.random((blocks, 1, sides)) < chance
                pairings.append(Pairing(a, b, wins.astype(np.float64)))
    return pairings


def elo(strengths: list[float]) -> list[float]:
    """Returns the true ratings."""
    ratings = 400 * np.log10(strengths)
    return [float(rating) for rating in ratings - ratings.mean()]


@pytest.mark.parametrize("sides", [2, 4])
def test_known_strengths_are_found(sides: int) -> None:
    """Four standard errors are about 35 points."""
    strengths = [8.0, 2.0, 1.0, 0.25]
    ratings = bradley_terry(drawn(strengths, sides, 1500, seed=sides), 4)
    assert [rating.mean for rating in ratings] == pytest.approx(elo(strengths), abs=35)
    assert sum(rating.mean for rating in ratings) == pytest.approx(0, abs=1e-6)
    for rating in ratings:
        assert rating.low < rating.mean < rating.high
        assert rating.high - rating.low < 60


@pytest.mark.parametrize(
    ("strengths", "sides", "blocks"),
    first_quick(
        [
            ([1.0, 1.0], 2, 100),
            ([1.0, 150.0], 2, 200),  # about one lost game in 150
            ([1.0, 4.0, 16.0, 250.0, 4000.0], 2, 200),
            ([1.0, 1.0, 2.0, 60.0], 3, 60),
        ],
        1,
        1,
    ),
)
def test_intervals_hold_the_truth_as_often_as_they_say(
    strengths: list[float], sides: int, blocks: int
) -> None:
    """Of 100 tournaments, 95 % intervals miss a rating in 5; in 13 or more with chance 0.002."""
    misses = np.zeros(len(strengths))
    for seed in range(100):
        ratings = bradley_terry(drawn(strengths, sides, blocks, seed), len(strengths))
        held = [
            one.low <= true <= one.high for one, true in zip(ratings, elo(strengths), strict=True)
        ]
        misses += ~np.array(held)
    assert misses.max() < 13


@pytest.mark.parametrize("blocks", [1, 50, 200])
@pytest.mark.parametrize("sides", [2, 3])
def test_the_rating_of_an_agent_that_always_wins_lies_inside_its_interval(
    blocks: int, sides: int
) -> None:
    """R12: the rating and its interval are fitted to the same blocks and the same prior."""
    won, even = np.ones((blocks, 1, sides)), np.full((blocks, 1, sides), 1 / sides)
    pairings = [Pairing(0, 1, won), Pairing(0, 2, won), Pairing(1, 2, even)]
    if sides > 2:
        pairings += [Pairing(1, 0, 1 - won), Pairing(2, 0, 1 - won), Pairing(2, 1, even)]
    first, *others = bradley_terry(pairings, 3)
    for rating in (first, *others):
        below, above = rating.mean - rating.low, rating.high - rating.mean
        assert min(below, above) > 0.15 * (rating.high - rating.low)
        assert abs(rating.mean) < 1000
    assert first.low > max(other.high for other in others) or blocks == 1
    assert first.mean == max(one.mean for one in (first, *others))


@pytest.mark.parametrize("score", [0.0, 0.5, 1.0])
def test_blocks_that_all_end_alike_leave_an_interval(score: float) -> None:
    """With 50 even blocks, a share of about 0.48 to 0.52, 15 points of Elo to either side."""
    for rating in bradley_terry([Pairing(0, 1, np.full((50, 1, 2), score))], 2):
        assert rating.high - rating.low > 10
        if score == 0.5:
            assert rating.low < -5 < 5 < rating.high


def test_the_games_of_a_block_count_together() -> None:
    """A block's games share their luck: two variants that end alike say no more than one."""
    (pairing,) = drawn([3.0, 1.0], 2, 100, seed=1)
    twice = Pairing(0, 1, pairing.share.repeat(2, axis=1))
    assert bradley_terry([twice], 2) == bradley_terry([pairing], 2)
