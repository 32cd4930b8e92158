"""What a seat sees of Love Formula: bounds, pieces against the oracle, seats alike."""

import re
from math import prod
from typing import Any

import numpy as np
import pytest

from tests.love_formula.helpers import (
    GAME,
    asked_all,
    clone,
    legal_list,
    legal_mask,
    margins,
    observe,
    payoffs,
    play_on,
    read,
    revealed,
    start,
)
from tests.love_formula.oracle import SUBTYPES, Json, Setup


def test_sizes() -> None:
    """The pieces fill the vector; sizes don't depend on the number of players."""
    assert prod(GAME.observation.shape) == sum(prod(p.shape) for p in GAME.observation.pieces)
    for players in (2, 3, 4):
        assert observe(start(Setup(players)), 0).size == GAME.observation.size
    for one in GAME.observation.pieces:
        assert one.meaning
        assert one.low < one.high


@pytest.mark.parametrize("players", [2, 3, 4])
def test_bounds(players: int) -> None:
    """All numbers of all seats lie within their declared bounds at every decision."""
    space = GAME.observation.space()
    for seed in range(3):
        state, rng = start(Setup(players), seed), np.random.default_rng(seed)
        while True:
            for seat in range(players):
                assert space.contains(observe(state, seat).reshape(GAME.observation.shape))
            if state.seat < 0:
                break
            play_on(state, rng, 1)


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


@pytest.mark.parametrize("players", [2, 3, 4])
def test_seats_are_symmetric(players: int) -> None:
    """Moving everything on by some seats changes nobody's view, to the end of the turn.

    Picks and selections are asked in seat order, so only resolution is symmetric.
    """
    turns, kinds = 0, set()
    for seed in range(2):
        state, rng = start(asked_all(players), seed), np.random.default_rng(seed)
        while state.seat >= 0:
            play_on(state, rng, 1)
            data = GAME.to_dict(state)
            first = data["stage"] == "resolve" and data["step"] == "pre" and not data["cursor"]
            if not first or data["window"]["move_used"] or rng.random() < 0.5:
                continue
            turns += 1
            by = 1 + turns % (players - 1) if players > 2 else 1
            one, other = clone(state), read(rotated(data, by))
            while GAME.to_dict(one)["stage"] == "resolve":
                kinds.add(GAME.to_dict(one)["decision"])
                np.testing.assert_array_equal(legal_mask(other), legal_mask(one))
                for seat in range(players):
                    there = (seat + by) % players
                    np.testing.assert_array_equal(observe(other, there), observe(one, seat))
                    np.testing.assert_array_equal(revealed(other, there), revealed(one, seat))
                assert margins(other) == pytest.approx(np.roll(margins(one), by).tolist())
                assert payoffs(other) == pytest.approx(np.roll(payoffs(one), by).tolist())
                action = int(rng.choice(legal_list(one)))
                GAME.apply(one, action)
                GAME.apply(other, action)
                assert GAME.to_dict(other)["fields"] == rotated(GAME.to_dict(one), by)["fields"]
    assert turns > 12
    assert len(kinds) > 6
