"""Love Formula's observation: bounds, pieces against the oracle, seats alike."""

import re
from collections.abc import Iterable
from math import prod
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo.games.love_formula import phases
from tests.driving import first_quick, same
from tests.love_formula.helpers import (
    GAME,
    JOB,
    TABLE,
    asked_all,
    both,
    cards_in,
    clone,
    legal_list,
    legal_mask,
    margins,
    observe,
    payoffs,
    piece,
    play_on,
    read,
    revealed,
    start,
    walk,
)
from tests.love_formula.oracle import SUBTYPES, Json, Oracle, Setup


def test_sizes() -> None:
    """The parts fill the vector; sizes don't depend on the number of players."""
    spec = GAME.observation.spec
    assert prod(spec.shape) == sum(prod(part.shape) for part in spec.parts)
    for players in (2, 3, 4):
        assert observe(start(Setup(players)), 0).size == GAME.observation.spec.size
    for one in GAME.observation.spec.parts:
        assert one.meaning
        assert one.low < one.high


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_bounds(players: int) -> None:
    """All numbers of all seats lie within their declared bounds at every decision."""
    space = GAME.observation.spec.space()
    for seed in range(3):
        state, rng = start(Setup(players), seed), np.random.default_rng(seed)
        while True:
            for seat in range(players):
                assert space.contains(observe(state, seat).reshape(GAME.observation.spec.shape))
            if state.seat < 0:
                break
            play_on(state, rng, 1)


# Every piece


def counts(names: Iterable[str]) -> NDArray[np.int64]:
    """How many of each type."""
    numbers = np.zeros(64, np.int64)
    for name in names:
        numbers[TABLE[name].id] += 1
    return numbers


def four(rows: list[Any], shape: tuple[int, ...] = ()) -> NDArray[np.int64]:
    """By seat from the observer on; absent seats are 0."""
    numbers = np.zeros((4, *shape), np.int64)
    for number, row in enumerate(rows):
        numbers[number] = row
    return numbers


def expected(oracle: Oracle, seat: int) -> dict[str, NDArray[np.int64]]:
    """The pieces that follow from the zones, as one seat sees them."""
    n, table = oracle.n, oracle.table
    seats = [(seat + step) % n for step in range(n)]
    couples, obstacles = table.of("couple"), table.of("obstacle")
    preparations = table.of("preparation")
    acts = oracle.seat == seat
    down = oracle.selected if oracle.face_down else [None] * n
    where = np.zeros(24, np.int64)
    attached, complete = np.zeros((24, 3), np.int64), np.zeros(24, np.int64)
    on, left = np.zeros((24, 9), np.int64), np.zeros((24, 9), np.int64)
    by = np.zeros((24, 4), np.int64)
    free = np.zeros((4, 15), np.int64)
    for place, other in enumerate(seats):
        for name, cards in oracle.fields[other].couples.items():
            number = couples.index(name)
            where[number] = place + 1
            attached[number, : len(table[name].requirements)] = [
                card in cards for card in table[name].requirements
            ]
            complete[number] = oracle.complete(name)
        for slot in oracle.fields[other].free.values():
            if slot is not None:
                free[place, preparations.index(slot)] = 1
    needed = np.zeros((4, 15), np.int64)
    wanted, in_reach = np.zeros(15, np.int64), np.zeros(24, np.int64)
    own = [*oracle.hands[seat], *oracle.piles[seat]]
    for number, name in enumerate(couples):
        lacking = [
            card for k, card in enumerate(table[name].requirements) if not attached[number, k]
        ]
        in_reach[number] = sum(card in own for card in lacking)
        for card in lacking:
            wanted[preparations.index(card)] += name in own
            if where[number]:
                needed[where[number] - 1, preparations.index(card)] += 1
    for name in oracle.discard:
        if name in couples:
            where[couples.index(name)] = 5
    for o in oracle.obstacles:
        spot = couples.index(o.couple), obstacles.index(o.card)
        on[spot] += 1
        if table[o.card].turns > 0:
            left[spot] = min(o.turns_left, left[spot]) if left[spot] else o.turns_left
        by[spot[0], seats.index(o.by)] = 1
    revealed_now = oracle.stage == "resolve"
    hand_sizes = [len(oracle.hands[other]) + (down[other] is not None) for other in seats]
    mods = [sum(m.get("priority_mod", 0) for m in oracle.statics(other)) for other in seats]
    memory = [cards_in(oracle.known[seat][other]).elements() for other in seats[1:]]
    return {
        "num_players": np.array([n]),
        "half": np.array([oracle.half]),
        "turn": np.array([oracle.turn]),
        "decision": np.array([1 + KINDS.index(oracle.decision) if acts and oracle.decision else 0]),
        "hand": counts(card for card in oracle.hands[seat]),
        "face_down": counts([card for card in [down[seat]] if card]),
        "pile": counts(oracle.piles[seat]),
        "pack": counts(oracle.packs[seat]),
        "discard": counts(oracle.discard),
        "look": counts(oracle.look if acts else []),
        "hand_size": four(hand_sizes),
        "deck_size": np.array([len(oracle.deck)]),
        "order": four([1 + oracle.order.index(other) if revealed_now else 0 for other in seats]),
        "priority": four([1 + oracle.priorities[o] if revealed_now else 0 for o in seats]),
        "couple": where,
        "attached": attached,
        "complete": complete,
        "obstacles": on,
        "turns_left": left,
        "obstacle_by": by,
        "free": free,
        "needed": needed,
        "wanted": wanted,
        "in_reach": in_reach,
        "priority_change": four(mods),
        "points": four([oracle.points(other) for other in seats]),
        "taken": counts(oracle.taken[seat].elements()),
        "known": four([counts(row) for row in memory], (64,))[:3],
    }


KINDS = (
    *("DRAFT", "SELECT", "WINDOW", "MOVE_DEST", "DISCARD_MENU", "PLACE", "TARGET_COUPLE"),
    *("TARGET_PREP", "SWAP_OWN", "TARGET_OBSTACLE", "TARGET_PLAYER", "HAND_DISCARD"),
    *("LOOK_KEEP", "RECOVER", "CHOICE", "REACT", "PAY"),
)


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_pieces_at_every_second_decision(players: int) -> None:
    """Section 6: open cards, the seat's hand, and the cards that it remembers."""
    for number, (game, _) in enumerate(walk(asked_all(players), 50)):
        if game.oracle.stage == "over":
            break
        if number % 2:
            continue
        for seat in range(players):
            flat = observe(game.state, seat)
            for name, values in expected(game.oracle, seat).items():
                if name in {"hand_size", "hand"} and game.oracle.stage == "draft":
                    continue  # whether the Part-time Job is in the hand then isn't said
                waits = game.oracle.seat is None or seat < game.oracle.seat
                if name == "pack" and waits:
                    continue  # he has picked already
                part = GAME.observation.spec.view(flat, name)
                same(part, values, words=f"{name} of seat {seat}")


def test_pieces_of_a_reaction_window() -> None:
    """The event, and the reactions that wait, are open to all; who is asked isn't."""
    hands = {0: ["Objection!"], 1: ["Guardian Friend", "Objection!"]}
    game = both([{}, {"Pen Pals": []}, {}], {0: "Cold Feet"}, hands=hands).go()
    game.play("CARD Guardian Friend")
    assert game.asks == (0, "REACT")
    for seat in range(3):
        assert piece(game.state, "event", seat).tolist() == [1]
        assert (
            piece(game.state, "event_source", seat).tolist()
            == four([(seat + step) % 3 == 0 for step in range(3)]).tolist()
        )
        aimed = piece(game.state, "event_couple", seat)
        assert np.flatnonzero(aimed).tolist() == [TABLE.of("couple").index("Pen Pals")]
        pending = piece(game.state, "pending", seat)
        assert np.argwhere(pending).tolist() == [[(1 - seat) % 3, 0]]
        acting = piece(game.state, "acting", seat)
        assert np.flatnonzero(acting).tolist() == [TABLE["Cold Feet"].id]
        decision = piece(game.state, "decision", seat).tolist()
        assert decision == ([1 + KINDS.index("REACT")] if seat == 0 else [0])


def test_pieces_of_a_discard() -> None:
    """Whose hand loses how many cards."""
    hands = {1: ["Cafe", "Beach", "Bouquet"], 2: ["Cafe", "Beach", "Bouquet"]}
    game = both([{}, {}, {}], {0: "Pop Quiz"}, hands=hands).go()
    assert piece(game.state, "discards_of", 1).tolist() == [1, 0, 0, 0]
    assert piece(game.state, "left", 1).tolist() == [2]
    game.play("CARD Cafe")
    assert piece(game.state, "left", 1).tolist() == [1]
    game.play("CARD Beach")
    assert piece(game.state, "discards_of", 1).tolist() == [0, 0, 0, 0]
    assert piece(game.state, "discards_of", 2).tolist() == [1, 0, 0, 0]


def test_the_move_of_the_windows() -> None:
    """R11: `can_move` is 1 until the move is used, for the seat whose window it is."""
    game = both([{"Pen Pals": [], "item": "Love Letter"}, {}], {0: JOB})
    assert piece(game.state, "can_move").tolist() == [1]
    game.one("POS 0/item")
    subject = piece(game.state, "subject")
    assert np.flatnonzero(subject).tolist() == [TABLE["Love Letter"].id]
    game.one("COUPLE Pen Pals")
    assert piece(game.state, "can_move").tolist() == [0]


# Symmetry


def moved_text(text: Any, players: int, by: int) -> Any:
    """A position or target with every seat moved on."""
    if not isinstance(text, str):
        return text
    kinds = "|".join(SUBTYPES)

    def shift(found: re.Match[str]) -> str:
        return f"{found[1]}{(int(found[2]) + by) % players}{found[3]}"

    text = re.sub(rf"^((?:POS )?)(\d)(/(?:{kinds}))$", shift, text)
    return re.sub(r"^(PLAYER )(\d)()$", shift, text)


def rotated(data: Json, by: int) -> Json:
    """The same game with every seat moved on by some seats; all cards have been revealed."""
    players = data["num_players"]

    def moved(seat: int | None) -> int | None:
        return None if seat is None else (seat + by) % players

    def rolled(values: Any) -> Any:
        if not isinstance(values, list) or len(values) != players:
            return values
        return [values[(index - by) % players] for index in range(players)]

    def walked(value: Any) -> Any:
        """Seats and texts inside a frame."""
        if isinstance(value, dict):
            seats = {"by", "source", "owner", "who", "poll"}
            return {
                key: moved(item) if key in seats and isinstance(item, int) else walked(item)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [walked(item) for item in value]
        return moved_text(value, players, by)

    made = dict(data)
    by_seat = ("hands", "piles", "packs", "selected", "priorities", "fields", "taken", "vp")
    for name in (*by_seat, "draft", "passed", "known", "hand_sizes_at_end"):
        made[name] = rolled(data[name])
    for name in ("passed", "known"):
        made[name] = [rolled(row) for row in made[name]]
    made["seat"] = moved(data["seat"])
    made["order"] = [moved(seat) for seat in data["order"]]
    made["winners"] = sorted((seat + by) % players for seat in data["winners"])
    for name in ("obstacles", "window", "acting", "effect", "react"):
        made[name] = walked(data[name])
    return made


@pytest.mark.parametrize("players", first_quick([2, 3, 4], slow=0))
def test_seats_are_symmetric(players: int) -> None:
    """Moving everything on by some seats changes nobody's view, to the end of the turn.

    Picks and selections are asked in seat order, so only resolution is symmetric.
    """
    turns, kinds = 0, set()
    for seed in range(2):
        state, rng = start(asked_all(players), seed), np.random.default_rng(seed)
        while state.seat >= 0:
            play_on(state, rng, 1)
            resolving = state.stage == phases.RESOLVE and state.step == phases.PRE
            if not resolving or state.cursor or state.move_used or rng.random() < 0.5:
                continue
            data = GAME.to_dict(state)
            turns += 1
            by = 1 + turns % (players - 1) if players > 2 else 1
            one, other = clone(state), read(rotated(data, by))
            while one.stage == phases.RESOLVE:
                kinds.add(int(one.decision))
                same(legal_mask(other), legal_mask(one))
                for seat in range(players):
                    there = (seat + by) % players
                    same(observe(other, there), observe(one, seat))
                    same(revealed(other, there), revealed(one, seat))
                assert margins(other) == pytest.approx(np.roll(margins(one), by).tolist())
                assert payoffs(other) == pytest.approx(np.roll(payoffs(one), by).tolist())
                action = int(rng.choice(legal_list(one)))
                GAME.rules.apply(one, action)
                GAME.rules.apply(other, action)
                assert GAME.to_dict(other)["fields"] == rotated(GAME.to_dict(one), by)["fields"]
    assert turns > 12
    assert len(kinds) > 6
