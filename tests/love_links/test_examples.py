"""Worked examples of single rules, and two examples of the printed sheet, corrected."""

import pytest

from tests.love_links.helpers import (
    GAME,
    ends,
    legal_list,
    legal_texts,
    play_text,
    position,
    read,
    score,
)
from tests.love_links.oracle import Json, Oracle, read_move

E5_CHAIN = "4-7@-,7-10@A,10-8@A,8-6@A"
E13_CHAIN = "4-7,7-10,10-4,2-6"
FULL = (
    "3-2 3-4 3-4 3-5 3-5 3-6 3-6 3-7 3-7 3-8 3-8 3-10 3-10 "
    "5-2 5-3 5-4 5-4 5-6 5-6 5-7 5-8 5-8 5-10 5-10"
)


def e5(**changes: object) -> Json:
    return position(E5_CHAIN, hands=("6-4,2-3,2-5", "9-M"), **changes)


def follow(data: Json, moves: str, expected: int) -> Json:
    """Plays moves on game and oracle; both give seat 0's side this score. Returns the end."""
    state, oracle = read(data), Oracle.read(data)
    before = oracle.scores[0]
    for text in filter(None, moves.split(", ")):
        assert legal_texts(state) == {str(move) for move in oracle.moves()}
        play_text(state, text)
        oracle.apply(read_move(text))
        assert GAME.to_dict(state) == oracle.to_dict()
    assert score(state) - before == expected
    return GAME.to_dict(state)


@pytest.mark.parametrize(
    "second", ["LOCK 10-7 @1", "LOCK 10-7 @0"], ids=["another bracelet", "the same bracelet"]
)
def test_two_matches_in_a_turn(second: str) -> None:
    """1 point for the first match and 3 for the second, on any bracelet."""
    data = position("7-4", "9-10", hands=("4-10,10-7,2-3", "9-M"))
    assert follow(data, "LOCK 4-10 @0", 1)["matched"] is True
    end = follow(data, f"LOCK 4-10 @0, {second}", 4)
    assert end["seat"] == 1
    assert end["matched"] is False


def test_a_lone_match_on_the_second_move() -> None:
    """No point for the first link, then 1 and not 3."""
    data = position("7-4", "9-10", hands=("2-9,10-7", "9-M"))
    assert follow(data, "LOCK 2-9 @0", 0)["matched"] is False
    follow(data, "LOCK 2-9 @0, LOCK 10-7 @1", 1)


def test_a_match_at_the_key_end() -> None:
    """The open key 7 goes into the new link's lock 7."""
    data = position("7-4", hands=("3-7", "9-M"))
    follow(data, "KEY 3-7 @0", 1)
    state = play_text(read(data), "KEY 3-7 @0")
    assert ends(state) == {0: "3-7 7-4"}
    assert GAME.to_dict(state)["bracelets"][0]["links"] == [["3-7", 0], ["7-4", None]]


def test_the_master_lock_never_matches() -> None:
    """Key 6 opens a master lock, without a point."""
    data = position("7-M", hands=("6-8", "9-M"))
    follow(data, "LOCK 6-8 @0", 0)
    assert ends(play_text(read(data), "LOCK 6-8 @0")) == {0: "7-M 6-8"}


def test_completing_a_bracelet() -> None:
    """Metal 12, domination 10, emerald 5, two matches 8; then a new bracelet, then move 2."""
    state = read(e5())
    assert legal_texts(state) == {
        "KEY 6-4 @0",
        "LOCK 6-4 @0",
        "CLOSE 6-4 @0",
        "LOCK 2-3 @0",
        "LOCK 2-5 @0",
    }
    end = follow(e5(), "CLOSE 6-4 @0", 35)
    assert end["must_start"] is True
    assert (end["seat"], end["move"], end["completed"], end["bracelets"]) == (0, 1, 1, [])
    play_text(state, "CLOSE 6-4 @0")
    assert legal_texts(state) == {"NEW 2-3", "NEW 2-5"}
    play_text(state, "NEW 2-3")
    data = GAME.to_dict(state)
    assert (data["seat"], data["move"], data["must_start"]) == (0, 2, False)
    assert data["bracelets"] == [{"slot": 0, "links": [["2-3", 0]]}]
    follow(e5(), "CLOSE 6-4 @0, NEW 2-3", 35)


def test_too_short_to_close() -> None:
    """A completed bracelet would have four links."""
    state = read(position("4-7,7-10,10-8", hands=("8-4", "9-M")))
    assert legal_texts(state) == {"KEY 8-4 @0", "LOCK 8-4 @0"}


def test_master_lock_in_the_closing_link() -> None:
    """Metal 10, two captured links, minus 4; no domination."""
    data = position("2-5@-,5-4@B,4-9@A,9-10@B", hands=("5-M", "9-M"))
    assert follow(data, "CLOSE 5-M @0", 8)["captured"] == [2, 0]


def test_master_lock_elsewhere_costs_nothing() -> None:
    """Metal 6, three captured links, one match (7 into 7)."""
    data = position("7-M@B,2-4@B,2-5@A,5-6@B", hands=("3-7", "9-M"))
    assert follow(data, "CLOSE 3-7 @0", 13)["captured"] == [3, 0]


def test_a_match_before_completing_keeps_its_point() -> None:
    """1 point for the match, then 12 + 1 + 5 + 4."""
    data = position("4-7@-,7-10@A,10-8@B", hands=("8-6,2-4", "9-M"))
    follow(data, "LOCK 8-6 @0", 1)
    end = follow(data, "LOCK 8-6 @0, CLOSE 2-4 @0", 23)
    assert end["seat"] == 1
    assert end["captured"] == [1, 0]


def test_a_match_after_completing_is_the_first() -> None:
    """35 points, then 1 and not 3."""
    data = position(E5_CHAIN, "9-10", hands=("6-4,2-3,10-7,2-5", "9-M"))
    end = follow(data, "CLOSE 6-4 @0, NEW 2-3, LOCK 10-7 @1", 36)
    assert end["seat"] == 1


def test_completing_with_the_last_link() -> None:
    """No new bracelet is started, and the turn is over."""
    data = position(E5_CHAIN, "9-10", hands=("6-4", "9-M"))
    end = follow(data, "CLOSE 6-4 @0", 35)
    assert (end["seat"], end["must_start"], end["move"]) == (1, False, 1)
    assert end["bracelets"] == [{"slot": 1, "links": [["9-10", None]]}]


def test_nothing_joins() -> None:
    """Only new bracelets are legal, on the second move as well."""
    data = position("7-6", "9-4", hands=("10-8,7-2,9-8", "9-M"))
    state = read(data)
    assert legal_texts(state) == {"NEW 10-8", "NEW 7-2", "NEW 9-8"}
    play_text(state, "NEW 10-8")
    assert (state.seat, GAME.to_dict(state)["move"]) == (0, 2)
    assert legal_texts(state) == {"NEW 7-2", "NEW 9-8"}
    assert follow(data, "NEW 10-8, NEW 9-8", 0)["seat"] == 1
    assert ends(state) == {0: "7-6", 1: "9-4", 2: "10-8"}


def test_two_bracelets_in_one_turn() -> None:
    """Four links in one turn bring 35 + 29 points."""
    data = position(E5_CHAIN, E13_CHAIN, hands=("6-4,2-3,3-4,2-5", "9-M"))
    follow(data, "CLOSE 6-4 @0", 35)
    follow(data, "CLOSE 6-4 @0, NEW 2-3", 35)
    follow(data, "CLOSE 6-4 @0, NEW 2-3, CLOSE 3-4 @1", 64)
    end = follow(data, "CLOSE 6-4 @0, NEW 2-3, CLOSE 3-4 @1, NEW 2-5", 64)
    assert (end["seat"], end["ply"], end["completed"]) == (1, 64, 2)


def test_the_short_game_ends_at_once() -> None:
    """70 + 35 points end the game; the mandatory new bracelet is not played."""
    data = e5(options={"short": True, "skip_forced": False}, scores=[70, 12])
    end = follow(data, "CLOSE 6-4 @0", 35)
    assert end["scores"] == [105, 12]
    assert (end["seat"], end["must_start"], end["winners"], end["move"]) == (None, False, [0], 1)
    assert end["hands"] == [["2-3", "2-5"], ["9-M"]]
    assert legal_list(play_text(read(data), "CLOSE 6-4 @0")).size == 0
    standard = follow(e5(scores=[70, 12]), "CLOSE 6-4 @0", 35)
    assert (standard["seat"], standard["must_start"]) == (0, True)


def test_no_slot_for_a_new_bracelet() -> None:
    """The link is set aside."""
    data = position(*FULL.split(), hands=("9-4", "7-M"))
    assert len(data["bracelets"]) == 24
    assert legal_texts(read(data)) == {"NEW 9-4"}
    end = follow(data, "NEW 9-4", 0)
    assert end["set_aside"] == ["9-4"]
    assert end["bracelets"] == data["bracelets"]
    assert (end["seat"], end["ply"], end["hands"]) == (1, 61, [[], ["7-M"]])


def test_the_sheets_example_corrected() -> None:
    """14 + 4 + 5 + 15 points, without a match."""
    data = position(
        "3-7@-,7-10@B,5-7@C,7-2@C,2-10@B,10-M@C", hands=("3-9", "9-M", "9-M"), num_players=3
    )
    assert follow(data, "CLOSE 3-9 @0", 38)["captured"] == [5, 0, 0]


def test_the_sheets_example_with_two_diamonds() -> None:
    """14 + 4 + 5 + 20 points."""
    data = position(
        "2-9@-,9-10@B,10-7@C,7-2@C,2-3@B,3-8@C", hands=("4-8", "9-M", "9-M"), num_players=3
    )
    assert follow(data, "CLOSE 4-8 @0", 43)["captured"] == [5, 0, 0]
