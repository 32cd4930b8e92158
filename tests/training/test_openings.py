"""Where matches begin: new games after some random plies."""

import numpy as np
import pytest

from linkzoo import get_game
from linkzoo_training.evaluation.openings import read_openings

LINKAGE = get_game("linkage")


def test_openings_by_name() -> None:
    assert read_openings(None, LINKAGE, 1).name == "2-4"
    assert read_openings("3", LINKAGE, 1).plies == (3, 3)
    for wrong in ("book", "٣", "2-٣", "9" * 5000):  # N6: no digits of other scripts
        with pytest.raises(ValueError, match=r"openings: '.*' is no number of plies such as"):
            read_openings(wrong, LINKAGE, 1)


def test_an_opening_depends_on_its_index_and_the_seed_alone() -> None:
    openings = read_openings("2-4", LINKAGE, 1)
    found = openings.positions(LINKAGE, LINKAGE.blank(), range(500))
    assert set(found["ply"].tolist()) == {2, 3, 4}
    assert len({state.tobytes() for state in found}) > 450
    part = openings.positions(LINKAGE, LINKAGE.blank(), range(100, 130))
    assert (part == found[100:130]).all()
    other = read_openings("2-4", LINKAGE, 2).positions(LINKAGE, LINKAGE.blank(), range(500))
    assert (other != found).any()


def test_another_threshold_has_the_same_openings() -> None:
    """What a block of the fair ladder shares (R10 alone differs)."""
    openings = read_openings("2-4", LINKAGE, 1)
    one, other = (
        openings.positions(LINKAGE, LINKAGE.blank(2, {"threshold": threshold}), range(100))
        for threshold in (13, 14)
    )
    assert (one["threshold"] == 13).all()
    one["threshold"] = 14
    assert np.array_equal(one, other)
