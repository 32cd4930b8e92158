"""Batch functions give the same results as single games."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linkzoo import make_vec
from linkzoo.engine.rng import game_seed, game_seeds, permutation, random_u64, random_u64s, shuffle

numbers = st.integers(0, 2**64 - 1)


@given(
    numbers,
    st.integers(0, 2**32 - 1),
    st.lists(st.tuples(numbers, numbers, st.integers(0, 2**32 - 1)), max_size=9),
)
def test_words_are_those_of_each(seed: int, stream: int, rows: list[tuple[int, int, int]]) -> None:
    """The same bits, whichever of the arguments are arrays."""
    seeds, indices, positions = (
        (np.array(part, np.uint64) for part in zip(*rows, strict=True))
        if (rows)
        else (np.zeros(0, np.uint64),) * 3
    )
    each = [random_u64(*map(np.uint64, (s, stream, i, p))) for s, i, p in rows]
    assert random_u64s(seeds, stream, indices, positions).tolist() == each
    each = [random_u64(np.uint64(seed), stream, np.uint64(i), 7) for _, i, _ in rows]
    assert random_u64s(seed, stream, indices, 7).tolist() == each
    each = [random_u64(np.uint64(seed), stream, np.uint64(5), np.uint64(p)) for _, _, p in rows]
    assert random_u64s(seed, stream, 5, positions).tolist() == each


def test_game_seeds_are_those_of_each() -> None:
    """The array function and the scalar function agree."""
    seeds = game_seeds(np.uint64(2**64 - 1), np.arange(5), 3)
    assert seeds.tolist() == [game_seed(np.uint64(2**64 - 1), i, 3) for i in range(5)]
    vec = make_vec("linkage", 5)
    vec.reset(9)
    assert vec.states["seed"].tolist() == [vec.seed_of(i, 0) for i in range(5)]


def test_a_permutation_is_a_shuffle() -> None:
    """It has every number once, and depends on counters alone."""
    items = np.arange(50)
    shuffle(items, 50, np.uint64(3), 9000, np.uint64(4))
    order = permutation(50, 3, 9000, 4)
    assert order.tolist() == items.tolist()
    assert sorted(order.tolist()) == list(range(50))
    assert order.tolist() != permutation(50, 3, 9000, 5).tolist()
    assert permutation(0, 3, 9000, 4).tolist() == []


@pytest.mark.slow
def test_rows_are_shown_again_alone() -> None:
    """Only the games that were changed from outside are shown again."""
    vec = make_vec("linkage", 6)
    now = vec.reset(1)
    for _ in range(3):
        now = vec.step(now.action_mask.argmax(1))
    other = make_vec("linkage", 6)
    other.reset(2)
    rows = np.array([4, 1])
    vec.states[rows] = other.states[rows]
    before = now.observation.copy(), now.action_mask.copy(), now.seat.copy()
    now = vec.refresh(rows)
    found = now.observation.copy(), now.action_mask.copy(), now.seat.copy()
    now = vec.refresh()
    for old, some, every in zip(
        before, found, (now.observation, now.action_mask, now.seat), strict=True
    ):
        assert (some == every).all()
        assert (np.delete(some, rows, 0) == np.delete(old, rows, 0)).all()
    assert (found[1][rows] != before[1][rows]).any()
    vec.refresh(rows[:0])
    assert (now.observation == found[0]).all()


@pytest.mark.parametrize("row", [5, -1, 2**40])
def test_rows_that_there_are_not(row: int) -> None:
    """The error names the environment and the range."""
    vec = make_vec("linkage", 5)
    vec.reset(1)
    with pytest.raises(ValueError, match=rf"^rows: environment {row} is not in 0\.\.4$"):
        vec.refresh(np.array([2, row]))
    with pytest.raises(ValueError, match=r"^rows are float64\[1\], not integers"):
        vec.refresh(np.array([0.5]))
