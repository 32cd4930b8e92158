"""Fifteen worked examples of the rules; spaces as on the usual board."""

import pytest

from tests.link_o.helpers import Both, fill, nearly_full, position
from tests.link_o.oracle import Json, total


def placed(data: Json, space: int) -> object:
    """The value of a LINK-O on a connector."""
    return data["board"][str(space)]["value"]


def test_opening() -> None:
    """E1 (R5): the double only, on its colour's connectors only."""
    both = Both(position({}, [["red 2-2", "red 1-3"], ["..."]], first=(0, 1)))
    assert both.legal() == {"@4 red 2-2", "@8 red 2-2"}


def test_first_turn_of_the_second_player() -> None:
    """E2 (R6, R12): adjacency isn't needed on connectors, but the link's value counts."""
    hand = ["blue 0-1", "blue 2-2", "blue 3-3", "blue LINK-O"]
    both = Both(position({4: "red 2-2"}, [["..."], hand], seat=1, first=(1,)))
    assert both.on(28) == {"blue 2-2", "blue LINK-O"}
    assert both.on(24) == {"blue 3-3", "blue 2-2", "blue LINK-O"}
    assert len(both.legal()) == 5


def test_the_sheets_connector_example() -> None:
    """E3 (R12, R14): a LINK-O beside a 3 is a 3, for the tiles next to it too."""
    held = [*(f"red {v}-{v}" for v in range(5)), "red LINK-O", "red 3-4"]
    hands = [held, ["red 0-1", "red 1-3"], ["..."]]
    both = Both(position({28: "blue 3-3"}, hands, by=2))
    assert both.on(4) == {"red 3-3", "red LINK-O"}
    assert both.legal() == {"@4 red 3-3", "@4 red LINK-O"}
    both.play("@4 red LINK-O")
    assert placed(both.data, 4) == 3
    assert both.data["seat"] == 1
    assert both.legal() == {"@3 red 1-3", "@5 red 3-1"}


def test_blocking() -> None:
    """E4 (R12): two different values, and nothing goes between, no LINK-O either."""
    hand = ["blue 2-2", "blue 3-3", "blue LINK-O", "blue 0-2"]
    both = Both(position({4: "red 2-2", 29: "blue 3-0"}, [hand, ["..."]]))
    assert both.on(28) == set()
    assert both.on(30) == {"blue 0-2", "blue LINK-O"}
    freed = Both(position({29: "blue 3-0"}, [[*hand, "red 2-2"], ["..."]]))
    assert freed.on(28) == {"blue 3-3", "blue LINK-O"}


def test_value_from_the_own_ring() -> None:
    """E5 (R14): and it goes over to the link."""
    hands = [
        ["red LINK-O", "red 0-0"],
        [*(f"blue {v}-{v}" for v in range(5)), "blue LINK-O", "blue 0-1"],
        ["..."],
    ]
    both = Both(position({5: "red 1-2"}, hands, by=2))
    assert both.on(4) == {"red LINK-O"}
    both.play("@4 red LINK-O")
    assert placed(both.data, 4) == 1
    assert both.on(28) == {"blue 1-1", "blue LINK-O"}
    assert both.legal() == {"@28 blue 1-1", "@28 blue LINK-O"}


def test_undetermined_until_something_fixes_it() -> None:
    """E6 (R14): the first tile beside an undetermined LINK-O gives it its value."""
    doubles = [f"blue {v}-{v}" for v in range(5)]
    hands = [["red 0-4", "red 1-1"], [*doubles, "blue LINK-O"], ["..."]]
    both = Both(position({4: "red LINK-O"}, hands, by=2))
    assert placed(both.data, 4) is None
    assert both.legal("red 0-4") == {"@3 red 0-4", "@3 red 4-0", "@5 red 0-4", "@5 red 4-0"}
    both.play("@5 red 4-0")
    assert placed(both.data, 4) == 4
    assert both.on(28) == {"blue 4-4", "blue LINK-O"}


def test_a_pair_of_undetermined_linkos() -> None:
    """E7 (R14): they share the first value that either gets."""
    hands = [["blue 0-3", "blue 1-2"], ["red 0-3", "red 0-1"], ["..."]]
    both = Both(position({4: "red LINK-O", 28: "blue LINK-O"}, hands, by=2))
    assert (placed(both.data, 4), placed(both.data, 28)) == (None, None)
    both.play("@29 blue 3-0")
    assert (placed(both.data, 4), placed(both.data, 28)) == (3, 3)
    assert both.legal() == {"@3 red 0-3", "@5 red 3-0"}


def test_both_ends_must_match() -> None:
    """E8 (R11, R15): a LINK-O may join two values."""
    board = {10: "red 2-1", 12: "red 4-0"}
    hands = [["red 1-4", "red 2-2", "red LINK-O"], ["red 0-1", "red 1-1"], ["..."]]
    both = Both(position(board, hands, by=2))
    assert both.on(11) == {"red 1-4", "red LINK-O"}
    both.play("@11 red LINK-O")
    assert both.data["board"]["11"] == {"tile": "red LINK-O", "by": 0}


def test_beside_a_regular_linko() -> None:
    """E9 (R15): both orientations."""
    both = Both(position({10: "red LINK-O"}, [["red 1-4", "red 0-0"], ["..."]]))
    assert both.on(11) == {"red 1-4", "red 4-1", "red 0-0"}


def test_digging_on_the_first_turn() -> None:
    """E10 (R7): until a double or LINK-O can be placed; the rest of the bag is untouched."""
    top = ["yellow 0-1", "yellow 2-2", "yellow 3-3"]
    hands = [["red 0-1"], ["red 4-4", "..."]]
    both = Both(position({}, hands, seat=1, top=top, first=(0, 1), starter=1))
    bag = both.data["bag"]
    both.play("@4 red 4-4")
    after = both.data
    assert after["dug"] == [2, 0]
    assert after["hands"][0] == ["red 0-1", "yellow 0-1", "yellow 2-2"]
    assert after["bag"] == bag[2:]
    assert both.legal() == {"@48 yellow 2-2", "@52 yellow 2-2"}


@pytest.mark.parametrize("space", [4, 10, 37, 63])
def test_blocked(space: int) -> None:
    """E11 (R16, R18): one digs the last tile and passes; 7, 19 and 8: seat 0 scores 27."""
    hands = [["red 3-4"], ["green LINK-O"], ["blue 4-4"]]
    data, move = nearly_full(hands, 0, space, ["yellow 1-2"])
    data |= {"options": data["options"] | {"target": 0}}
    both = Both(data).play(move)
    after = both.data
    assert after["hands"] == [["red 3-4"], ["green LINK-O", "yellow 1-2"], ["blue 4-4"]]
    assert [total(hand) for hand in after["hands"]] == [7, 19, 8]
    assert after["last_round"] == {"winner": 0, "points": 27, "how": "blocked"}
    assert (after["scores"], after["winners"], after["seat"]) == ([27, 0, 0], [0], None)
    assert (after["dug"], after["passed"]) == ([0, 1, 0], [True, True, True])


def test_a_tie_for_lowest() -> None:
    """E12 (R19): 7, 7 and 8: nobody scores; the next round begins."""
    hands = [["red 3-4", "yellow 0-0"], ["blue 3-4"], ["green 4-4"]]
    data, move = nearly_full(hands, 1, 20, [])
    after = Both(data).play(move).data
    assert after["last_round"] == {"winner": None, "points": 0, "how": "blocked"}
    assert (after["scores"], after["round"]) == ([0, 0, 0], 2)


def test_going_out() -> None:
    """E13 (R17): 16 + 7 + 3."""
    hands = [["red 2-2"], ["yellow 3-4", "yellow LINK-O"], ["yellow 1-2"]]
    board = fill([s for s in range(16, 48) if s != 28], hands[1] + hands[2], {28: "blue 2-2"})
    after = Both(position(board, hands)).play("@4 red 2-2").data
    assert after["last_round"] == {"winner": 0, "points": 26, "how": "out"}
    assert (after["scores"], after["round"]) == ([26, 0, 0], 2)


def test_a_first_turn_pass_lifts_the_restriction() -> None:
    """E14 (R7): with an empty bag; next time red 2-3 is legal beside the red 2-2."""
    hand = ["red 2-3", *(f"{color} 0-{v}" for color in ("green", "yellow") for v in (1, 2, 3))]
    both = Both(position({4: "red 2-2"}, [hand, ["..."]], seat=1, bag=[], first=(0,)))
    assert "@5 red 2-1" in both.legal()
    both.play("@5 red 2-1")
    assert (both.data["seat"], both.data["passed"]) == (1, [True, False])
    assert both.data["first_turn"] == [False, False]
    both.play("@6 red 1-1")
    assert both.data["seat"] == 0
    assert both.legal() == {"@3 red 3-2"}


def test_a_double_in_a_chain() -> None:
    """E15 (R6, R13): on a first turn it may go on a regular space, where pairs may not."""
    board = {4: "red 3-3", 5: "red 3-0", 3: "red 2-3"}
    hand = ["red 0-0", "red 0-2", "red 2-2", "red 1-1", "red 0-1"]
    both = Both(position(board, [hand, ["..."]], first=(0,)))
    assert both.on(6) == {"red 0-0"}
    assert both.on(2) == {"red 2-2"}
    assert both.legal() == {
        "@6 red 0-0",
        "@2 red 2-2",
        *(f"@8 red {v}-{v}" for v in range(3)),
    }
    board = {4: "red 1-1", 5: "red 1-3"}
    chain = Both(position(board, [["red 3-3", "red 2-3"], ["..."]], first=(0,)))
    assert chain.legal() == {"@6 red 3-3", "@8 red 3-3"}
    later = Both(position(board, [["red 3-3", "red 2-3"], ["..."]]))
    assert later.legal() == {"@6 red 3-3", "@6 red 3-2"}
