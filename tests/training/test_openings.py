"""Openings of matches: new games after some random plies."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import RandomAgent, get_game
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.openings import (
    RandomPlies,
    describe_openings,
    read_openings,
    standard_openings,
)

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


@pytest.mark.parametrize(
    ("chance", "length", "openings"), [(True, 500, "0"), (False, 19, "0"), (False, 20, "2-4")]
)
def test_games_with_chance_and_short_games_begin_at_the_start(
    chance: bool, length: int, openings: str
) -> None:
    game = get_game("love_links")
    facts = replace(game.facts, chance=chance, typical_length=9, max_length=length)
    game = replace(game, facts=facts)
    assert standard_openings(game) == openings
    assert read_openings(None, game) == read_openings(openings, game)


def test_a_result_names_its_openings() -> None:
    """In its JSON, its title and for the openings that the game chooses."""
    texts = {
        "0": "from the start",
        "0-0": "from the start",
        "1": "after 1 random ply",
        "2-4": "after 2-4 random plies",
        "late.jsonl": "from late.jsonl",
    }
    assert {text: describe_openings(text) for text in texts} == texts
    agent = RandomAgent()
    for game, openings in (("love_links", "0"), ("linkage", "2-4")):
        result = play_match(game, agent, agent, 1)
        assert result.to_dict()["openings"] == openings
        assert result.title.endswith(f" games {texts[openings]}")


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
