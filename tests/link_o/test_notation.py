"""LINK-O's move texts and JSON, and their errors."""

import json
import re
from typing import Any

import numpy as np
import pytest

from tests import broken
from tests.driving import first_quick
from tests.link_o.helpers import (
    GAME,
    SHORT,
    game_of,
    legal_mask,
    nearly_full,
    play_text,
    position,
    read,
    start,
    walk,
)
from tests.link_o.oracle import (
    BOARDS,
    CODES,
    DEFAULTS,
    Json,
    Oracle,
    Setup,
    by_type,
    tile_text,
    turned,
)

SETUPS = (
    *(Setup(players) for players in range(2, 7)),
    Setup(2, {"board": "ring4x12"}),
    Setup(4, {"board": "ring4x16x2", "dig": "one"}),
    Setup(3, {"target": 0, "circle_bonus": 16, "blocked_tie": "split"}),
    Setup(5, {"next_starter": "random", "redeal_inference": True}),
    Setup(2, {"skip_forced": True, "open_connectors": "adjacent_only", "next_starter": "winner"}),
)


def middle() -> Json:
    """A position of three players in the second round."""
    board = {
        4: "red LINK-O",
        5: "red 3-1",
        6: "red LINK-O",
        28: "blue 3-3",
        27: "blue 2-3",
        48: "yellow LINK-O",
    }
    hands = [
        ["red 0-3", "red 2-3", "blue 2-2"],
        ["red 0-0", "blue 0-1", "green 4-4", "..."],
        ["green 0-4"],
    ]
    data = position(
        board,
        hands,
        first=(1,),
        scores=[12, 0, 35],
        round=2,
        ply=48,
        starter=2,
        last_round={"winner": 2, "points": 35, "how": "out"},
        dug=[0, 0, 2],
        seed=5,
    )
    data["lacks"][2] = ["green 4-4", "green LINK-O"]
    data["board"]["28"]["by"] = 0
    return data


def finished() -> Json:
    """The end of a match of one round."""
    hands = [["red 3-4"], ["green LINK-O"], ["blue 4-4"]]
    data, move = nearly_full(hands, 0, 10, ["yellow 1-2"], options={"target": 0})
    return GAME.to_dict(play_text(read(data), move))


# Moves


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("@0 red 0-0", 0),
        ("@5 red 1-3", 5 * 26 + 7),
        ("@5 red 3-1", 5 * 26 + 20),
        ("@5 red LINK-O", 5 * 26 + 25),
        ("@4 red 3-3", 4 * 26 + 12),
        ("@4 red LINK-O", 4 * 26 + 25),
        ("@17 blue 1-0", 17 * 26 + 15),
        ("@33 green 4-3", 33 * 26 + 24),
        ("@63 yellow 4-4", 63 * 26 + 14),
    ],
)
def test_move_texts(text: str, action: int) -> None:
    """Section 6: space, colour, left end first; legal or not."""
    state = read(middle())
    assert GAME.notation.action_to_text(state, action) == text
    assert GAME.notation.text_to_action(state, text) == action


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", BOARDS)
def test_every_move_has_a_text(name: str) -> None:
    """All actions that a regular space or a connector has, both ways."""
    game, board = game_of(name), BOARDS[name]
    state = start(Setup(2, {"board": name}))
    for action in range(game.num_actions):
        space, code = divmod(action, 26)
        if board.is_connector(space) and code not in (0, 5, 9, 12, 14, 25):
            assert game.notation.action_to_text(state, action)
            continue
        text = f"@{space} {tile_text(board.color[space], CODES[code])}"
        assert game.notation.action_to_text(state, action) == text
        assert game.notation.text_to_action(state, text) == action


@pytest.mark.parametrize("setup", first_quick([SHORT, *SETUPS[:7]], slow=0), ids=str)
def test_every_legal_move_both_ways(setup: Setup) -> None:
    """At every ply each legal action has the text that the rules give it, and no other has it."""
    game = game_of(setup.options.get("board", "ring4x16"))
    for state, oracle, _ in walk(setup, 30):
        before = state.tobytes()
        legal = np.flatnonzero(legal_mask(state, game=game)).tolist()
        texts = [game.notation.action_to_text(state, action) for action in legal]
        assert sorted(texts) == sorted(oracle.moves())
        assert [game.notation.text_to_action(state, text) for text in texts] == legal
        assert state.tobytes() == before


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "@", "@5", "5 red 1-3", "@5 red", "@5 1-3", "@5 red 13", "@5 red 1_3"),
        *("@5 red 1-5", "@5 red -1-3", "@5 red 1-3-4", "@5  red 1-3", "@5 red  1-3", " @5 red 1-3"),
        *("@5 red 1-3 ", "@5 Red 1-3", "@5 red link-o", "@5 red LINKO", "@5 violet 1-3"),
        *("@64 red 1-3", "@-1 red 1-3", "@05 red 1-3", "@x red 1-3", "@٣ red 1-3", "@5 red ٣-1"),
        *("@5 blue 1-3", "@17 red 1-3", "@5 red 01-3", "PASS", "dig"),
        "@5 red 1-3\n",
    ],
)
def test_bad_move_texts(text: str) -> None:
    broken.refuses_text(GAME, read(middle()), text)


def test_actions_outside_the_space() -> None:
    for action in (-1, 1664, 5000):
        with pytest.raises(ValueError, match=str(action)):
            GAME.notation.action_to_text(start(), action)
    twelve = game_of("ring4x12")
    with pytest.raises(ValueError, match="1248"):
        twelve.notation.action_to_text(twelve.blank(2, {"board": "ring4x12"}), 1248)


# Positions


def test_exact_dict() -> None:
    """A position by hand, field by field and in this order, both ways."""
    state = read(middle())
    assert GAME.to_dict(state) == middle()
    assert list(GAME.to_dict(state)) == list(middle())
    assert list(GAME.to_dict(state)["board"]) == ["4", "5", "6", "27", "28", "48"]
    assert json.loads(json.dumps(GAME.to_dict(state))) == middle()
    assert GAME.from_dict(GAME.to_dict(state)).tobytes() == state.tobytes()
    cells = GAME.to_dict(state)["board"]
    assert cells["4"] == {"tile": "red LINK-O", "value": 3, "by": 2}
    assert cells["48"] == {"tile": "yellow LINK-O", "value": None, "by": 2}
    assert cells["5"] == {"tile": "red 3-1", "by": 2}
    assert cells["6"] == {"tile": "red LINK-O", "by": 2}
    assert cells["28"] == {"tile": "blue 3-3", "by": 0}


def test_the_fields_of_a_new_match() -> None:
    """Section 6, in its order."""
    data = GAME.to_dict(start(Setup(4), 9))
    assert list(data) == [
        *("game", "version", "options", "seed", "num_players", "seat", "ply", "round", "starter"),
        *("scores", "hands", "bag", "board", "first_turn", "lacks", "dug", "passed"),
        *("last_round", "winners"),
    ]
    assert data["options"] == DEFAULTS
    assert data["seed"] == 9


@pytest.mark.parametrize("setup", first_quick([SHORT, *SETUPS], slow=0), ids=str)
def test_round_trip_at_every_ply(setup: Setup) -> None:
    """JSON and back gives the same bytes, which then play on alike."""
    game = game_of(setup.options.get("board", "ring4x16"))
    state, other = start(setup, 2**64 - 1), None
    rng = np.random.default_rng(1)
    while True:
        if other is not None:
            assert other.tobytes() == state.tobytes()
        written = json.dumps(game.to_dict(state))
        data = json.loads(written)
        other = game.from_dict(data)
        assert json.dumps(data) == written
        assert other.tobytes() == state.tobytes()
        if state.seat < 0:
            break
        action = int(rng.choice(np.flatnonzero(legal_mask(state, game=game))))
        game.rules.apply(state, action)
        game.rules.apply(other, action)


@pytest.mark.parametrize("setup", first_quick([SHORT, *SETUPS[:6]], slow=0), ids=str)
def test_seat_view_at_every_ply(setup: Setup) -> None:
    """Other hands and the bag as counts; seed and ply absent; everything else as it is."""
    game = game_of(setup.options.get("board", "ring4x16"))
    for state, oracle, _ in walk(setup, 77):
        for seat in range(setup.num_players):
            view = game.to_dict(state, seat)
            assert view == oracle.to_dict(seat)
            assert json.loads(json.dumps(view)) == view


def test_a_seats_view_is_no_position() -> None:
    """It lacks the other hands, so it can't be read back."""
    with pytest.raises(ValueError, match=r"\b(hands|bag|ply|seed)\b"):
        GAME.from_dict(GAME.to_dict(read(middle()), 0))


def test_a_finished_match_comes_back() -> None:
    data = finished()
    assert (data["seat"], data["winners"]) == (None, [0])
    assert read(data).tobytes() == read(json.loads(json.dumps(data))).tobytes()
    assert GAME.to_dict(read(data)) == data
    assert not legal_mask(read(data)).any()


def test_positions_play_on_like_the_oracle() -> None:
    """A position by hand is a whole match: played to its end beside the oracle."""
    rng = np.random.default_rng(7)
    for _ in range(3):
        state, oracle = read(middle()), Oracle.read(middle())
        while not oracle.over:
            moves = oracle.moves()
            move = moves[int(rng.integers(len(moves)))]
            GAME.rules.apply(state, GAME.notation.text_to_action(state, move))
            oracle.follow(move, GAME.to_dict(state))
            assert GAME.to_dict(state) == oracle.to_dict()


# Bad positions: one field broken at a time


def cell(space: int, **changes: Any) -> Json:
    """The board with a change to one tile."""
    board: Json = middle()["board"]
    board[str(space)] |= changes
    return board


def board_with(space: str, tile: Any) -> Json:
    return dict(middle()["board"] | {space: tile})


def hand_with(seat: int, *tiles: Any) -> list[Any]:
    """The hands with some of a seat's tiles replaced from the front."""
    hands: list[Any] = middle()["hands"]
    hands[seat] = [*tiles, *hands[seat][len(tiles) :]]
    return hands


def last_round(**changes: Any) -> Json:
    return dict(middle()["last_round"] | changes)


BROKEN: list[tuple[str, Any, str]] = [
    *broken.FIELDS,
    *broken.SCORES,
    ("num_players", 7, "num_players"),
    ("num_players", 2, "num_players|hands|scores|first_turn|lacks|dug|passed"),
    ("num_players", 4, "num_players|hands|scores|first_turn|lacks|dug|passed"),
    ("seat", None, "seat|winners"),
    ("seat", 2, "seat|hands"),  # nothing that he holds can be placed
    ("round", 0, "round"),
    ("round", 101, "round"),
    ("round", None, "round"),
    ("round", "2", "round"),
    ("round", True, "round"),
    ("starter", 3, "starter"),
    ("starter", -1, "starter"),
    ("starter", None, "starter"),
    ("starter", "0", "starter"),
    ("scores", [12, 0, 64], "scores|seat|winners"),  # over long ago
    ("hands", None, "hands"),
    ("hands", [], "hands"),
    ("hands", {}, "hands"),
    ("hands", middle()["hands"][:2], "hands"),
    ("hands", [*middle()["hands"], []], "hands"),
    ("hands", [None, *middle()["hands"][1:]], "hands"),
    ("hands", [3, *middle()["hands"][1:]], "hands"),
    ("hands", ["red 0-3", *middle()["hands"][1:]], "hands"),
    ("hands", hand_with(0, "red 0-5"), "hands|red 0-5"),
    ("hands", hand_with(0, "red 3-0"), "hands|red 3-0"),
    ("hands", hand_with(0, "violet 0-3"), "hands|violet 0-3"),
    ("hands", hand_with(0, 3), "hands"),
    ("hands", hand_with(0, None), "hands"),
    ("hands", hand_with(0, "red 2-3"), "hands|red 2-3|red 0-3|tiles"),  # one twice, one nowhere
    ("hands", hand_with(0, "red 1-3"), "hands|red 1-3|red 0-3|tiles"),  # it lies on the board
    ("bag", None, "bag"),
    ("bag", 40, "bag"),
    ("bag", {}, "bag"),
    ("bag", [*middle()["bag"][:-1], "red 9-9"], "bag|red 9-9"),
    ("bag", [*middle()["bag"][:-1], 7], "bag"),
    ("bag", middle()["bag"][:-1], "bag|tiles|" + re.escape(middle()["bag"][-1])),
    ("bag", [*middle()["bag"], "red 0-3"], "bag|tiles|red 0-3"),
    ("bag", [*middle()["bag"][:-1], turned("red 0-1")], "bag|red 1-0"),
    ("board", None, "board"),
    ("board", [], "board"),
    ("board", board_with("64", {"tile": "red 1-1", "by": 0}), "64"),
    ("board", board_with("-1", {"tile": "red 1-1", "by": 0}), "-1"),
    ("board", board_with("x", {"tile": "red 1-1", "by": 0}), "x"),
    ("board", board_with("05", {"tile": "red 1-1", "by": 0}), "05|board"),
    ("board", board_with("5", None), "5|board"),
    ("board", board_with("5", {"tile": "red 3-1"}), "5|by|board"),
    ("board", board_with("5", {"by": 0}), "5|tile|board"),
    ("board", cell(5, tile="red 3-5"), "5|red 3-5"),
    ("board", cell(5, tile=31), "5|tile|board"),
    ("board", cell(5, tile="blue 1-3"), "5|blue 1-3"),  # R9
    ("board", cell(5, tile="red 3-3"), "board|red 3-3"),  # another one holds it
    ("board", cell(28, tile="blue 2-3"), "board"),  # R12
    ("board", cell(5, tile="red 1-3"), "board"),  # R14: the LINK-O on 4 would be a 1
    ("board", cell(27, tile="blue 3-2"), "board"),  # R11: it touches a 3 with a 2
    ("board", cell(5, by=3), "5|by"),
    ("board", cell(5, by=-1), "5|by"),
    ("board", cell(5, by=None), "5|by"),
    ("board", cell(5, by="0"), "5|by"),
    ("board", cell(5, by=True), "5|by"),
    ("board", cell(5, value=3), "5|value"),
    ("board", cell(6, value=None), "6|value"),
    ("board", cell(28, value=3), "28|value"),
    ("board", cell(4, value=None), "4|value"),
    ("board", cell(4, value=2), "4|value"),
    ("board", cell(4, value=5), "4|value"),
    ("board", cell(4, value="3"), "4|value"),
    ("board", cell(4, value=True), "4|value"),
    ("board", cell(48, value=1), "48|value"),
    ("board", cell(4, owner=1), "4|owner"),
    ("first_turn", None, "first_turn"),
    ("first_turn", [False, True], "first_turn"),
    ("first_turn", [False, 1, False], "first_turn"),
    ("first_turn", [False, None, False], "first_turn"),
    ("lacks", None, "lacks"),
    ("lacks", [[], []], "lacks"),
    ("lacks", [[], [], "green 4-4"], "lacks"),
    ("lacks", [[], [], ["green 5-5"]], "lacks|green 5-5"),
    ("lacks", [[], [], ["green 4-3"]], "lacks|green 4-3"),
    ("lacks", [[], [], ["green 4-4", "green 4-4"]], "lacks|green 4-4"),
    ("lacks", [[], [], [4]], "lacks"),
    ("dug", None, "dug"),
    ("dug", [0, 0], "dug"),
    ("dug", [0, 0, -1], "dug"),
    ("dug", [0, 0, 53], "dug"),
    ("dug", [0, 0, "2"], "dug"),
    ("dug", [0, 0, True], "dug"),
    ("passed", None, "passed"),
    ("passed", [False, False], "passed"),
    ("passed", [False, False, 0], "passed"),
    ("last_round", 3, "last_round"),
    ("last_round", {}, "last_round"),
    ("last_round", None, "last_round|round"),
    ("last_round", last_round(winner=3), "last_round|winner"),
    ("last_round", last_round(winner=-1), "last_round|winner"),
    ("last_round", last_round(winner="2"), "last_round|winner"),
    ("last_round", last_round(points=-1), "last_round|points"),
    ("last_round", last_round(points="35"), "last_round|points"),
    ("last_round", last_round(points=None), "last_round|points"),
    ("last_round", last_round(how="won"), "last_round|how"),
    ("last_round", last_round(how=None), "last_round|how"),
    ("last_round", last_round(seat=1), "last_round|seat"),
    ("winners", [0], "winners"),
    ("winners", None, "winners"),
    ("winners", "0", "winners"),
    ("winners", [3], "winners"),
]


@pytest.mark.parametrize(("field", "value", "named"), BROKEN)
def test_broken_field_is_named(field: str, value: Any, named: str) -> None:
    """One wrong value, and the error says where: a tile, a space or a field."""
    data = middle()
    assert json.dumps(data[field]) != json.dumps(value)
    data[field] = value
    broken.refuses(GAME, data, named)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("target", "64"),
        ("target", None),
        ("circle_bonus", -3),
        ("board", "ring4x12"),
        ("board", None),
        ("open_connectors", 0),
        ("dig", "two"),
        ("next_starter", False),
        ("blocked_tie", ""),
        ("max_rounds", 0),
        ("redeal_inference", 0),
        ("skip_forced", "no"),
    ],
)
def test_broken_options_are_named(option: str, wrong: Any) -> None:
    data = middle()
    data["options"][option] = wrong
    broken.refuses(GAME, data, option)
    del data["options"][option]
    broken.refuses(GAME, data, option)


def test_unsorted_hands_are_sorted() -> None:
    """Hands are sorted by type, whatever the JSON says; the order of `lacks` has to be right."""
    data = middle()
    data["hands"][0].reverse()
    assert data["hands"][0] != by_type(data["hands"][0])
    assert GAME.to_dict(GAME.from_dict(data)) == middle()
    data = middle()
    data["lacks"][2].reverse()
    assert data["lacks"][2] != by_type(data["lacks"][2])
    broken.refuses(GAME, data, "lacks")


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("seat", 0, "seat|last_round|winners"),
        ("winners", [], "winners|seat"),
        ("winners", [1], "winners"),
        ("winners", [0, 1], "winners"),
        ("winners", [0, 0], "winners"),
        ("last_round", None, "last_round|winners|seat"),
    ],
)
def test_broken_field_of_a_finished_match(field: str, value: Any, named: str) -> None:
    """R20, section 6: who has won follows from the round and the scores."""
    with pytest.raises(ValueError, match=rf"\b({named})\b"):
        GAME.from_dict(finished() | {field: value})


@pytest.mark.parametrize(("target", "score"), [(0, 4), (20, 20)])
def test_scores_with_which_the_match_is_over(target: int, score: int) -> None:
    """R20: bytes are refused as their JSON is."""
    state = start(Setup(3, {"target": target}))
    state.scores[1] = score
    with pytest.raises(ValueError, match="scores: with these the match is over"):
        GAME.from_bytes(state.tobytes())
    broken.refuses(GAME, GAME.to_dict(state), "scores")


def test_as_many_tiles_as_a_bag_has() -> None:
    """Many players leave fewer tiles in the bag than two."""
    state = start(Setup(6))
    state.dug[3] = 29
    with pytest.raises(ValueError, match=r"dug, hands \(hand_size\): more than the bag had"):
        GAME.from_bytes(state.tobytes())
    broken.refuses(GAME, GAME.to_dict(state), "dug")


def test_bytes_say_no_more_than_their_json() -> None:
    """A seat that dug lacked every tile it could have placed; bytes must say so, as JSON does."""
    state = read(middle())
    state.seat, state.dug[0] = 0, 1
    with pytest.raises(ValueError, match="lacks: a type"):
        GAME.from_bytes(state.tobytes())
    assert read(GAME.to_dict(state)).lacks[0]
