"""Linkage's move texts and JSON (section 6 of the rules), and their errors."""

import copy
import json
import re
from typing import Any

import numpy as np
import pytest

from tests.driving import first_quick, same
from tests.linkage.helpers import (
    GAME,
    SETUPS,
    legal_list,
    legal_mask,
    play_random,
    play_text,
    start,
)
from tests.linkage.oracle import MOVES, Setup, move_text

SMALL = Setup(board_size=3, threshold=3)
FREE = Setup(free_hole=True)


def two_pieces() -> dict[str, Any]:
    """A position of the standard game, written by hand."""
    return {
        "game": "linkage",
        "version": 0,
        "options": {
            "free_hole": False,
            "board_size": 7,
            "threshold": 12,
            "skip_forced": False,
        },
        "seed": 5,
        "num_players": 2,
        "seat": 0,
        "ply": 2,
        "phase": "play",
        "more": 0,
        "board": ["WW.....", "...R...", "...R...", "...X...", ".......", ".......", "......."],
        "pieces": [["W", "a1", "b1"], ["R", "d2", "d3"]],
        "counter": 1,
        "supply": {"W": 5, "B": 6, "R": 5, "Y": 6},
        "groups": 2,
        "winner": None,
    }


def finished() -> dict[str, Any]:
    """A finished game on 3x3 with a pass after two pieces, written by hand."""
    return {
        "game": "linkage",
        "version": 0,
        "options": {"free_hole": False, "board_size": 3, "threshold": 3, "skip_forced": False},
        "seed": 0,
        "num_players": 2,
        "seat": None,
        "ply": 4,
        "phase": "play",
        "more": 0,
        "board": ["WWY", "RXY", "RBB"],
        "pieces": [["W", "a1", "b1"], ["B", "b3", "c3"], ["R", "a2", "a3"], ["Y", "c1", "c2"]],
        "counter": 3,
        "supply": {"W": 0, "B": 0, "R": 0, "Y": 0},
        "groups": 4,
        "winner": 0,
    }


# Moves


def test_every_action_has_its_text() -> None:
    """Section 6: all 387 texts, both ways, whatever the position."""
    for state in (start(), start(FREE)):
        for action, move in enumerate(MOVES):
            assert GAME.notation.action_to_text(state, action) == move_text(move)
            assert GAME.notation.text_to_action(state, move_text(move)) == action


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("W a1-b1", 0),
        ("B a1-a2", 84 + 42),
        ("R f7-g7", 168 + 41),
        ("Y g6-g7", 335),
        ("hole a1", 336),
        ("hole d4", 360),
        ("hole g7", 384),
        ("take more", 385),
        ("take fewer", 386),
    ],
)
def test_move_texts(text: str, action: int) -> None:
    """Section 6: columns are letters, rows count from the top."""
    state = start()
    assert GAME.notation.action_to_text(state, action) == text
    assert GAME.notation.text_to_action(state, text) == action


@pytest.mark.parametrize(
    "text",
    [
        *("", "W", "W a1", "W a1-c1", "W a1-a1", "W a1-b2", "W g1-h1", "W a7-a8", "W a0-a1"),
        *("G a1-b1", "WB a1-b1", "a1-b1", "hole", "hole h1", "hole d8", "hole d4-d5", "take"),
        *("take all", "pass", "W a1-b1-c1", "0"),
    ],
)
def test_bad_move_texts(text: str) -> None:
    """Section 6: any other text is refused, and the message has the text."""
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        GAME.notation.text_to_action(start(), text)


# Positions


def test_exact_dict() -> None:
    """Section 6: a position after two pieces, field by field and in this order."""
    state = play_text(start(seed=5), "W a1-b1, R d2-d3")
    assert GAME.to_dict(state) == two_pieces()
    assert list(GAME.to_dict(state)) == list(two_pieces())
    assert GAME.from_dict(two_pieces()).tobytes() == state.tobytes()


def test_exact_dict_of_a_finished_game() -> None:
    """Section 6: no seat, the counter on the last piece, a winner."""
    state = play_text(start(SMALL), "W a1-b1, B b3-c3, R a2-a3, Y c1-c2")
    assert GAME.to_dict(state) == finished()
    assert GAME.from_dict(finished()).tobytes() == state.tobytes()


def test_exact_dict_after_a_pass() -> None:
    """R6, section 6: no counter, the placer's seat again, and the pass doesn't count as a ply."""
    state = play_text(start(SMALL), "W a1-b1, B b3-c3")
    data = GAME.to_dict(state)
    expected = finished() | {
        "seat": 1,
        "ply": 2,
        "board": ["WW.", ".X.", ".BB"],
        "pieces": [["W", "a1", "b1"], ["B", "b3", "c3"]],
        "counter": None,
        "supply": {"W": 0, "B": 0, "R": 1, "Y": 1},
        "groups": 2,
        "winner": None,
    }
    assert data == expected
    assert GAME.from_dict(expected).tobytes() == state.tobytes()


def test_exact_dicts_of_the_opening_with_a_free_hole() -> None:
    """R11, section 6: the phases, and the seat that is More."""
    state = start(FREE)
    fields = ("phase", "seat", "ply", "more", "counter")
    assert [GAME.to_dict(state)[name] for name in fields] == ["hole", 0, 0, None, None]
    assert GAME.to_dict(state)["board"] == ["......."] * 7
    play_text(state, "hole b1")
    assert [GAME.to_dict(state)[name] for name in fields] == ["role", 1, 1, None, None]
    assert GAME.to_dict(state)["board"] == [".X....."] + ["......."] * 6
    play_text(state, "take more")
    assert [GAME.to_dict(state)[name] for name in fields] == ["play", 1, 2, 1, None]
    play_text(state, "Y a1-a2")
    assert [GAME.to_dict(state)[name] for name in fields] == ["play", 0, 3, 1, 0]
    assert GAME.to_dict(state)["board"] == ["YX.....", "Y......"] + ["......."] * 5
    assert GAME.to_dict(state)["options"]["free_hole"] is True


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_round_trip_at_every_ply(setup: Setup) -> None:
    """Section 6: JSON and back gives the same bytes, which then play on alike."""
    rng = np.random.default_rng(606)
    for seed in (0, 1, 2**53, 2**64 - 1):
        state = start(setup, seed)
        while True:
            data = json.loads(json.dumps(GAME.to_dict(state)))
            kept = copy.deepcopy(data)
            read = GAME.from_dict(data)
            assert data == kept
            assert read.tobytes() == state.tobytes()
            same(legal_mask(read), legal_mask(state))
            if state.seat < 0:
                break
            action = int(rng.choice(legal_list(state)))
            GAME.rules.apply(state, action)
            GAME.rules.apply(read, action)
            assert read.tobytes() == state.tobytes()


def test_round_trip_keeps_skip_forced() -> None:
    """Section 6: the option is in the JSON and comes back."""
    state = GAME.blank(options={"skip_forced": True})
    GAME.rules.new_game(state, np.uint64(3))
    assert GAME.to_dict(state)["options"]["skip_forced"] is True
    assert GAME.from_dict(GAME.to_dict(state)).tobytes() == state.tobytes()


def test_seat_view_has_no_seed() -> None:
    """R12, section 6: a seat sees all but the seed."""
    rng = np.random.default_rng(12)
    for setup in SETUPS:
        state = play_random(start(setup, 77), rng, 5)
        referee = GAME.to_dict(state)
        assert referee.pop("seed") == 77
        assert GAME.to_dict(state, 0) == referee
        assert GAME.to_dict(state, 1) == referee


# Bad positions: one field broken at a time

BROKEN: list[tuple[str, Any]] = [
    ("game", "love_links"),
    ("game", None),
    ("version", 2),
    ("version", "1"),
    ("options", None),
    ("options", []),
    ("seed", -1),
    ("seed", 2**64),
    ("seed", "5"),
    ("seed", 1.5),
    ("num_players", 3),
    ("num_players", None),
    ("seat", None),
    ("seat", 2),
    ("seat", -1),
    ("seat", "0"),
    ("ply", -1),
    ("ply", 2.0),
    ("ply", None),
    ("phase", "hole"),
    ("phase", "role"),
    ("phase", "end"),
    ("phase", None),
    ("phase", []),
    ("more", 2),
    ("more", None),
    ("more", False),
    ("board", None),
    ("board", "WW....."),
    ("board", ["WW.....", "...R...", "...R...", "...X...", ".......", "......."]),
    ("board", ["WW.....", "...R...", "...R...", "...X...", ".......", ".......", "......"]),
    ("board", ["WW.....", "...R...", "...R...", "...X...", ".......", ".......", "......Q"]),
    ("board", ["WW.....", "...R...", "...R...", "...X...", ".......", ".......", "......X"]),
    ("board", ["WW.....", "...R...", "...R...", ".......", ".......", ".......", "......."]),
    ("board", ["WW.....", "...R...", "...R...", "..X....", ".......", ".......", "......."]),
    ("board", ["WW.....", "...R...", "...B...", "...X...", ".......", ".......", "......."]),
    ("board", ["WW.....", "...R...", ".......", "...X...", ".......", ".......", "......."]),
    ("board", ["WW.....", "...R...", "...R...", "...X...", ".......", ".......", 7]),
    ("pieces", None),
    ("pieces", "W a1-b1"),
    ("pieces", [["W", "a1", "b1"], ["R", "d2"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "d2", "d3", "d4"]]),
    ("pieces", [["W", "a1", "b1"], ["G", "d2", "d3"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "d2", "d5"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "d2", "e3"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "d2", "d2"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "b1", "b2"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "d3", "d4"]]),
    ("pieces", [["W", "a1", "b1"], ["R", "g1", "h1"]]),
    ("pieces", [["W", "a1", "b1"], [2, "d2", "d3"]]),
    ("pieces", [["W", "a1", "b1"], None]),
    ("counter", 0),
    ("counter", 2),
    ("counter", -1),
    ("counter", "1"),
    ("counter", True),
    ("supply", None),
    ("supply", [5, 6, 5, 6]),
    ("supply", {"W": 6, "B": 6, "R": 5, "Y": 6}),
    ("supply", {"W": 5, "B": 6, "R": 5}),
    ("supply", {"W": 5, "B": 6, "R": 5, "Y": 6, "G": 6}),
    ("groups", 1),
    ("groups", None),
    ("groups", "2"),
    ("winner", 0),
    ("winner", 1),
    ("winner", False),
]


@pytest.mark.parametrize(("field", "value"), BROKEN)
def test_broken_field_is_named(field: str, value: Any) -> None:
    """Section 6: one wrong value, and the error says where."""
    data = two_pieces()
    assert data[field] != value or isinstance(value, bool | float)
    data[field] = value
    with pytest.raises(ValueError, match=rf"\b{field}\b"):
        GAME.from_dict(data)


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("free_hole", 0),
        ("free_hole", None),
        ("board_size", 2),
        ("board_size", 8),
        ("board_size", "7"),
        ("threshold", 0),
        ("threshold", None),
        ("threshold", "12"),
        ("skip_forced", 1),
        ("skip_forced", "no"),
    ],
)
def test_broken_option_is_named(option: str, value: Any) -> None:
    """Section 6: options have types and ranges."""
    data = two_pieces()
    data["options"][option] = value
    with pytest.raises(ValueError, match=rf"\b{option}\b"):
        GAME.from_dict(data)


@pytest.mark.parametrize("option", ["free_hole", "board_size", "threshold", "skip_forced"])
def test_missing_option_is_named(option: str) -> None:
    """Section 6: the options are complete."""
    data = two_pieces()
    del data["options"][option]
    with pytest.raises(ValueError, match=rf"\b{option}\b"):
        GAME.from_dict(data)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seat", 0),
        ("seat", 1),
        ("counter", None),
        ("counter", 2),
        ("phase", "role"),
        ("winner", None),
        ("winner", 1),
        ("groups", 3),
        ("supply", {"W": 1, "B": 0, "R": 0, "Y": 0}),
        ("board", ["WWY", "RXY", "RRR"]),
        ("ply", -1),
    ],
)
def test_broken_field_of_a_finished_game(field: str, value: Any) -> None:
    """R8, section 6: a finished game has no seat, a winner, and its counter on the last piece."""
    with pytest.raises(ValueError, match=rf"\b{field}\b"):
        GAME.from_dict(finished() | {field: value})


def test_winner_follows_from_the_threshold() -> None:
    """R10: with 5 as the threshold four groups are a win for Fewer."""
    data = finished()
    data["options"]["threshold"] = 5
    with pytest.raises(ValueError, match=r"\bwinner\b"):
        GAME.from_dict(data)
    data["winner"] = 1
    assert GAME.from_dict(data).winners == 2


def test_counter_where_a_pass_is_due() -> None:
    """R6: the counter can't lie where the seat to act would have no placement."""
    data = GAME.to_dict(play_text(start(SMALL), "W a1-b1, B b3-c3"))
    with pytest.raises(ValueError, match=r"\bcounter\b"):
        GAME.from_dict(data | {"counter": 0})
    for seat in (0, 1):
        with pytest.raises(ValueError, match=r"\b(counter|seat)\b"):
            GAME.from_dict(data | {"counter": 1, "seat": seat})


def test_more_pieces_than_a_colour_has() -> None:
    """R2: a second white piece on 3x3."""
    data = GAME.to_dict(play_text(start(SMALL), "W a1-b1, B b3-c3"))
    data |= {
        "pieces": [["W", "a1", "b1"], ["W", "b3", "c3"]],
        "board": ["WW.", ".X.", ".WW"],
        "supply": {"W": 0, "B": 1, "R": 1, "Y": 1},
    }
    with pytest.raises(ValueError, match=r"\bpieces\b"):
        GAME.from_dict(data)
    data["supply"]["W"] = -1
    with pytest.raises(ValueError, match=r"\bsupply\b"):
        GAME.from_dict(data)


@pytest.mark.parametrize(
    ("moves", "field", "value"),
    [
        ("", "board", ["X......"] + ["......."] * 6),
        ("", "more", 0),
        ("", "seat", 1),
        ("", "counter", 0),
        ("hole c2", "board", ["......."] * 7),
        ("hole c2", "more", 1),
        ("hole c2", "seat", 0),
        ("hole c2, take more", "board", ["......."] * 7),
        ("hole c2, take more", "more", None),
    ],
)
def test_broken_field_of_the_opening(moves: str, field: str, value: Any) -> None:
    """R11, section 6: hole, role and seat belong to their phase."""
    state = start(FREE)
    if moves:
        play_text(state, moves)
    data = GAME.to_dict(state)
    assert data[field] != value
    with pytest.raises(ValueError, match=rf"\b{field}\b"):
        GAME.from_dict(data | {field: value})
