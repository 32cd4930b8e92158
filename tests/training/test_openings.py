"""Where matches begin: random plies, and books from which every side can win."""

import json
from pathlib import Path

import numpy as np
import pytest

from linkzoo import RandomAgent, get_game
from linkzoo_training.evaluation import openings as module
from linkzoo_training.evaluation.make_opening_book import _wins, make_book
from linkzoo_training.evaluation.openings import (
    BOOKS,
    Openings,
    random_openings,
    read_openings,
)

LINKAGE = get_game("linkage")


def read(text: str | None, seed: int = 1, **options: object) -> Openings:
    return read_openings(text, LINKAGE, LINKAGE.blank(2, options), seed, 1000)


def test_the_book_is_the_default_of_the_standard_game_only() -> None:
    assert read(None).name == read("book").name == "book"
    assert read(None, threshold=11).name == "2-4"
    assert read("3").plies == (3, 3)
    love_links = get_game("love_links")
    assert read_openings(None, love_links, love_links.blank(), 1, 10).name == "2-4"
    assert (
        read_openings(None, LINKAGE, LINKAGE.blank(), 1, 1025).name == "2-4"
    )  # the book has 1,024


def test_a_match_plays_each_opening_of_the_book_once_in_an_order_of_its_own() -> None:
    book, other = read("book"), read("book", seed=2)
    count = 1024
    found = book.positions(LINKAGE, LINKAGE.blank(), range(count))
    assert set(found["ply"].tolist()) == {2, 3, 4}
    assert len({state.tobytes() for state in found}) == count
    part = book.positions(LINKAGE, LINKAGE.blank(), range(100, 130))
    assert (part == found[100:130]).all()
    again = other.positions(LINKAGE, LINKAGE.blank(), range(count))
    assert (again != found).any()
    assert {state.tobytes() for state in again} == {state.tobytes() for state in found}
    with pytest.raises(ValueError, match="1,025 blocks: the book has 1,024 openings"):
        book.positions(LINKAGE, LINKAGE.blank(), range(1024, 1025))


def test_a_book_for_other_rules_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = json.loads((BOOKS / "linkage.json").read_text())
    (tmp_path / "linkage.json").write_text(json.dumps(data | {"seed": data["seed"] + 1}))
    monkeypatch.setattr(module, "BOOKS", tmp_path)
    with pytest.raises(ValueError, match="made for other rules of linkage"):
        read("book")


def test_a_book_holds_openings_from_which_the_judge_won_with_both_sides() -> None:
    """Random play loses nine games of ten as Fewer, so most openings fail."""
    data = make_book(LINKAGE, RandomAgent(), 10)
    assert data == make_book(LINKAGE, RandomAgent(), 10)
    assert len(set(data["indices"])) == 10
    assert data["indices"][-1] > 20
    states = random_openings(
        LINKAGE, LINKAGE.blank(), np.uint64(data["seed"]), (2, 4), data["indices"]
    )
    wins = _wins(LINKAGE, RandomAgent(), states, range(10))
    assert wins.shape == (10, 2)
    assert (wins.sum(1) == data["games"]).all()
