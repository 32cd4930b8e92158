"""What a seat sees of Love Links: everything but the order of the supplies (R4)."""

from collections import namedtuple
from functools import partial
from typing import Any

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec, Piece
from linkzoo.games.love_links.pieces import (
    CLOSED_LENGTH,
    COPIES,
    HAND_PLACES,
    KEYS,
    LOCKS,
    MAX_PLAYERS,
    MAX_SIDES,
    METAL_POINTS,
    METALS,
    NUM_SIDES,
    SLOTS,
    STONE,
    STONE_POINTS,
    STONES,
    TARGET,
    TOTAL,
    TYPES,
)
from linkzoo.games.love_links.table import NONE, closing_value, side_of

MAX_SCORE = 500  # that is shown

_ALL_METAL = int((METAL_POINTS * COPIES).sum())
_ALL_STONES = int((STONE_POINTS * COPIES).sum())
_CLOSING = _ALL_METAL + _ALL_STONES + 2 * (TOTAL - 4) + TOTAL  # above what any bracelet is worth
_HANDS = (MAX_PLAYERS, HAND_PLACES)
_SLOT = (SLOTS,)

_Kind = partial(Piece, categorical=True)
_PIECES = (
    Piece("hand_present", _HANDS, 0, 1, "1 where a hand holds a link"),
    _Kind("hand_key", _HANDS, 0, 10, "its key"),
    _Kind("hand_lock", _HANDS, 0, 11, "its lock; 11 is M"),
    _Kind("hand_metal", _HANDS, 0, 3, "its metal: 1 bronze, 2 silver, 3 gold"),
    _Kind("hand_stone", _HANDS, 0, 4, f"its stone: 0 none, {', '.join(STONES[1:])}"),
    Piece("open", _SLOT, 0, 1, "1 where a slot holds a bracelet"),
    _Kind("open_key", _SLOT, 0, 10, "its open key"),
    _Kind("open_lock", _SLOT, 0, 11, "its open lock; 11 is M"),
    Piece("length", _SLOT, 0, TOTAL, "its links"),
    Piece("metal", _SLOT, 0, _ALL_METAL, "points of its metal (R16)"),
    Piece("stones", _SLOT, 0, _ALL_STONES, "points of its stones (R16)"),
    Piece("owned", (MAX_SIDES, SLOTS), 0, TOTAL, "its links placed by each side"),
    Piece("neutral", _SLOT, 0, TOTAL, "its links from the supply"),
    Piece(
        "closing_value",
        _SLOT,
        0,
        _CLOSING,
        "what closing it is worth, but for the closing link; 0 below 4 links",
    ),
    Piece("supply", (TYPES,), 0, 2, "links of each type left in the supplies"),
    _Kind("to_act", (1,), NONE, MAX_PLAYERS - 1, "seat to act; -1 when over"),
    _Kind("round", (1,), 0, 2, "0 bronze, 1 silver, 2 gold"),
    _Kind("move", (1,), 1, 2, "move of the turn (R8)"),
    Piece("matched", (1,), 0, 1, "1 if the next match is worth 3 (R15)"),
    Piece("must_start", (1,), 0, 1, "1 if a bracelet has to be started (R12)"),
    Piece("scores", (MAX_SIDES,), 0, MAX_SCORE, f"points of each side; {MAX_SCORE} is or more"),
    Piece("captured", (MAX_SIDES,), 0, TOTAL, "stones captured by each side (R18)"),
    Piece("supply_size", (len(METALS),), 0, 35, "links left in each supply"),
    Piece("hand_size", (MAX_PLAYERS,), 0, HAND_PLACES, "links in each hand"),
    Piece("target", (1,), 0, TARGET, "90 in the short game (R21), else 0"),
    _Kind("num_players", (1,), 2, MAX_PLAYERS, "players"),
)
OBSERVATION = ObservationSpec(
    _PIECES, shape=(sum(int(np.prod(piece.shape)) for piece in _PIECES),), dtype=np.int16
)
# Where each piece begins.
_AT: Any = namedtuple("_AT", OBSERVATION.slices())(
    *(where.start for where in OBSERVATION.slices().values())
)


@compiled
def observe(state: Any, seat: Any, out: Any) -> None:
    """Fills int16 `out` with what `seat` sees (OBSERVATION)."""
    out[:] = 0
    players = np.int64(state.num_players)
    for other in range(players):
        _show_hand(state, (seat + other) % players, other, out)
    for slot in range(SLOTS):
        if state.length[slot] > 0:
            _show_bracelet(state, slot, seat, out)
    for link in range(TYPES):
        out[_AT.supply + link] = state.left[link]
    for metal in range(len(METALS)):
        out[_AT.supply_size + metal] = state.supply_size[metal]
    for other in range(NUM_SIDES[players]):
        side = side_of(state, seat + other)
        out[_AT.scores + other] = min(np.int64(state.scores[side]), MAX_SCORE)
        out[_AT.captured + other] = state.captured[side]
    out[_AT.to_act] = NONE if state.seat == NONE else (state.seat - seat) % players
    out[_AT.round] = state.round_number
    out[_AT.move] = state.move
    out[_AT.matched] = state.matched
    out[_AT.must_start] = state.must_start
    out[_AT.target] = TARGET if state.short else 0
    out[_AT.num_players] = players


@compiled
def _show_hand(state: Any, seat: Any, other: Any, out: Any) -> None:
    """The hand of a seat as the `other`-th one from the observer."""
    out[_AT.hand_size + other] = state.hand_size[seat]
    for place in range(state.hand_size[seat]):
        link, at = state.hands[seat, place], other * HAND_PLACES + place
        out[_AT.hand_present + at] = 1
        out[_AT.hand_key + at] = KEYS[link]
        out[_AT.hand_lock + at] = LOCKS[link]
        out[_AT.hand_metal + at] = METAL_POINTS[link]
        out[_AT.hand_stone + at] = STONE[link]


@compiled
def _show_bracelet(state: Any, slot: Any, seat: Any, out: Any) -> None:
    length = np.int64(state.length[slot])
    out[_AT.open + slot] = 1
    out[_AT.open_key + slot] = state.key[slot]
    out[_AT.open_lock + slot] = state.lock[slot]
    out[_AT.length + slot] = length
    out[_AT.metal + slot] = state.metal[slot]
    out[_AT.stones + slot] = state.stone[slot]
    neutral = length
    for other in range(NUM_SIDES[state.num_players]):
        owned = np.int64(state.owned[slot, side_of(state, seat + other)])
        out[_AT.owned + other * SLOTS + slot] = owned
        neutral -= owned
    out[_AT.neutral + slot] = neutral
    if length >= CLOSED_LENGTH - 1:
        out[_AT.closing_value + slot] = closing_value(state, slot, side_of(state, seat))
