"""Faults that were found from outside, each at the rule that it broke."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import get_game
from tests import broken
from tests.driving import first_quick
from tests.love_formula.helpers import (
    CARDS,
    GAME,
    observe,
    piece,
    play_random,
    position,
    read,
    start,
)
from tests.love_formula.oracle import Setup


@pytest.mark.parametrize("step", ["pre", "post"])
def test_a_card_of_the_seat_to_act(step: str) -> None:
    """In stage T3 a seat has a card until its turn, and none afterwards."""
    plays = {0: "Cafe", 1: "Fireworks Show", 2: "Bouquet"}
    data = position([{}, {}, {}], plays)
    first, second, third = data["order"]
    done = {"cursor": 1, "seat": second, "step": "pre"}
    cards = [None if seat == first else plays[seat] for seat in range(3)]
    there = data | done | {"selected": cards, "deck": [*data["deck"], plays[first]]}
    assert read(there).seat == second
    if step == "post":
        gone = [None if seat == second else card for seat, card in enumerate(cards)]
        there = there | {"selected": gone, "deck": [*there["deck"], plays[second]], "step": "post"}
        assert read(there).seat == second
    wrong: list[Any] = list(there["selected"])
    wrong[third], wrong[first] = None, wrong[third]
    with pytest.raises(ValueError, match="selected"):
        read(there | {"selected": wrong})


def test_no_shields_in_the_first_draft() -> None:
    """No Good Luck Charm has been played yet."""
    for players in (2, 3, 4):
        state = start(Setup(players))
        for seat in range(players):
            assert not piece(state, "shield", seat).any()


@pytest.mark.parametrize(("until", "turns"), [(-1, 0), (7, 0), (9, 0), (10, 1), (12, 3)])
def test_shields_in_the_second_draft(until: int, turns: int) -> None:
    """R7: drafts are no turns; turn 9 is over, and the turns up to the last are to come."""
    state = start()
    state.half, state.turn, state.shield[1] = 2, 9, until
    assert piece(state, "shield", 1)[0] == turns
    assert piece(state, "shield", 0)[1] == turns


@pytest.mark.parametrize(("until", "turns"), [(-1, 0), (3, 0), (4, 1), (7, 4)])
def test_shields_in_a_turn(until: int, turns: int) -> None:
    """A shield lasts for the rest of turn 4, and for the turns after it."""
    state = read(position([{"shield_until": until}, {}], None))
    assert piece(state, "shield", 0)[0] == turns
    assert observe(state, 1)[GAME.observation.spec.slices()["shield"]][1] == turns


def test_bytes_and_json_of_another_table(tmp_path: Path) -> None:
    """Other cards are refused by name; the same cards under another name are accepted."""
    state = start()
    same, other = tmp_path / "same.csv", tmp_path / "other.csv"
    same.write_bytes(CARDS.read_bytes())
    text = CARDS.read_text(encoding="utf-8")
    other.write_text(text.replace("Cafe,", "Coffee House,").replace("|Cafe", "|Coffee House"))
    game = get_game("love_formula", {"cards": str(same)})
    assert game.fixed.digest == GAME.fixed.digest
    data = GAME.to_dict(state)
    assert "digest" not in data
    data["options"] = data["options"] | {"cards": str(same)}
    read_there = game.from_dict(data)
    assert read_there.tobytes() == state.tobytes()
    assert np.array_equal(read_there.deck, state.deck)
    with pytest.raises(ValueError, match="digest"):
        game.from_dict(data | {"digest": "000000000000"})
    blank = state.copy()
    blank["digest"] += np.uint64(1)
    with pytest.raises(ValueError, match="of another cards"):
        GAME.from_bytes(blank.tobytes())


@pytest.mark.parametrize("players", first_quick([2, 3], slow=0))
def test_what_is_known_in_a_draft(players: int) -> None:
    """Nothing is known, except picks from a returned pack with two players."""
    known_cards = 0
    for plies in range(1, 8 * players, 3):
        state = play_random(start(Setup(players), 1), np.random.default_rng(plies), plies)
        known_cards += int(state.known.sum())
        for seat in range(players):
            for card in np.flatnonzero(state.piles[seat]):
                mutant = state.copy()
                mutant.known[1 - min(seat, 1), seat, card] += 1
                with pytest.raises(ValueError, match="known: more than can be known"):
                    GAME.from_bytes(mutant.tobytes())
                broken.refuses(GAME, GAME.to_dict(mutant), "known")
        for seed in range(20):
            world = state.copy()
            GAME.determinize(world, seed % players, np.uint64(seed))
            assert GAME.from_bytes(world.tobytes()).tobytes() == world.tobytes()
    assert (known_cards > 0) == (players == 2)


def test_nothing_moves_after_the_end() -> None:
    """Bytes are refused as their JSON is."""
    state = play_random(start(), np.random.default_rng(1))
    state.moving = 5
    with pytest.raises(ValueError, match="moving"):
        GAME.from_bytes(state.tobytes())


def test_errors_stay_short() -> None:
    """Errors are short, however much is wrong."""
    data = GAME.to_dict(start(Setup(4)))
    data["passed"] = [[[["Cafe"] * 30] * 30] * 30] * 4
    with pytest.raises(ValueError, match="passed: ") as raised:
        GAME.from_dict(data)
    assert len(str(raised.value)) < 1000


@pytest.mark.parametrize("name", ["reshuffles", "random_discards"])
def test_counters_have_room_for_the_rest_of_the_game(name: str) -> None:
    """Else a position that is accepted plays on to one that isn't."""
    data = position([{}, {}], None)
    assert read(data | {name: 49})[name] == 49
    with pytest.raises(ValueError, match="reshuffles, random_discards: more than a game has"):
        read(data | {name: 50})
