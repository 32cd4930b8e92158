"""Love Formula's move texts and JSON, and their errors."""

import json
from typing import Any

import numpy as np
import pytest

from tests import broken
from tests.driving import first_quick
from tests.love_formula.helpers import (
    GAME,
    JOB,
    TABLE,
    asked_all,
    both,
    clone,
    legal_list,
    legal_mask,
    play_on,
    play_random,
    play_text,
    position,
    read,
    start,
)
from tests.love_formula.oracle import SUBTYPES, Json, Setup

SETUPS = (
    *(Setup(players) for players in (2, 3, 4)),
    asked_all(3),
    asked_all(4, voluntary_discards="off"),
)
FIELDS = (
    "game version options seed num_players seat ply half turn stage cursor step decision deck "
    "discard reshuffles random_discards hands piles packs selected priorities order fields "
    "obstacles window acting effect look limbo react draft passed taken known hand_sizes_at_end "
    "vp winners"
).split()


def middle() -> Json:
    """Three players; seat 0 is to select in turn 4."""
    fields: list[Json] = [
        {"Pen Pals": ["Love Letter"], "item": "Bouquet"},
        {"Swim Team Duo": ["Christmas Eve", "Beach"], "shield_until": 6},
        {"event": "Rock Concert"},
    ]
    rows = [("Cold Feet", "Pen Pals", 1, 0), ("Bullying", "Swim Team Duo", 2, 3)]
    rows += [("Cold Feet", "Swim Team Duo", 0, 0)]
    hands = {0: ["Cafe", "Cafe", "Objection!"], 1: ["Beach"], 2: ["Sabotage", "Childhood Friends"]}
    return position(
        fields, None, hands=hands, obstacles=rows, discard=["Shrine", "Mix-Up"], seed=5, ply=44
    )


def reacting() -> Json:
    """Seat 0 may object to the Guardian Friend of seat 1."""
    hands = {0: ["Objection!"], 1: ["Guardian Friend", "Objection!"]}
    game = both([{}, {"Pen Pals": []}], {0: "Cold Feet"}, hands=hands).go()
    return game.play("CARD Guardian Friend").data


def finished() -> Json:
    """The end of a game."""
    return GAME.to_dict(play_on(start(Setup(3), 4), np.random.default_rng(4)))


# Moves


def number_of(text: str, seat: int, players: int) -> int:
    """The action index of section 6, worked out again."""
    kind, _, what = text.partition(" ")
    couples, obstacles = TABLE.of("couple"), TABLE.of("obstacle")
    if kind == "CARD":
        return TABLE[what].id
    if kind == "POS":
        where, _, name = what.partition("/")
        if name in SUBTYPES:
            return 64 + 72 + 3 * ((int(where) - seat) % players) + SUBTYPES.index(name)
        return 64 + 3 * couples.index(where) + TABLE[where].requirements.index(name)
    if kind == "COUPLE":
        return 148 + couples.index(what)
    if kind == "OBSTACLE":
        name, rank = what.split("#")
        earlier = obstacles[: obstacles.index(name)]
        return 173 + sum(TABLE[other].copies for other in earlier) + int(rank) - 1
    if kind == "PLAYER":
        return 191 + (int(what) - seat) % players
    return {"FREE": 172, "PASS": 195, "YES": 196, "OPEN_DISCARD": 197}[kind]


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("CARD School Festival", 0),
        ("CARD Spare Ticket", 63),
        ("CARD Valentine's Day", 3),
        ("POS Class President & Delinquent/School Festival", 64),
        ("POS Class President & Delinquent/Love Letter", 66),
        ("POS Pen Pals/Love Letter", 64 + 3 * 21 + 1),
        ("POS 1/event", 136),
        ("POS 1/item", 138),
        ("POS 2/location", 140),
        ("POS 0/event", 142),
        ("COUPLE Class President & Delinquent", 148),
        ("COUPLE Band Vocalist & Drummer", 171),
        ("FREE", 172),
        ("OBSTACLE Bullying#1", 173),
        ("OBSTACLE Cold Feet#2", 173 + 2 * 7 + 1),
        ("PLAYER 2", 192),
        ("PLAYER 0", 193),
        ("PASS", 195),
        ("YES", 196),
        ("OPEN_DISCARD", 197),
    ],
)
def test_move_texts(text: str, action: int) -> None:
    """Section 6 and 9; seat 1 acts: free slots and players count from there."""
    state = play_text(read(middle()), "CARD Cafe")
    assert state.seat == 1
    assert GAME.notation.action_to_text(state, action) == text
    assert GAME.notation.text_to_action(state, text) == action
    assert number_of(text, 1, 3) == action


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_every_legal_move_both_ways(setup: Setup) -> None:
    """At every decision each legal action has its text and its number."""
    state, rng = start(setup, 31), np.random.default_rng(31)
    while state.seat >= 0:
        before = state.tobytes()
        for action in legal_list(state):
            text = GAME.notation.action_to_text(state, int(action))
            assert GAME.notation.text_to_action(state, text) == action
            assert number_of(text, int(state.seat), setup.num_players) == action
        assert state.tobytes() == before
        play_on(state, rng, 1)


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "CARD", "CARD ", "CARD cafe", "card Cafe", "CARD  Cafe", " CARD Cafe"),
        *("CARD Cafe ", "CARD Cafe\n", "Cafe", "CARD Tea House", "CARD 7", "CARD Cafe#1"),
        *("POS", "POS Pen Pals", "POS Pen Pals/", "POS Pen Pals/Cafe", "POS Pen Pals/item"),
        *("POS 4/item", "POS -1/item", "POS 0/thing", "POS 0/", "POS 00/item", "POS ٢/item"),
        *("COUPLE", "COUPLE Cafe", "COUPLE pen pals", "COUPLE 3", "FREE ", "FREE item", "free"),
        *("OBSTACLE Bullying#0", "OBSTACLE Bullying#3", "OBSTACLE Bullying#", "OBSTACLE Cafe#1"),
        *("OBSTACLE Bullying#01", "OBSTACLE Bullying#x", "PLAYER", "PLAYER 4", "PLAYER -1"),
        *("PLAYER x", "PLAYER 02", "pass", "PASS 1", "YES!", "NO", "DONE", "OPEN DISCARD"),
    ],
)
def test_bad_move_texts(text: str) -> None:
    broken.refuses_text(GAME, read(middle()), text)


def test_actions_outside_the_space() -> None:
    for action in (-1, 198, 5000):
        with pytest.raises(ValueError, match=str(action)):
            GAME.notation.action_to_text(start(), action)


def test_ranks_close_up() -> None:
    """Section 6: an obstacle's number is its rank among the copies on the table."""
    rows = [("Cold Feet", "Pen Pals", 1, 0), ("Cold Feet", "Barista & Regular", 1, 0)]
    fields: list[Json] = [{"Pen Pals": [], "Barista & Regular": []}, {}]
    hands = {0: ["Heart-to-Heart Talk"]}
    game = both(fields, {0: "Heart-to-Heart Talk"}, obstacles=rows, hands=hands).go()
    game.play("OBSTACLE Cold Feet#1").until("SELECT")
    assert game.on_table() == [("Cold Feet", "Barista & Regular")]
    game.one("CARD Heart-to-Heart Talk")
    game.one(f"CARD {JOB}")
    game.go()
    assert game.on_table() == []


# Positions


def test_exact_dict() -> None:
    """A position by hand, both ways, and its fields in section 9's order."""
    data = GAME.to_dict(read(middle()))
    assert data == middle()
    assert list(data) == FIELDS
    assert json.loads(json.dumps(data)) == middle()
    assert GAME.from_dict(data).tobytes() == read(middle()).tobytes()
    assert (data["game"], data["version"]) == ("love_formula", GAME.version)
    assert data["vp"] == [3 - 3, 6 - 3, 1]


def test_the_fields_of_a_new_game() -> None:
    data = GAME.to_dict(start(Setup(4), 9))
    assert list(data) == FIELDS
    assert (data["seed"], data["num_players"], data["seat"], data["ply"]) == (9, 4, 0, 0)
    assert data["options"]["voluntary_discards"] == "windows"
    assert data["options"]["skip_forced"] is True


@pytest.mark.parametrize("setup", first_quick(SETUPS, slow=0), ids=str)
def test_round_trip_at_every_decision(setup: Setup) -> None:
    """JSON and back gives the same bytes, which then play on alike, over three decisions."""
    for seed in (0, 2**64 - 1):
        state = start(setup, seed)
        other = clone(state)
        rng = np.random.default_rng(seed % 1000)
        while True:
            assert other.tobytes() == state.tobytes()
            if state.ply % 3 == 0 or state.seat < 0:
                written = json.dumps(GAME.to_dict(state))
                data = json.loads(written)
                other = GAME.from_dict(data)
                assert json.dumps(data) == written
                assert other.tobytes() == state.tobytes()
                assert list(data) == FIELDS
            if state.seat < 0:
                break
            moves = legal_list(state)
            action = int(rng.choice(moves))
            if GAME.notation.action_to_text(state, action) == "OPEN_DISCARD" and rng.random() < 0.8:
                action = int(rng.choice(moves))
            GAME.rules.apply(state, action)
            GAME.rules.apply(other, action)


def test_decisions_by_hand_come_back() -> None:
    """Rare decisions, each on its own: JSON and back."""
    met = set[int]()
    for players in (4, 3, 2):
        state, rng = start(asked_all(players), players), np.random.default_rng(players)
        while state.seat >= 0:
            if state.decision not in met:
                met.add(int(state.decision))
                data = GAME.to_dict(state)
                assert GAME.to_dict(GAME.from_dict(data)) == data
            play_random(state, rng, 1)
    assert len(met) > 14


def test_points_follow_from_the_rest() -> None:
    """Section 9: `vp` is the only field that isn't read back; it has to be right."""
    data = middle()
    assert GAME.to_dict(read(data))["vp"] == data["vp"] == [0, 3, 1]
    with pytest.raises(ValueError, match="vp"):
        GAME.from_dict(data | {"vp": [1, 3, 1]})


def test_a_finished_game_comes_back() -> None:
    data = finished()
    assert (data["seat"], data["stage"]) == (None, "over")
    assert GAME.to_dict(read(data)) == data
    assert not legal_mask(read(data)).any()


# Bad positions: one field broken at a time


def with_field(seat: int, **changes: Any) -> list[Json]:
    """The fields with a change to one."""
    fields: list[Json] = middle()["fields"]
    fields[seat] |= changes
    return fields


def with_couple(seat: int, **changes: Any) -> list[Json]:
    fields: list[Json] = middle()["fields"]
    fields[seat]["couples"][0] |= changes
    return fields


def with_free(seat: int, **changes: Any) -> list[Json]:
    fields: list[Json] = middle()["fields"]
    fields[seat]["free"] |= changes
    return fields


def with_obstacle(number: int, **changes: Any) -> list[Json]:
    obstacles: list[Json] = middle()["obstacles"]
    obstacles[number] |= changes
    return obstacles


def with_hand(seat: int, *cards: Any) -> list[Any]:
    """The hands with a seat's first cards replaced."""
    hands: list[Any] = middle()["hands"]
    hands[seat] = [*cards, *hands[seat][len(cards) :]]
    return hands


BROKEN: list[tuple[str, Any, str]] = [
    *broken.FIELDS,
    ("num_players", 5, "num_players"),
    ("seat", None, "seat|stage|decision|winners"),
    ("seat", 1, "seat|cursor|selected"),  # seat 0 selects first
    ("half", 0, "half"),
    ("half", 3, "half"),
    ("half", "1", "half"),
    ("half", 2, "half|turn"),
    ("turn", 20, "turn"),
    ("turn", -2, "turn"),
    ("turn", "4", "turn"),
    ("turn", None, "turn"),
    ("turn", 14, "turn|half"),
    ("turn", -1, "turn|stage"),
    ("stage", "play", "stage"),
    ("stage", None, "stage"),
    ("stage", 2, "stage"),
    ("stage", "over", "stage|seat|winners|decision|turn|half|hands|hand_sizes_at_end"),
    ("cursor", 9, "cursor"),
    ("cursor", -3, "cursor"),
    ("cursor", "0", "cursor"),
    ("step", "middle", "step"),
    ("step", None, "step"),
    ("decision", "SELECTED", "decision"),
    ("decision", 1, "decision"),
    ("decision", None, "decision|seat"),
    ("deck", None, "deck"),
    ("deck", 70, "deck"),
    ("deck", lambda: [*middle()["deck"][:-1], "Tea House"], "deck|Tea House"),
    ("deck", lambda: [*middle()["deck"][:-1], 7], "deck"),
    ("deck", lambda: middle()["deck"][:-1], "deck|cards"),
    ("deck", lambda: [*middle()["deck"], "Cafe"], "deck|cards|Cafe"),
    ("deck", lambda: [*middle()["deck"][:-1], JOB], "deck|cards|Part-time Job"),
    ("discard", None, "discard"),
    ("discard", ["Shrine", "Tea House"], "discard|Tea House"),
    ("discard", ["Shrine"], "discard|cards|Mix-Up"),
    ("discard", ["Shrine", JOB], "discard|cards|Part-time Job|Mix-Up"),
    ("reshuffles", -1, "reshuffles"),
    ("reshuffles", "0", "reshuffles"),
    ("reshuffles", None, "reshuffles"),
    ("random_discards", -1, "random_discards"),
    ("random_discards", None, "random_discards"),
    ("hands", None, "hands"),
    ("hands", [], "hands"),
    ("hands", lambda: middle()["hands"][:2], "hands"),
    ("hands", lambda: [*middle()["hands"], []], "hands"),
    ("hands", lambda: [3, *middle()["hands"][1:]], "hands"),
    ("hands", lambda: ["Cafe", *middle()["hands"][1:]], "hands"),
    ("hands", lambda: with_hand(0, "Tea House"), "hands|Tea House"),
    ("hands", lambda: with_hand(0, 3), "hands"),
    ("hands", lambda: with_hand(0, "Pop Quiz"), "hands|cards|Pop Quiz|Cafe"),
    ("hands", lambda: with_hand(0, JOB, JOB), "hands|cards|Part-time Job|Cafe"),
    ("piles", None, "piles"),
    ("piles", [[], []], "piles"),
    ("piles", [["Cafe"], [], []], "piles|cards|Cafe"),
    ("piles", [["Tea House"], [], []], "piles|Tea House"),
    ("packs", None, "packs"),
    ("packs", [["Cafe"], [], []], "packs|cards|Cafe"),
    ("packs", [[], []], "packs"),
    ("selected", None, "selected"),
    ("selected", [None, None], "selected"),
    ("selected", ["Tea House", None, None], "selected|Tea House"),
    ("selected", [None, None, "Cafe"], "selected|cards|Cafe"),
    ("selected", [3, None, None], "selected"),
    ("priorities", None, "priorities"),
    ("priorities", [1], "priorities"),
    ("priorities", ["1", 1, 1], "priorities"),
    ("order", None, "order"),
    ("order", [0, 0, 1], "order"),
    ("order", [0, 3, 1], "order"),
    ("fields", None, "fields"),
    ("fields", lambda: middle()["fields"][:2], "fields"),
    ("fields", lambda: [None, *middle()["fields"][1:]], "fields"),
    ("fields", lambda: with_field(0, couples=None), "couples"),
    ("fields", lambda: with_field(0, free=None), "free"),
    ("fields", lambda: with_field(0, shield_until="6"), "shield_until"),
    ("fields", lambda: with_field(0, shield_until=-2), "shield_until"),
    ("fields", lambda: with_field(0, shield_until=99), "shield_until"),
    ("fields", lambda: with_field(0, more=1), "more"),
    ("fields", lambda: with_couple(0, card="Cafe"), "couples|Cafe"),
    ("fields", lambda: with_couple(0, card="Tea House"), "couples|Tea House"),
    ("fields", lambda: with_couple(0, card=None), "couples|card"),
    ("fields", lambda: with_couple(0, attached=["Cafe"]), "attached|Cafe"),
    ("fields", lambda: with_couple(0, attached=["Tea House"]), "attached|Tea House"),
    ("fields", lambda: with_couple(0, attached=["Love Letter"] * 2), "attached|Love Letter"),
    ("fields", lambda: with_couple(0, attached=None), "attached"),
    ("fields", lambda: with_couple(0, attached=[]), "cards|Love Letter"),
    ("fields", lambda: with_free(0, item="Cafe"), "free|Cafe"),
    ("fields", lambda: with_free(0, item="Tea House"), "item|Tea House"),
    ("fields", lambda: with_free(0, item=None), "cards|Bouquet"),
    ("fields", lambda: with_free(0, item=13), "item"),
    ("fields", lambda: with_free(0, thing=None), "thing"),
    ("obstacles", None, "obstacles"),
    ("obstacles", [3], "obstacles"),
    ("obstacles", lambda: middle()["obstacles"][1:], "cards|Cold Feet"),
    ("obstacles", lambda: with_obstacle(0, card="Cafe"), "obstacles|Cafe"),
    ("obstacles", lambda: with_obstacle(0, card="Tea House"), "obstacles|Tea House"),
    ("obstacles", lambda: with_obstacle(0, couple="Childhood Friends"), "couple|Childhood Friends"),
    ("obstacles", lambda: with_obstacle(0, couple="Tea House"), "couple|Tea House"),
    ("obstacles", lambda: with_obstacle(0, by=3), "by"),
    ("obstacles", lambda: with_obstacle(0, by=-1), "by"),
    ("obstacles", lambda: with_obstacle(0, by=None), "by"),
    ("obstacles", lambda: with_obstacle(1, turns_left=-2), "turns_left"),
    ("obstacles", lambda: with_obstacle(1, turns_left=9), "turns_left"),
    ("obstacles", lambda: with_obstacle(1, turns_left="3"), "turns_left"),
    ("obstacles", lambda: with_obstacle(0, more=3), "more"),
    ("window", None, "window"),
    ("window", {}, "window|move_used"),
    ("window", lambda: middle()["window"] | {"move_used": 2}, "move_used"),
    ("window", lambda: middle()["window"] | {"menu": None}, "menu"),
    ("window", lambda: middle()["window"] | {"discard_closed": "no"}, "discard_closed"),
    ("window", lambda: middle()["window"] | {"moving": "Cafe"}, "moving"),
    ("window", lambda: middle()["window"] | {"more": 1}, "more"),
    ("acting", 3, "acting"),
    ("acting", {}, "acting|card"),
    ("effect", 3, "effect"),
    ("effect", {}, "effect|card"),
    ("look", None, "look"),
    ("look", ["Tea House"], "look|Tea House"),
    ("look", ["Cafe"], "look|cards|Cafe"),
    ("limbo", "Tea House", "limbo|Tea House"),
    ("limbo", 3, "limbo"),
    ("limbo", "Cafe", "limbo|cards|Cafe"),
    ("react", 3, "react"),
    ("react", {}, "react|kind"),
    ("draft", None, "draft"),
    ("draft", lambda: middle()["draft"][:2], "draft"),
    ("draft", [["Tea House"] * 12] * 3, "draft|Tea House"),
    ("passed", None, "passed"),
    ("passed", [], "passed"),
    ("taken", None, "taken"),
    ("taken", [], "taken"),
    ("known", None, "known"),
    ("known", [], "known"),
    ("hand_sizes_at_end", 3, "hand_sizes_at_end"),
    ("hand_sizes_at_end", [1], "hand_sizes_at_end"),
    ("hand_sizes_at_end", ["1", 1, 1], "hand_sizes_at_end"),
    ("winners", [0], "winners"),
    ("winners", None, "winners"),
    ("winners", "0", "winners"),
    ("winners", [3], "winners"),
]


@pytest.mark.parametrize(("field", "value", "named"), BROKEN)
def test_broken_field_is_named(field: str, value: Any, named: str) -> None:
    """One wrong value, and the error says where: a card or a field."""
    data = middle()
    value = value() if callable(value) else value  # made here: collecting plays no game
    assert json.dumps(data[field]) != json.dumps(value)
    data[field] = value
    broken.refuses(GAME, data, named)


@pytest.mark.parametrize(
    ("option", "wrong"),
    [
        ("voluntary_discards", "on"),
        ("voluntary_discards", None),
        ("voluntary_discards", 0),
        ("skip_forced", "no"),
        ("cards", "nowhere.csv"),
        ("cards", None),
    ],
)
def test_broken_options_are_named(option: str, wrong: Any) -> None:
    data = middle()
    data["options"][option] = wrong
    broken.refuses(GAME, data, option)
    del data["options"][option]
    broken.refuses(GAME, data, option)


def pending(**changes: Any) -> list[Json]:
    reactions: list[Json] = reacting()["react"]["pending"]
    reactions[0] |= changes
    return reactions


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("kind", "couple", "kind"),
        ("kind", None, "kind"),
        ("source", 2, "source"),
        ("source", None, "source"),
        ("card", "Tea House", "card|Tea House"),
        ("card", "Cafe", "card|Cafe|react"),
        ("couple", "Tea House", "couple|Tea House"),
        ("couple", "Childhood Friends", "couple|Childhood Friends|react"),
        ("owner", 2, "owner"),
        ("owner", "1", "owner"),
        ("cancelled", "no", "cancelled"),
        ("redirected", None, "redirected"),
        ("recovered", 2, "recovered"),
        ("poll", 9, "poll"),
        ("quiet", -1, "quiet"),
        ("quiet", 9, "quiet"),
        ("pending", None, "pending"),
        ("pending", [], "cards|Guardian Friend|pending|decision"),
        ("pending", lambda: pending(card="Cafe"), "cards|Cafe"),
        ("pending", lambda: pending(card="Tea House"), "pending|Tea House"),
        ("pending", lambda: pending(by=2), "by"),
        ("pending", lambda: pending(answers=3), "answers"),
        ("pending", lambda: pending(answers=-2), "answers"),
        ("pending", lambda: pending(cancelled=3), "cancelled"),
    ],
)
def test_broken_field_of_a_reaction_window(field: str, value: Any, named: str) -> None:
    """R19, R20: the event and the reactions to it."""
    data = reacting()
    assert read(data).tobytes() == read(reacting()).tobytes()
    value = value() if callable(value) else value
    assert data["react"][field] != value
    data["react"][field] = value
    broken.refuses(GAME, data, named)


@pytest.mark.parametrize(
    ("field", "value", "named"),
    [
        ("seat", 0, "seat|stage|decision|winners"),
        ("winners", [], "winners|seat"),
        ("winners", [0, 1, 2], "winners"),
        ("winners", [0, 0], "winners"),
        ("hand_sizes_at_end", None, "hand_sizes_at_end"),
        ("hand_sizes_at_end", [1, 1, -1], "hand_sizes_at_end"),
        ("decision", "SELECT", "decision|seat|stage"),
        ("turn", 18, "turn|stage"),
    ],
)
def test_broken_field_of_a_finished_game(field: str, value: Any, named: str) -> None:
    """R27: who has won follows from the fields."""
    data = finished()
    assert data[field] != value
    with pytest.raises(ValueError, match=rf"\b({named})\b"):
        GAME.from_dict(data | {field: value})
