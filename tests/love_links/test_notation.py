"""Love Links' move texts and JSON, and their errors."""

import json
import re
from typing import Any

import numpy as np
import pytest

from tests import broken
from tests.driving import first_quick, same
from tests.love_links.helpers import (
    GAME,
    POLICIES,
    SETUPS,
    legal_list,
    legal_mask,
    play_random,
    play_text,
    position,
    read,
    start,
    walk,
)
from tests.love_links.oracle import LINKS, ROUNDS, Json, Oracle, Setup, by_id


def middle() -> Json:
    """A position of three players in silver, written by hand."""
    return {
        "game": "love_links",
        "version": 0,
        "options": {"short": False, "skip_forced": False},
        "seed": 5,
        "num_players": 3,
        "seat": 1,
        "ply": 40,
        "round": "silver",
        "move": 1,
        "matched": False,
        "must_start": False,
        "hands": [["2-9", "10-M"], ["4-7", "7-4", "9-M"], ["3-8", "6-7", "8-4"]],
        "bracelets": [
            {"slot": 0, "links": [["4-7", None], ["7-10", 0], ["10-8", 2]]},
            {"slot": 2, "links": [["2-4", 1]]},
            {"slot": 5, "links": [["2-3", None]]},
        ],
        "supply": {"bronze": [], "silver": ["9-M", "3-8", "4-8"], "gold": ["5-M", "4-10"]},
        "scores": [12, 0, 35],
        "captured": [1, 0, 2],
        "completed": 3,
        "set_aside": [],
        "winners": [],
    }


def finished() -> Json:
    """The end of a short game, in which links are left."""
    return {
        "game": "love_links",
        "version": 0,
        "options": {"short": True, "skip_forced": False},
        "seed": 0,
        "num_players": 2,
        "seat": None,
        "ply": 61,
        "round": "gold",
        "move": 1,
        "matched": False,
        "must_start": False,
        "hands": [["2-3", "2-5"], ["9-M"]],
        "bracelets": [],
        "supply": {"bronze": [], "silver": [], "gold": ["6-8"]},
        "scores": [105, 12],
        "captured": [0, 0],
        "completed": 1,
        "set_aside": [],
        "winners": [0],
    }


# Moves


def test_move_texts_of_a_position() -> None:
    """Every legal move, as it is written."""
    state = read(middle())
    texts = {GAME.notation.action_to_text(state, int(action)) for action in legal_list(state)}
    assert texts == {
        "LOCK 4-7 @0",
        "KEY 7-4 @0",
        "LOCK 4-7 @2",
        "KEY 7-4 @2",
        "KEY 7-4 @5",
        "KEY 9-M @2",
        "KEY 9-M @5",
        "KEY 9-M @0",
    }


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("KEY 4-7 @0", 0),
        ("LOCK 4-7 @0", 1),
        ("CLOSE 4-7 @0", 2),
        ("KEY 4-7 @23", 69),
        ("KEY 7-4 @0", 72),
        ("CLOSE 7-4 @5", 72 + 17),
        ("LOCK 9-M @2", 144 + 7),
        ("NEW 4-7", 360),
        ("NEW 9-M", 362),
    ],
)
def test_move_texts(text: str, action: int) -> None:
    """Place, slot and mode of the mover's hand, both ways, legal or not."""
    state = read(middle())
    assert GAME.notation.action_to_text(state, action) == text
    assert GAME.notation.text_to_action(state, text) == action


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_every_legal_move_both_ways(setup: Setup) -> None:
    """Each legal action has one text, the one that the rules give it."""
    for seed, policy in enumerate(POLICIES):
        for state, oracle, _ in walk(setup, 30 + seed, policy):
            expected = {oracle.action(move): str(move) for move in oracle.moves()}
            texts = {int(a): GAME.notation.action_to_text(state, int(a)) for a in legal_list(state)}
            assert texts == expected
            assert len(set(texts.values())) == len(texts)
            for action, text in texts.items():
                assert GAME.notation.text_to_action(state, text) == action


@pytest.mark.parametrize(
    "text",
    [
        *("", "KEY", "KEY 4-7", "KEY 4-7 0", "KEY 4-7 @", "KEY 4-7 @24", "KEY 4-7 @-1", "KEY @0"),
        *(
            "NEW",
            "NEW 4-7 @0",
            "PASS",
            "JOIN 4-7 @0",
            "KEY 4-7 @0 @1",
            "KEY 4-7 @x",
            "0",
            "NEW  4-7",
        ),
        *("KEY 4-7 @٣", "KEY 4-7 @00", "key 4-7 @0"),
    ],
)
def test_bad_move_texts(text: str) -> None:
    broken.refuses_text(GAME, read(middle()), text)


@pytest.mark.parametrize("link", ["2-9", "7-7", "4-11", "M-4", "04-7", "4-7M", "10-M"])
@pytest.mark.parametrize("form", ["NEW {}", "KEY {} @0", "CLOSE {} @2"])
def test_links_that_are_not_in_the_hand(form: str, link: str) -> None:
    """The message names the link."""
    with pytest.raises(ValueError, match=re.escape(link)):
        GAME.notation.text_to_action(read(middle()), form.format(link))


def test_actions_outside_the_space() -> None:
    for action in (-1, 365, 1000):
        with pytest.raises(ValueError, match=str(action)):
            GAME.notation.action_to_text(start(), action)


def test_no_moves_when_over() -> None:
    with pytest.raises(ValueError, match="over"):
        GAME.notation.text_to_action(read(finished()), "NEW 2-3")
    assert legal_list(read(finished())).size == 0


# Positions


def test_exact_dict() -> None:
    """A position by hand, field by field and in this order, both ways."""
    state = read(middle())
    assert GAME.to_dict(state) == middle()
    assert list(GAME.to_dict(state)) == list(middle())
    assert list(GAME.to_dict(state)["supply"]) == list(ROUNDS)
    assert json.loads(json.dumps(GAME.to_dict(state))) == middle()
    assert GAME.from_dict(GAME.to_dict(state)).tobytes() == state.tobytes()


def test_exact_dict_after_moves() -> None:
    """The dict that follows from two moves and a refill, written by hand."""
    state = play_text(read(middle()), "LOCK 4-7 @2")
    one = middle() | {
        "ply": 41,
        "move": 2,
        "matched": True,
        "scores": [12, 1, 35],
        "hands": [["2-9", "10-M"], ["7-4", "9-M"], ["3-8", "6-7", "8-4"]],
    }
    one["bracelets"][1]["links"] = [["2-4", 1], ["4-7", 1]]
    assert GAME.to_dict(state) == one
    play_text(state, "LOCK 7-4 @2")
    two = one | {
        "ply": 42,
        "move": 1,
        "matched": False,
        "seat": 2,
        "scores": [12, 4, 35],
        "hands": [["2-9", "10-M"], ["3-8", "4-8", "9-M", "9-M"], ["3-8", "6-7", "8-4"]],
        "supply": {"bronze": [], "silver": [], "gold": ["5-M", "4-10"]},
    }
    two["bracelets"][1]["links"] = [["2-4", 1], ["4-7", 1], ["7-4", 1]]
    assert GAME.to_dict(state) == two


def test_exact_dict_of_a_finished_game() -> None:
    """R21: no seat, winners, links left in hands and supply."""
    data = position(
        "4-7@-,7-10@A,10-8@A,8-6@A",
        hands=("6-4,2-3,2-5", "9-M"),
        options={"short": True, "skip_forced": False},
        scores=[70, 12],
        supply={"bronze": [], "silver": [], "gold": ["6-8"]},
    )
    state = play_text(read(data), "CLOSE 6-4 @0")
    assert GAME.to_dict(state) == finished()
    assert read(finished()).tobytes() == state.tobytes()


def test_a_set_aside_link_comes_back() -> None:
    """It is in the JSON, and read again."""
    data = middle() | {"set_aside": ["9-4"]}
    state = read(data)
    assert GAME.to_dict(state) == data
    assert read(GAME.to_dict(state)).tobytes() == state.tobytes()


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_round_trip_at_every_ply(setup: Setup) -> None:
    """JSON and back gives the same bytes, which then play on alike; each way to play in turn."""
    first = SETUPS.index(setup) % 2
    for seed, policy in zip((2**53, 2**64 - 1), POLICIES[first::2], strict=True):
        copy_state = None
        for state, _, move in walk(setup, seed, policy):
            if copy_state is not None and move is not None:
                GAME.rules.apply(copy_state, GAME.notation.text_to_action(copy_state, str(move)))
                assert copy_state.tobytes() == state.tobytes()
            written = json.dumps(GAME.to_dict(state))
            data = json.loads(written)
            copy_state = GAME.from_dict(data)
            assert json.dumps(data) == written
            assert copy_state.tobytes() == state.tobytes()
            same(legal_mask(copy_state), legal_mask(state))


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_seat_view_at_every_ply(setup: Setup) -> None:
    """R4: no seed, and the supplies sorted by link id; it can be read as well."""
    for state, oracle, _ in walk(setup, 77):
        expected = oracle.to_dict()
        del expected["seed"]
        expected["supply"] = {metal: by_id(s) for metal, s in expected["supply"].items()}
        for seat in range(setup.num_players):
            assert GAME.to_dict(state, seat) == expected
        back = GAME.from_dict(expected)
        assert back.seed == 0
        assert GAME.to_dict(back, 0) == expected


def test_seat_view_of_the_position_by_hand() -> None:
    """Sorted by id, never by text."""
    view = GAME.to_dict(read(middle()), 1)
    assert "seed" not in view
    assert view["supply"] == {
        "bronze": [],
        "silver": ["3-8", "4-8", "9-M"],
        "gold": ["4-10", "5-M"],
    }
    assert view["hands"] == middle()["hands"]
    assert list(view) == [name for name in middle() if name != "seed"]


def test_hands_in_any_order() -> None:
    """Sorted by type."""
    data = middle()
    data["hands"][1].reverse()
    assert data != middle()
    assert GAME.to_dict(GAME.from_dict(data)) == middle()


def test_bracelets_in_any_order() -> None:
    """Listed by slot."""
    data = middle()
    data["bracelets"].reverse()
    assert GAME.to_dict(GAME.from_dict(data)) == middle()


def test_metals_in_hands_are_not_compared_with_the_round() -> None:
    """Gold links in a bronze hand are accepted."""
    data = middle() | {"round": "bronze"}
    data["hands"][1] = ["2-3", "9-M", "10-4"]
    assert GAME.to_dict(GAME.from_dict(data)) == data


def test_24_bracelets() -> None:
    """All slots at once."""
    ones = (
        "2-3 2-3 2-4 2-4 2-5 2-5 2-6 2-6 2-7 2-7 2-8 2-8 "
        "3-4 3-4 3-5 3-5 3-6 3-6 3-7 3-7 5-4 5-4 6-4 7-2"
    )
    data = position(*ones.split(), hands=("9-4,10-8,10-7,10-M,10-M", "9-M"))
    assert GAME.to_dict(GAME.from_dict(data)) == data
    assert len(data["bracelets"]) == 24


# Bad positions: one field broken at a time


def hands(text: str) -> list[list[str]]:
    return [hand.split(",") if hand else [] for hand in text.split(";")]


def bracelets(**changes: Any) -> list[Any]:
    """The position's bracelets with a change to the one in slot 2."""
    made: list[Any] = middle()["bracelets"]
    made[1] |= changes
    return made


def supply(**changes: Any) -> Json:
    return dict(middle()["supply"] | changes)


BROKEN: list[tuple[str, Any, str]] = [
    *broken.FIELDS,
    *broken.SCORES,
    ("num_players", 5, "num_players"),
    ("num_players", 2, "num_players|hands"),
    ("num_players", 4, "num_players|hands"),
    ("seat", None, "winners"),
    ("round", "copper", "round"),
    ("round", None, "round"),
    ("round", 1, "round"),
    ("round", ["silver"], "round"),
    ("move", 0, "move"),
    ("move", 3, "move"),
    ("move", None, "move"),
    ("move", "1", "move"),
    ("move", True, "move"),
    ("matched", None, "matched"),
    ("matched", 0, "matched"),
    ("matched", "no", "matched"),
    ("must_start", None, "must_start"),
    ("must_start", 0, "must_start"),
    ("hands", None, "hands"),
    ("hands", [], "hands"),
    ("hands", {}, "hands"),
    ("hands", hands("2-9;4-7,7-4"), "hands"),
    ("hands", hands("2-9;4-7,7-4;3-8;6-7"), "hands"),
    ("hands", hands("2-9;4-7,7-4,9-M,2-6,2-8,2-8;3-8"), "hands"),
    ("hands", hands("2-9;;3-8"), "seat|hands"),
    ("hands", hands("2-9;4-7,4-4;3-8"), "4-4"),
    ("hands", hands("2-9;4-7,12-4;3-8"), "12-4"),
    ("hands", hands("2-9;4-7,4-7;3-8"), "4-7"),
    ("hands", hands("10-8;4-7;3-8"), "10-8"),
    ("hands", [["2-9"], "4-7", ["3-8"]], "hands"),
    ("hands", [["2-9"], [47], ["3-8"]], "hands"),
    ("hands", [["2-9"], None, ["3-8"]], "hands"),
    ("bracelets", None, "bracelets"),
    ("bracelets", {}, "bracelets"),
    ("bracelets", [None], "bracelets"),
    ("bracelets", [{"slot": 0}], "links|bracelets"),
    ("bracelets", [{"links": [["2-4", 1]]}], "slot|bracelets"),
    ("bracelets", bracelets(slot=24), "slot"),
    ("bracelets", bracelets(slot=-1), "slot"),
    ("bracelets", bracelets(slot="2"), "slot"),
    ("bracelets", bracelets(slot=None), "slot"),
    ("bracelets", bracelets(slot=5), "slot.*5"),
    ("bracelets", bracelets(slot=0), "slot.*0"),
    ("bracelets", bracelets(owner=1), "owner"),
    ("bracelets", bracelets(links=[]), "links|@2|slot 2"),
    ("bracelets", bracelets(links=None), "links|@2|slot 2"),
    ("bracelets", bracelets(links=["2-4"]), "links|@2|slot 2"),
    ("bracelets", bracelets(links=[["2-4"]]), "links|@2|slot 2"),
    ("bracelets", bracelets(links=[["2-4", 1, 0]]), "links|@2|slot 2"),
    ("bracelets", bracelets(links=[["2-4", 3]]), "2-4|owner"),
    ("bracelets", bracelets(links=[["2-4", -1]]), "2-4|owner"),
    ("bracelets", bracelets(links=[["2-4", "1"]]), "2-4|owner"),
    ("bracelets", bracelets(links=[["2-4", False]]), "2-4|owner"),
    ("bracelets", bracelets(links=[["2-2", 1]]), "2-2"),
    ("bracelets", bracelets(links=[["7-10", 1], ["10-8", 1]]), "10-8"),
    ("bracelets", bracelets(links=[["2-4", 1], ["3-5", 1]]), "links"),
    ("bracelets", bracelets(links=[["2-4", 1], ["8-4", 1]]), "8-4"),
    ("bracelets", bracelets(links=[["7-M", 1], ["7-2", 1]]), "links"),
    ("bracelets", [*middle()["bracelets"], {"slot": 6, "links": [["2-3", None]] * 2}], "2-3"),
    ("supply", None, "supply"),
    ("supply", [], "supply"),
    ("supply", {"bronze": [], "silver": []}, "supply"),
    ("supply", supply(copper=[]), "supply"),
    ("supply", supply(silver=None), "supply"),
    ("supply", supply(silver="9-M"), "supply"),
    ("supply", supply(silver=["9-M", "9-X"]), "9-X"),
    ("supply", supply(silver=["9-M", "9-M"]), "9-M"),
    ("supply", supply(silver=["4-10"]), "supply"),
    ("supply", supply(gold=["3-8"]), "3-8"),
    ("supply", supply(bronze=["5-M"]), "5-M"),
    ("supply", supply(gold=["5-M", "5-M"]), "5-M"),
    ("captured", None, "captured"),
    ("captured", [1, 0], "captured"),
    ("captured", [1, 0, -2], "captured"),
    ("captured", [1, 0, 95], "captured"),
    ("captured", [1, None, 2], "captured"),
    ("captured", [94, 1, 0], "captured"),  # together more than there are
    ("scores", [2**14 - 2**12 + 1, 0, 0], "scores"),  # the end could be above the bound
    ("completed", -1, "completed"),
    ("completed", None, "completed"),
    ("completed", 19, "completed"),  # of five links at least, of 94
    ("completed", "3", "completed"),
    ("completed", 10**6, "completed"),
    ("set_aside", None, "set_aside"),
    ("set_aside", "9-4", "set_aside"),
    ("set_aside", ["9-9"], "9-9"),
    ("set_aside", ["9-4", "9-4"], "9-4"),
    ("set_aside", ["7-10", "7-10"], "7-10"),
    ("winners", [0], "winners"),
    ("winners", None, "winners"),
    ("winners", "0", "winners"),
    ("winners", [0, 1, 2], "winners"),
]


@pytest.mark.parametrize(("field", "value", "named"), BROKEN)
def test_broken_field_is_named(field: str, value: Any, named: str) -> None:
    """One wrong value, and the error says where: a link, a slot or a field."""
    data = middle()
    assert data[field] != value or isinstance(value, int | float)
    data[field] = value
    broken.refuses(GAME, data, named)


@pytest.mark.parametrize("option", ["short", "skip_forced"])
def test_broken_options_are_named(option: str) -> None:
    for value in (1, None, "no"):
        data = middle()
        data["options"][option] = value
        broken.refuses(GAME, data, option)
    data = middle()
    del data["options"][option]
    broken.refuses(GAME, data, option)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("seat", 0, "winners"),
        ("winners", [], "winners"),
        ("winners", [1], "winners"),
        ("winners", [0, 1], "winners"),
        ("must_start", True, "must_start"),
        ("matched", True, "matched"),
        ("scores", [80, 12], "seat|scores"),
        ("options", {"short": False, "skip_forced": False}, "seat|hands|supply"),
    ],
)
def test_broken_field_of_a_finished_game(field: str, value: Any, named: str) -> None:
    """R20, R21: over means that the target is reached or nothing is left."""
    with pytest.raises(ValueError, match=rf"\b({named})\b"):
        GAME.from_dict(finished() | {field: value})


def test_the_end_of_a_standard_game_needs_empty_hands_and_supplies() -> None:
    """R20."""
    state = play_random(start(seed=1), np.random.default_rng(1))
    data = GAME.to_dict(state)
    assert data["seat"] is None
    assert GAME.from_dict(data).tobytes() == state.tobytes()
    last = data["bracelets"].pop()
    link = last["links"][0][0]
    pile = ROUNDS[LINKS[link].metal - 1]
    with pytest.raises(ValueError, match=r"\b(seat|hands)\b"):
        GAME.from_dict(data | {"hands": [[link], []]})
    if pile == "gold":
        with pytest.raises(ValueError, match=r"\b(seat|supply)\b"):
            GAME.from_dict(data | {"supply": {"bronze": [], "silver": [], "gold": [link]}})


def test_winners_of_teams_are_seats() -> None:
    """R2: with four players winners are seats, scores are sides."""
    data = finished() | {"num_players": 4, "hands": [["2-3"], ["9-M"], [], []]}
    with pytest.raises(ValueError, match=r"\bwinners\b"):
        GAME.from_dict(data)
    data["winners"] = [0, 2]
    assert GAME.to_dict(GAME.from_dict(data)) == data
    with pytest.raises(ValueError, match=r"\bscores\b"):
        GAME.from_dict(data | {"scores": [105, 12, 105, 12]})


def test_positions_play_on_like_the_oracle() -> None:
    """A position by hand is a whole game: played to its end beside the oracle."""
    rng = np.random.default_rng(7)
    for _ in range(20):
        state, oracle = read(middle()), Oracle.read(middle())
        while oracle.seat is not None:
            moves = oracle.moves()
            move = moves[int(rng.integers(len(moves)))]
            GAME.rules.apply(state, GAME.notation.text_to_action(state, str(move)))
            oracle.apply(move)
            assert GAME.to_dict(state) == oracle.to_dict()
