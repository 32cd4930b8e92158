"""Fifteen worked examples of the rules, in the game and in the oracle."""

from collections import Counter

import numpy as np
import pytest

from tests.driving import first_quick
from tests.love_formula.helpers import JOB, TABLE, Both, asked_all, both, walk
from tests.love_formula.oracle import Json

FULL = {"Childhood Friends": ["School Festival", "Cafe", "Box of Chocolates"]}
QUIET = {0: JOB}


def test_scoring() -> None:
    """E1 (R26): 12 + 2 + 1 = 15; Cold Feet -3; Parental Disapproval 4 for 9."""
    own = FULL | {"Pen Pals": ["Love Letter"], "event": "Rock Concert"}
    assert both([own, {}], QUIET).data["vp"] == [15, 0]
    cold = ("Cold Feet", "Childhood Friends", 1, 0)
    assert both([own, {}], QUIET, obstacles=[cold]).data["vp"] == [12, 0]
    parents = ("Parental Disapproval", "Childhood Friends", 1, 0)
    assert both([own, {}], QUIET, obstacles=[cold, parents]).data["vp"] == [7, 0]
    pair = {"Pen Pals": ["Fireworks Show", "Love Letter"]}
    assert both([pair, {}], QUIET).data["vp"] == [6, 0]


def test_bullying_over_both_halves() -> None:
    """E2 (R7, R8): attached at g=8 it triggers at g=9, 10, 11 and 12."""
    hands = {0: ["Cafe"], 1: ["Beach"]}
    game = both([{}, {"Pen Pals": []}], {0: "Bullying"}, hands=hands, turn=8)
    game.go()
    assert game.on_table() == [("Bullying", "Pen Pals")]
    triggers = []
    while game.data["turn"] < 13:
        seat, decision = game.asks
        moves = game.oracle.moves()
        if decision == "CHOICE":
            assert game.data["stage"] == "start"
            triggers.append((seat, game.data["turn"]))
        assert decision != "CHOICE" or game.on_table()
        move = next((m for m in ("PASS", f"CARD {JOB}") if m in moves), moves[0])
        game.one(move)
    assert triggers == [(1, 9), (1, 10), (1, 11), (1, 12)]
    assert game.on_table() == []
    assert "Bullying" in game.data["discard"]


def test_bullying_without_a_choice() -> None:
    """E3 (R24): with the Part-time Job only, the preparation goes; nothing if there is none."""
    for attached in (["Love Letter"], []):
        game = both(
            [{}, {"Pen Pals": attached}],
            {0: "Childhood Friends", 1: "Swim Team Duo"},
            obstacles=[("Bullying", "Pen Pals", 0, 3)],
        )
        game.until("CHOICE" if attached else "SELECT")
        assert (game.data["turn"], game.hand(1)) == (5, [])
        if attached:
            assert game.legal() == {"POS Pen Pals/Love Letter"}
            game.one("POS Pen Pals/Love Letter")
        assert game.couples(1) == {"Pen Pals": [], "Swim Team Duo": []}
        assert game.data["discard"] == attached
        assert game.data["obstacles"][0]["turns_left"] == 2


def test_making_room() -> None:
    """E4 (R10-R12): the Love Letter moves to Pen Pals, the Bouquet takes the slot."""
    own: Json = {"Pen Pals": [], "item": "Love Letter"}
    game = both([own, {}], {0: "Bouquet"})
    assert game.legal() == {"PASS", "POS 0/item"}
    game.play("POS 0/item")
    assert game.couples(0) == {"Pen Pals": ["Love Letter"]}
    assert game.free(0) == {"item": "Bouquet"}
    unmoved = both([own, {}], {0: "Bouquet"}).go()
    assert unmoved.free(0) == {"item": "Love Letter"}
    assert unmoved.data["discard"] == ["Bouquet"]
    twice = both([{"Pen Pals": ["Love Letter"], "item": "Bouquet"}, {}], {0: "Love Letter"})
    twice.go()
    assert twice.data["discard"] == ["Love Letter"]


REACTORS = {0: ["Objection!"], 1: ["Guardian Friend", "Objection!"]}


def test_objections() -> None:
    """E5 (R20, R21): last to first."""
    game = both([{}, {"Pen Pals": []}], {0: "Cold Feet"}, hands=REACTORS).go()
    assert game.asks == (1, "REACT")
    assert game.legal() == {"CARD Guardian Friend", "PASS"}
    game.play("CARD Guardian Friend")
    assert game.asks == (0, "REACT")
    assert game.legal() == {"CARD Objection!", "PASS"}
    game.play("CARD Objection!")
    assert game.asks == (1, "REACT")
    assert game.legal() == {"CARD Objection!", "PASS"}
    game.play("CARD Objection!")
    assert game.on_table() == []
    assert Counter(game.data["discard"]) == Counter(
        ["Objection!", "Objection!", "Guardian Friend", "Cold Feet"]
    )
    other = both([{}, {"Pen Pals": []}], {0: "Cold Feet"}, hands=REACTORS)
    other.go().play("CARD Guardian Friend", "CARD Objection!", "PASS")
    assert other.on_table() == [("Cold Feet", "Pen Pals")]
    assert sorted(other.data["discard"]) == ["Guardian Friend", "Objection!"]


def test_redirected_before_it_is_cancelled() -> None:
    """E6 (R21, R22): the second card resolves first; the first has nothing left to cancel."""
    hands = {1: ["Guardian Friend", "Wrong Person!"], 2: ["Guardian Friend"]}
    fields: list[Json] = [{}, {"Pen Pals": []}, {"Swim Team Duo": []}]
    game = both(fields, {0: "Cold Feet"}, hands=hands)
    game.go().play("COUPLE Pen Pals", "CARD Guardian Friend")
    assert game.asks == (1, "REACT")
    game.play("CARD Wrong Person!")
    assert game.asks == (2, "REACT")
    assert sorted(game.data["discard"]) == ["Guardian Friend", "Wrong Person!"]
    assert game.legal() == {"CARD Guardian Friend", "PASS"}
    game.play("PASS")
    assert game.on_table() == [("Cold Feet", "Swim Team Duo")]


def test_cancelled_job() -> None:
    """E7 (R14): no draw, and the card is back in hand."""
    game = both([{}, {}], QUIET, hands={1: ["Change of Plans"]}).go()
    assert game.asks == (1, "REACT")
    deck = game.data["deck"]
    game.one("CARD Change of Plans")
    assert game.data["deck"] == deck
    assert game.data["hands"][0] == [JOB]
    assert game.data["discard"] == ["Change of Plans"]


def test_obstacles_without_a_couple() -> None:
    """E8 (R13): discarded; also if all are shielded. Own couples don't count."""
    alone = both([{"Pen Pals": []}, {}], {0: "Cold Feet"}).go()
    assert (alone.on_table(), alone.data["discard"]) == ([], ["Cold Feet"])
    shielded = both([{}, {"Pen Pals": [], "shield_until": 4}], {0: "Cold Feet"}).go()
    assert (shielded.on_table(), shielded.data["discard"]) == ([], ["Cold Feet"])
    later = both([{}, {"Pen Pals": [], "shield_until": 3}], {0: "Cold Feet"}).go()
    assert later.on_table() == [("Cold Feet", "Pen Pals")]


def test_moving_away() -> None:
    """E9 (R8, T4; R15): attached at g=3, it takes its couple at the end of g=8."""
    game = both([{}, {"Pen Pals": ["Love Letter"]}], {0: "Moving Away"}, turn=3).go()
    while game.data["turn"] < 8:
        game.next_turn()
        assert game.couples(1) == {"Pen Pals": ["Love Letter"]}
    game.next_turn()
    assert (game.couples(1), game.on_table()) == ({}, [])
    gone = Counter[str](game.data["discard"])
    assert gone == Counter(["Pen Pals", "Love Letter", "Moving Away"])


def test_rumour() -> None:
    """E10 (R8, T2): 4 - 2 for an item, 1 - 2 is 0."""
    rumour = ("Nasty Rumor", "Pen Pals", 1, 3)
    game = both([{"Pen Pals": []}, {}], QUIET, obstacles=[rumour], hands={0: ["Bouquet"]})
    game.until("SELECT")
    game.one("CARD Bouquet")
    game.one(f"CARD {JOB}")
    assert game.data["priorities"] == [2, 1]
    game.until("SELECT")
    game.one(f"CARD {JOB}")
    game.one(f"CARD {JOB}")
    assert game.data["priorities"] == [0, 1]
    assert game.data["order"] == [1, 0]


def test_downpour() -> None:
    """R10: no card is added to the couple; its cards may leave."""
    rain = ("Sudden Downpour", "Pen Pals", 1, 3)
    own = {"Pen Pals": ["Love Letter"], "event": "Fireworks Show"}
    game = both([own, {}], {0: "Fireworks Show"}, obstacles=[rain])
    assert game.legal() == {"PASS", "POS Pen Pals/Love Letter"}
    game.go()
    assert game.data["discard"] == ["Fireworks Show"]
    away = both([own, {}], {0: "Cafe"}, obstacles=[rain]).play("POS Pen Pals/Love Letter")
    assert away.couples(0) == {"Pen Pals": []}
    assert away.free(0)["item"] == "Love Letter"
    dry = both([own, {}], {0: "Fireworks Show"})
    assert dry.legal() == {"PASS", "POS Pen Pals/Love Letter", "POS 0/event"}


def test_spare_ticket() -> None:
    """E12 (R19): the Love Letter comes to hand."""
    game = both(
        [{}, {"Pen Pals": ["Love Letter"]}], {0: "Sabotage"}, hands={1: ["Spare Ticket"]}
    ).go()
    assert game.asks == (1, "REACT")
    game.play("CARD Spare Ticket")
    assert game.hand(1) == ["Love Letter"]
    assert sorted(game.data["discard"]) == ["Sabotage", "Spare Ticket"]


def test_dropping_a_couple() -> None:
    """E13 (R11, R15): three cards go."""
    cold = ("Cold Feet", "Pen Pals", 1, 0)
    windows = {"voluntary_discards": "windows"}
    game = both([{"Pen Pals": ["Love Letter"]}, {}], QUIET, obstacles=[cold], options=windows).play(
        "OPEN_DISCARD", "COUPLE Pen Pals"
    )
    assert (game.couples(0), game.on_table()) == ({}, [])
    assert Counter(game.data["discard"]) == Counter(["Pen Pals", "Love Letter", "Cold Feet"])


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_conservation(players: int) -> None:
    """At the end each of the 120 cards is in exactly one zone."""
    for seed in range(2):
        for game, _ in walk(asked_all(players), 40 + seed):
            last = game
        data = last.data
        assert data["stage"] == "over"
        counts = Counter([*data["deck"], *data["discard"]])
        for own in data["fields"]:
            counts += Counter(card for card in own["free"].values() if card)
            for couple in own["couples"]:
                counts += Counter([couple["card"], *couple["attached"]])
        counts += Counter(obstacle["card"] for obstacle in data["obstacles"])
        assert counts == Counter(TABLE.deck)
        assert all(set(hand) <= {JOB} for hand in data["hands"])


def test_only_jobs() -> None:
    """E15 (R23): 40 cards drawn in the first half; draft 2 needs one reshuffle."""
    setup = asked_all(4, voluntary_discards="off")
    game = Both.begin(setup, 15)
    rng = np.random.default_rng(15)
    seen = set()
    while game.data["stage"] != "over":
        data = game.data
        moves = game.oracle.moves()
        if data["decision"] == "SELECT":
            move = f"CARD {JOB}"
        elif "PASS" in moves:
            move = "PASS"
        else:
            move = moves[int(rng.integers(len(moves)))]
        game.one(move)
        seen.add((game.data["half"], game.data["reshuffles"]))
        if game.data["half"] == 2 and data["half"] == 1:
            assert [len(pack) for pack in game.data["packs"]] == [12] * 4
            assert len(game.data["deck"]) == 120 - 48
    assert {(1, 0), (2, 1)} <= seen
    assert not {(1, 1), (2, 0)} & seen
