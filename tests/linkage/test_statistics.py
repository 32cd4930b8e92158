"""Uniform random play of Linkage has the statistics that section 3 of the rules gives."""

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.core.kernels import kernels
from tests.linkage.helpers import GAME, start

GAMES = 2000


@dataclass(frozen=True)
class Sample:
    """Per game: More's win, pieces, groups, passes by seat; per ply: the legal actions."""

    more_won: NDArray[np.bool_]
    pieces: NDArray[np.int64]
    groups: NDArray[np.int64]
    passes: NDArray[np.int64]
    legal: list[list[int]]


@pytest.fixture(scope="module")
def sample() -> Sample:
    """2,000 games of uniform play."""
    rng = np.random.default_rng(2007)
    states = np.repeat(start().reshape(1), GAMES)
    masks = np.empty((GAMES, GAME.num_actions), np.int8)
    kernels(GAME).fill_masks(states, masks)
    previous = np.full(GAMES, -1)
    passes = np.zeros((GAMES, 2), np.int64)
    legal: list[list[int]] = []
    while (live := states["seat"] >= 0).any():
        counts = masks.sum(axis=1)
        legal.append(counts[live].tolist())
        again = live & (states["seat"] == previous)
        passes[again, 1 - previous[again]] += 1
        previous = states["seat"].astype(np.int64)
        chosen = rng.integers(np.maximum(counts, 1))
        actions = np.where(live, (masks.cumsum(axis=1) > chosen[:, None]).argmax(axis=1), -1)
        kernels(GAME).play(states, actions, masks)
    won = states["winners"] == 1
    groups = np.array([GAME.to_dict(state)["groups"] for state in states])
    return Sample(won, states["ply"].astype(np.int64), groups, passes, legal)


@pytest.mark.slow
def test_r10_more_wins(sample: Sample) -> None:
    """R10: More wins about 91.4 % of uniform games."""
    assert 100 * sample.more_won.mean() == pytest.approx(91.4, abs=2)


@pytest.mark.slow
def test_r9_groups(sample: Sample) -> None:
    """R9: 14.27 groups with a standard deviation of 2.04, between 5 and 22."""
    assert sample.groups.mean() == pytest.approx(14.27, abs=0.2)
    assert sample.groups.std() == pytest.approx(2.04, abs=0.15)
    assert sample.groups.min() >= 5
    assert sample.groups.max() <= 22


@pytest.mark.slow
def test_r8_placements(sample: Sample) -> None:
    """R8: 21.5 pieces a game, in these shares."""
    assert sample.pieces.mean() == pytest.approx(21.5, abs=0.2)
    for count, percent in [(19, 1.4), (20, 11.7), (21, 34.9), (22, 38.0), (23, 13.1), (24, 0.8)]:
        share = 100 * (sample.pieces == count).mean()
        assert share == pytest.approx(percent, abs=4 * np.sqrt(percent * (100 - percent) / GAMES))
    assert set(sample.pieces.tolist()) <= set(range(16, 25))


def test_r4_legal_actions(sample: Sample) -> None:
    """R4: 111 legal actions on average, and the first plies' own means."""
    decisions = [count for ply in sample.legal for count in ply]
    assert np.mean(decisions) == pytest.approx(111, abs=2)
    assert set(sample.legal[0]) == {320}
    by_ply = [254, 232, 213, 194, 177, 160, 143, 127, 112, 97]
    for ply, expected in enumerate(by_ply, 1):
        assert np.mean(sample.legal[ply]) == pytest.approx(expected, rel=0.02)
    assert min(decisions) >= 1


@pytest.mark.slow
def test_r6_passes(sample: Sample) -> None:
    """R6: 6.3 % of the games have a pass, none more than two, both seats alike."""
    total = sample.passes.sum(axis=1)
    assert 100 * (total > 0).mean() == pytest.approx(6.3, abs=2)
    assert total.max() <= 2
    first, second = sample.passes.sum(axis=0)
    assert abs(first - second) <= 4 * np.sqrt(first + second)
