"""Validation of positions of Love Links. Numbers (R1..R23) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links.components import (
    COPIES,
    FIRST_LINK,
    FITS,
    KEYS,
    METAL,
    METALS,
    TOTAL,
    TYPES,
)
from linkzoo.games.love_links.rules import GOLD, TARGET, end_game
from linkzoo.games.love_links.state import (
    HAND_PLACES,
    LOCK,
    MAX_PLAYERS,
    MAX_SIDES,
    NONE,
    NUM_SIDES,
    SET_ASIDE,
    SLOTS,
    attach,
    clear_table,
)


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns what is wrong with a position, or ""."""
    return (
        _validate_hands(state)
        or _validate_supplies(state)
        or _validate_bracelets(state, scratch)
        or _validate_sums(state, scratch)
        or _validate_copies(state)
        or _validate_turn(state, scratch)
    )


@compiled
def _validate_hands(state: Record) -> str:
    for seat in range(MAX_PLAYERS):
        size = int(state.hand_size[seat])
        if seat >= state.num_players and size > 0:
            return "hand_size: of more seats than there are players"
        for place in range(HAND_PLACES):
            link = state.hands[seat, place]
            if (link == NONE) != (place >= size):
                return "hands: not as many links as hand_size says"
            if 0 < place < size and link < state.hands[seat, place - 1]:
                return "hands: not sorted"
    for side in range(NUM_SIDES[state.num_players], MAX_SIDES):
        if state.scores[side] != 0 or state.captured[side] != 0:
            return "scores, captured: of more sides than there are"
    return ""


@compiled
def _validate_supplies(state: Record) -> str:
    for metal in range(len(METALS)):
        for position in range(FIRST_LINK[metal], FIRST_LINK[metal + 1]):
            link = int(state.supply[position])
            if (link == NONE) != (position - FIRST_LINK[metal] >= state.supply_size[metal]):
                return "supply: not as many links as supply_size says"
            if link != NONE and METAL[link] != metal:
                return "supply: a link of another metal"
        if state.supply_size[metal] > FIRST_LINK[metal + 1] - FIRST_LINK[metal]:
            return "supply_size: more links than the metal has"
    for link in range(TYPES):
        if state.left[link] != _times(state.supply, link):
            return "left: not what is in the supplies"
    return ""


@compiled
def _times(links: NDArray[np.int8], link: int) -> int:
    """Returns how often a link is among others."""
    count = 0
    for other in links:
        if other == link:
            count += 1
    return count


@compiled
def _validate_bracelets(state: Record, scratch: Record) -> str:
    """Lays the links of each slot again, on the empty table of `scratch`."""
    clear_table(scratch)
    position = 0
    for slot in range(SLOTS + 1):
        for place in range(state.length[slot]):
            if position == TOTAL or state.links[position] == NONE:
                return "length: more links than there are"
            link, owner = int(state.links[position]), int(state.owners[position])
            if owner >= state.num_players or (slot == SET_ASIDE and owner != NONE):
                return "owners: a seat that can't have placed the link"
            if slot != SET_ASIDE and place > 0 and not FITS[KEYS[link], scratch.lock[slot]]:
                return "links: a key that doesn't fit the lock before it"
            attach(scratch, slot, link, owner, LOCK)
            position += 1
    for rest in range(position, TOTAL):
        if state.links[rest] != NONE or state.owners[rest] != NONE:
            return "links: more than length says"
    return ""


@compiled
def _validate_sums(state: Record, scratch: Record) -> str:
    """Compares what is kept beside the links with what `_validate_bracelets` laid."""
    ends = (state.key != scratch.key).any() or (state.lock != scratch.lock).any()
    if ends or (state.metal != scratch.metal).any() or (state.stone != scratch.stone).any():
        return "key, lock, metal, stone: not what the links of the slot say"
    return "owned: not what the owners say" if (state.owned != scratch.owned).any() else ""


@compiled
def _validate_copies(state: Record) -> str:
    for link in range(TYPES):
        count = int(state.left[link]) + _times(state.links, link)
        for seat in range(state.num_players):
            count += _times(state.hands[seat], link)
        if count > COPIES[link]:
            return "hands, supply, links: more copies of a link than the game has"
    return ""


@compiled
def _validate_turn(state: Record, scratch: Record) -> str:
    """Checks who is to act, or has won."""
    reached, holding = False, False
    for side in range(NUM_SIDES[state.num_players]):
        reached |= state.short and state.scores[side] >= TARGET  # R21
    for seat in range(state.num_players):
        holding |= state.hand_size[seat] > 0
    for metal in range(state.round_number, GOLD + 1):
        holding |= state.supply_size[metal] > 0
    if state.seat != NONE:
        if state.hand_size[state.seat] == 0:
            return "seat: its hand is empty"
        return "scores: the game is over" if reached else ""
    if holding and not reached:
        return "seat: nobody is to act, but the game is not over"
    end_game(scratch)
    if state.winners != scratch.winners or state.matched or state.must_start:
        return "winners, matched, must_start: not those of the end"
    return ""
