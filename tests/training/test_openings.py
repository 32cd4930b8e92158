"""Openings of matches: new games after some random plies."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import get_game
from linkzoo_training.evaluation.openings import RandomPlies, read_openings

LINKAGE = get_game("linkage")


def openings(seed: int, indices: range, **options: int) -> NDArray[Any]:
    blank = LINKAGE.blank(2, options)
    return RandomPlies(2, 4).begin(LINKAGE, blank, np.uint64(seed), indices)


def test_openings_by_name() -> None:
    assert read_openings(None, LINKAGE) == read_openings("2-4", LINKAGE) == (2, 4)
    assert read_openings("3", LINKAGE) == (3, 3)
    assert read_openings("0-0", LINKAGE) == (0, 0)
    for wrong in ("book", "٣", "2-٣", "9" * 5000):  # digits of other scripts are refused
        with pytest.raises(ValueError, match=r"openings: '.*' is no number of plies such as"):
            read_openings(wrong, LINKAGE)


def test_an_opening_depends_on_its_index_and_the_seed_alone() -> None:
    lengths = openings(1, range(500))
    assert set(lengths["ply"].tolist()) == {2, 3, 4}
    assert len({state.tobytes() for state in lengths}) > 450
    part = openings(1, range(100, 130))
    assert (part == lengths[100:130]).all()
    assert (openings(2, range(500)) != lengths).any()


def test_another_threshold_has_the_same_openings() -> None:
    """So the games of a block of the fair ladder share them (only R10 differs)."""
    one, other = (openings(1, range(100), threshold=threshold) for threshold in (13, 14))
    assert (one["threshold"] == 13).all()
    one["threshold"] = 14
    assert np.array_equal(one, other)
