"""Rows of bytes that are stored and loaded in words."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from linkzoo.cuda.staged import store, word_at, words


@pytest.mark.slow  # quick: test_vector.py
@settings(deadline=None, max_examples=20)  # the first call compiles
@given(size=st.integers(1, 40), count=st.integers(1, 12), data=st.data())
def test_rows_are_stored_and_loaded(size: int, count: int, data: st.DataObject) -> None:
    """In any order; bytes outside the row stay as they are."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    expected = rng.integers(0, 256, (count, size), np.uint8)
    there = rng.integers(0, 256, 8 * words(count * size), np.uint8)
    stored = there.copy()
    for done, i in enumerate(rng.permutation(count)):
        row = rng.integers(0, 2**64, words(size), np.uint64)
        row.view(np.uint8)[:size] = expected[i]
        store(row, size, stored.view(np.uint64), int(i))
        there[i * size : (i + 1) * size] = expected[i]
        assert np.array_equal(stored, there), done
    for i in range(count):
        row = np.zeros(words(size), np.uint64)
        for k in range(len(row)):
            row[k] = word_at(stored.view(np.uint64), i * size, k, size)
        assert np.array_equal(row.view(np.uint8)[:size], expected[i])
        assert not row.view(np.uint8)[size:].any()
