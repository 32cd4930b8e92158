"""Validation of positions of Love Links, compiled. R1 to R23 refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import METALS, NONE, NUM_SIDES, TOTAL, TYPES
from linkzoo.games.love_links.rules import TARGET, end_game
from linkzoo.games.love_links.state import MAX_SCORE, attach, clear_table
from linkzoo.games.love_links.tables import LINKS


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns the error of a position, or ""."""
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
    for seat in range(components.MAX_PLAYERS):
        size = int(state.hand_size[seat])
        if seat >= state.num_players and size > 0:
            return "hand_size: of more seats than there are players"
        if size > LINKS.largest_hand:
            return "hands (hand_size): more links than a hand has"
        for place in range(components.HAND_PLACES):
            link = state.hands[seat, place]
            if (link == NONE) != (place >= size):
                return "hands: the number of links isn't hand_size"
            if 0 < place < size and link < state.hands[seat, place - 1]:
                return "hands: not sorted"
    for side in range(NUM_SIDES[state.num_players], components.MAX_SIDES):
        if state.scores[side] != 0 or state.captured[side] != 0:
            return "scores, captured: of more sides than there are"
    return ""


@compiled
def _validate_supplies(state: Record) -> str:
    counted = np.zeros(TYPES, np.int64)  # by type
    for metal in range(len(METALS)):
        for position in range(LINKS.first_link[metal], LINKS.first_link[metal + 1]):
            link = int(state.supply[position])
            if (link == NONE) != (position - LINKS.first_link[metal] >= state.supply_size[metal]):
                return "supply: the number of links isn't supply_size"
            if link != NONE:
                counted[link] += 1
                if LINKS.metal[link] != metal:
                    return "supply: a link of another metal"
        if state.supply_size[metal] > LINKS.first_link[metal + 1] - LINKS.first_link[metal]:
            return "supply_size: more links than the metal has"
    for position in range(LINKS.first_link[len(METALS)], TOTAL):
        if state.supply[position] != NONE:
            return "supply: more links than the game has"
    for link in range(TYPES):
        if state.left[link] != counted[link]:
            return "left: doesn't match the supplies"
    return ""


@compiled
def _validate_bracelets(state: Record, scratch: Record) -> str:
    """Attaches the links of each slot anew, on the empty table of `scratch`."""
    clear_table(scratch)
    position = 0
    for slot in range(components.SLOTS + 1):
        for place in range(state.length[slot]):
            if position == TOTAL or state.links[position] == NONE:
                return "length: more links than there are"
            link = int(state.links[position])
            owner = int(state.owners[position])
            if owner >= state.num_players or (slot == components.SET_ASIDE and owner != NONE):
                return "owners: a seat that can't have placed the link"
            fits = LINKS.fits[LINKS.key[link], scratch.lock[slot]]
            if slot != components.SET_ASIDE and place > 0 and not fits:
                return "links: a key that doesn't fit the lock before it"
            attach(scratch, slot, link, owner, components.LOCK)
            position += 1
    for rest in range(position, TOTAL):
        if state.links[rest] != NONE or state.owners[rest] != NONE:
            return "links: more than length"
    return ""


@compiled
def _validate_sums(state: Record, scratch: Record) -> str:
    """Compares the sums over links with the sums that `_validate_bracelets` made."""
    for slot in range(components.SLOTS + 1):
        ends = state.key[slot] != scratch.key[slot] or state.lock[slot] != scratch.lock[slot]
        metal = state.metal[slot] != scratch.metal[slot]
        if ends or metal or state.stone[slot] != scratch.stone[slot]:
            return "key, lock, metal, stone: don't match the links of the slot"
    if (state.owned != scratch.owned).any():
        return "owned: doesn't match the owners"
    return ""


@compiled
def _validate_copies(state: Record) -> str:
    gone = np.copy(LINKS.copies)  # by type, copies that have left play
    for link in state.links:
        if link != NONE:
            gone[link] -= 1
    for seat in range(state.num_players):
        for place in range(state.hand_size[seat]):
            gone[state.hands[seat, place]] -= 1
    gone -= state.left
    if (gone < 0).any():
        return "hands, supply, links: more copies of a link than the game has"
    used = max(int(state.captured.sum()), LINKS.closed_length * int(state.completed))  # R10, R18
    if used > gone.sum():
        return "captured, completed: more links than have left play"
    return ""


@compiled
def _validate_turn(state: Record, scratch: Record) -> str:
    """Checks the seat to act, or the winners."""
    if (state.scores > MAX_SCORE - 2**12).any():  # all links together are worth fewer points
        return "scores: more than a game has"
    reached = state.short != 0 and (state.scores >= TARGET).any()  # R21
    holding = (state.hand_size > 0).any()
    for metal in range(state.round_number, len(METALS)):
        holding |= state.supply_size[metal] > 0
    if state.seat != NONE:
        if state.hand_size[state.seat] == 0:
            return "seat: its hand is empty"
        if reached:
            return "scores: the game is over"
        return ""
    if holding and not reached:
        return "seat: nobody is to act, but the game is not over"
    end_game(scratch)
    if state.winners != scratch.winners or state.matched or state.must_start:
        return "winners, matched, must_start: not the values of a finished game"
    return ""
