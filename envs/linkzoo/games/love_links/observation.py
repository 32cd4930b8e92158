"""The observation of a seat of Love Links: everything but the order of the supplies (R4)."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import MAX_PLAYERS, NONE, SLOTS, TOTAL, TYPES
from linkzoo.games.love_links.rules import TARGET, closing_value
from linkzoo.games.love_links.state import side_of
from linkzoo.games.love_links.tables import LINKS

_MAX_SHOWN = 500  # points; higher scores look the same

_ALL_METAL = int((LINKS.metal_points * LINKS.copies).sum())
_ALL_STONES = int((LINKS.stone_points * LINKS.copies).sum())
_CLOSING = _ALL_METAL + _ALL_STONES + 2 * (TOTAL - 4) + TOTAL  # no bracelet has more points
_HANDS = (MAX_PLAYERS, components.HAND_PLACES)
_SLOT = (SLOTS,)
_SIDES = (components.MAX_SIDES,)

_Category = partial(Part, categorical=True)
_PARTS = (
    Part("hand_present", _HANDS, 0, 1, "1 where a hand holds a link"),
    _Category("hand_key", _HANDS, 0, 10, "its key"),
    _Category("hand_lock", _HANDS, 0, 11, "its lock; 11 is M"),
    _Category("hand_metal", _HANDS, 0, 3, "its metal: 1 bronze, 2 silver, 3 gold"),
    _Category("hand_stone", _HANDS, 0, 4, f"its stone: 0 none, {', '.join(components.STONES[1:])}"),
    Part("open", _SLOT, 0, 1, "1 where a slot holds a bracelet"),
    _Category("open_key", _SLOT, 0, 10, "its open key"),
    _Category("open_lock", _SLOT, 0, 11, "its open lock; 11 is M"),
    Part("length", _SLOT, 0, TOTAL, "its links"),
    Part("metal", _SLOT, 0, _ALL_METAL, "points of its metal (R16)"),
    Part("stones", _SLOT, 0, _ALL_STONES, "points of its stones (R16)"),
    Part("owned", (*_SIDES, SLOTS), 0, TOTAL, "its links placed by each side"),
    Part("neutral", _SLOT, 0, TOTAL, "its links from the supply"),
    Part(
        "closing_value",
        _SLOT,
        0,
        _CLOSING,
        "what closing it is worth, but for the closing link; 0 below 4 links",
    ),
    Part("supply", (TYPES,), 0, 2, "links of each type left in the supplies"),
    _Category("to_act", (1,), NONE, MAX_PLAYERS - 1, "seat to act; -1 when over"),
    _Category("round", (1,), 0, 2, "0 bronze, 1 silver, 2 gold"),
    _Category("move", (1,), 1, 2, "move of the turn (R8)"),
    Part("matched", (1,), 0, 1, "1 if the next match is worth 3 (R15)"),
    Part("must_start", (1,), 0, 1, "1 if a bracelet has to be started (R12)"),
    Part("scores", _SIDES, 0, _MAX_SHOWN, f"points of each side; {_MAX_SHOWN} is or more"),
    Part("captured", _SIDES, 0, TOTAL, "stones captured by each side (R18)"),
    Part("supply_size", (len(components.METALS),), 0, 35, "links left in each supply"),
    Part("hand_size", (MAX_PLAYERS,), 0, components.HAND_PLACES, "links in each hand"),
    Part("target", (1,), 0, TARGET, "90 in the short game (R21), else 0"),
    _Category("num_players", (1,), 2, MAX_PLAYERS, "players"),
)
SPEC = ObservationSpec(_PARTS, dtype=np.int16)
_AT = SPEC.starts()


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int16]) -> None:
    """Fills a seat's observation (`SPEC`)."""
    out[:] = 0
    players = int(state.num_players)
    for step in range(players):
        _show_hand(state, (seat + step) % players, step, out)
    for slot in range(SLOTS):
        if state.length[slot] > 0:
            _show_bracelet(state, slot, seat, out)
    for link in range(TYPES):
        out[_AT.supply + link] = state.left[link]
    for metal in range(len(components.METALS)):
        out[_AT.supply_size + metal] = state.supply_size[metal]
    for step in range(components.NUM_SIDES[players]):
        side = side_of(state, seat + step)
        out[_AT.scores + step] = min(int(state.scores[side]), _MAX_SHOWN)
        out[_AT.captured + step] = state.captured[side]
    out[_AT.to_act] = NONE
    if state.seat != NONE:
        out[_AT.to_act] = (state.seat - seat) % players
    out[_AT.round] = state.round_number
    out[_AT.move] = state.move
    out[_AT.matched] = state.matched
    out[_AT.must_start] = state.must_start
    if state.short:
        out[_AT.target] = TARGET
    out[_AT.num_players] = players


@compiled
def _show_hand(state: Record, seat: int, step: int, out: NDArray[np.int16]) -> None:
    """Shows the hand of a seat, `step` seats after the observer."""
    out[_AT.hand_size + step] = state.hand_size[seat]
    for place in range(state.hand_size[seat]):
        link = state.hands[seat, place]
        index = step * components.HAND_PLACES + place
        out[_AT.hand_present + index] = 1
        out[_AT.hand_key + index] = LINKS.key[link]
        out[_AT.hand_lock + index] = LINKS.lock[link]
        out[_AT.hand_metal + index] = LINKS.metal_points[link]
        out[_AT.hand_stone + index] = LINKS.stone[link]


@compiled
def _show_bracelet(state: Record, slot: int, seat: int, out: NDArray[np.int16]) -> None:
    length = int(state.length[slot])
    out[_AT.open + slot] = 1
    out[_AT.open_key + slot] = state.key[slot]
    out[_AT.open_lock + slot] = state.lock[slot]
    out[_AT.length + slot] = length
    out[_AT.metal + slot] = state.metal[slot]
    out[_AT.stones + slot] = state.stone[slot]
    neutral = length
    for step in range(components.NUM_SIDES[state.num_players]):
        owned = int(state.owned[slot, side_of(state, seat + step)])
        out[_AT.owned + step * SLOTS + slot] = owned
        neutral -= owned
    out[_AT.neutral + slot] = neutral
    if length >= LINKS.closed_length - 1:
        out[_AT.closing_value + slot] = closing_value(state, slot, side_of(state, seat))
