"""Love Links: the compiled rules. Numbers (R1..R23) refer to RULES.md."""

from typing import Any

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links.pieces import (
    CLOSE,
    CLOSED_LENGTH,
    COPIES,
    FIRST_LINK,
    FITS,
    HAND_PLACES,
    KEY,
    KEYS,
    LOCK,
    LOCKS,
    MASTER,
    MAX_PLAYERS,
    MAX_SIDES,
    METAL,
    METAL_POINTS,
    METALS,
    MODES,
    NEW,
    NUM_SIDES,
    OPEN_AT_START,
    SLOTS,
    STONE_POINTS,
    TARGET,
    TOTAL,
    TYPES,
)
from linkzoo.games.love_links.table import (
    NONE,
    SET_ASIDE,
    attach,
    captures,
    clear_table,
    closing_value,
    draw,
    open_bracelets,
    refill,
    remove,
    shuffle_supplies,
    side_of,
    start_bracelet,
    take_from_hand,
)

BRONZE, GOLD = 0, 2  # rounds, and the metals that they are named after


@compiled
def new_game(state: Any, seed: Any) -> None:
    """Shuffles the supplies (R3) and starts the bronze round (R6, R7)."""
    state.winners = 0
    state.ply = 0
    state.completed = 0
    state.scores[:] = 0
    state.captured[:] = 0
    clear_table(state)
    for link in range(TYPES):
        state.left[link] = COPIES[link]
    for metal in range(len(METALS)):
        state.supply_size[metal] = FIRST_LINK[metal + 1] - FIRST_LINK[metal]
    shuffle_supplies(state, seed)
    state.seat = state.num_players - 1  # seat 0 is next
    _start_round(state, BRONZE)


@compiled
def _start_round(state: Any, metal: Any) -> None:
    """Hands, then bracelets (R6); the seat after the last one begins (R7)."""
    state.round_number = metal
    state.move = 1
    state.matched = 0
    state.must_start = 0
    for seat in range(state.num_players):
        refill(state, seat)
    while open_bracelets(state) < OPEN_AT_START and state.supply_size[metal] > 0:
        start_bracelet(state, draw(state), NONE)
    state.seat = _next_seat(state)


@compiled
def redeal(state: Any, seat: Any, seed: Any) -> None:
    """Only the order of the supplies is unknown (R4)."""
    shuffle_supplies(state, seed)


# Moves


@compiled
def legal_actions(state: Any, mask: Any) -> None:
    """Fills int8 `mask[365]` (R10, R11, R12)."""
    mask[:] = 0
    if state.seat == NONE:
        return
    if state.must_start or not _offer_joins(state, mask):
        for place in range(state.hand_size[state.seat]):
            if _is_first(state, place):
                mask[NEW + place] = 1


@compiled
def _is_first(state: Any, place: Any) -> Any:
    """Whether no earlier place of the hand holds the same link."""
    hand = state.hands[state.seat]
    return place == 0 or hand[place] != hand[place - 1]


@compiled
def _offer_joins(state: Any, mask: Any) -> Any:
    """R10: marks all joins, and says whether there are any."""
    found = False
    for place in range(state.hand_size[state.seat]):
        if not _is_first(state, place):
            continue
        link = state.hands[state.seat, place]
        for slot in range(SLOTS):
            if state.length[slot] == 0:
                continue
            at_key = FITS[state.key[slot], LOCKS[link]]
            at_lock = FITS[KEYS[link], state.lock[slot]]
            if at_key or at_lock:
                found = True
                first = (place * SLOTS + slot) * MODES
                mask[first + KEY] = at_key
                mask[first + LOCK] = at_lock
                if at_key and at_lock and state.length[slot] + 1 >= CLOSED_LENGTH:
                    mask[first + CLOSE] = 1
    return found


@compiled
def apply(state: Any, action: Any) -> None:
    """Places a link, and goes on to the next decision."""
    state.ply += 1
    if action >= NEW:
        link = take_from_hand(state, action - NEW)
        start_bracelet(state, link, state.seat)
        state.must_start = 0
        _go_on(state, False)
        return
    link = take_from_hand(state, action // (SLOTS * MODES))
    slot, mode = action // MODES % SLOTS, action % MODES
    if mode == CLOSE:
        _close(state, link, slot)
    else:
        _join(state, link, slot, mode)
    _go_on(state, mode == CLOSE)


@compiled
def _join(state: Any, link: Any, slot: Any, end: Any) -> None:
    """R15: 1 point for the first match of a turn, 3 for the second."""
    match = KEYS[link] == state.lock[slot] if end == LOCK else state.key[slot] == LOCKS[link]
    if match:
        state.scores[side_of(state, state.seat)] += 3 if state.matched else 1
        state.matched = 1
    attach(state, slot, link, state.seat, end)


@compiled
def _close(state: Any, link: Any, slot: Any) -> None:
    """R16, R18: points and captured stones of a completed bracelet, which leaves play (R13)."""
    side = side_of(state, state.seat)
    points = closing_value(state, slot, side) + METAL_POINTS[link] + STONE_POINTS[link]
    if KEYS[link] == state.lock[slot]:
        points += 4
    if state.key[slot] == LOCKS[link]:
        points += 4
    if LOCKS[link] == MASTER:
        points -= 4
    state.scores[side] += points
    state.captured[side] += captures(state, slot, side)
    state.completed += 1
    remove(state, slot)


@compiled
def _go_on(state: Any, closed: Any) -> None:
    """What comes after a placement."""
    if state.short and state.scores[side_of(state, state.seat)] >= TARGET:
        end_game(state)  # R21
    elif state.hand_size[state.seat] == 0:
        _end_turn(state)  # R9
    elif closed:
        state.must_start = 1  # R12
    elif state.move == 1:
        state.move = 2  # R8
    else:
        _end_turn(state)


@compiled
def _end_turn(state: Any) -> None:
    """Refills the hand (R8); then the next seat, the next round, or the end (R14)."""
    refill(state, state.seat)
    seat = _next_seat(state)
    if seat == NONE:
        _end_round(state)
    else:
        state.seat = seat
        state.move = 1
        state.matched = 0


@compiled
def _next_seat(state: Any) -> Any:
    """The first seat after the current one, itself the last, that has links (R14), or NONE."""
    for step in range(1, state.num_players + 1):
        seat = (state.seat + step) % state.num_players
        if state.hand_size[seat] > 0:
            return seat
    return NONE


@compiled
def _end_round(state: Any) -> None:
    """R14: the next round that has links, or the end."""
    for metal in range(state.round_number + 1, GOLD + 1):
        if state.supply_size[metal] > 0:
            _start_round(state, metal)
            return
    end_game(state)


# The end


@compiled
def end_game(state: Any) -> None:
    """The highest score wins, ties by captured stones, then shared (R20)."""
    best = 0
    for seat in range(state.num_players):
        best = max(best, _rank(state, seat))
    state.winners = 0
    for seat in range(state.num_players):
        if _rank(state, seat) == best:
            state.winners |= np.uint32(1 << seat)
    state.seat = NONE
    state.matched = 0
    state.must_start = 0


@compiled
def _rank(state: Any, seat: Any) -> Any:
    side = side_of(state, seat)
    return np.int64(state.scores[side]) * (TOTAL + 1) + np.int64(state.captured[side])


@compiled
def scores(state: Any, out: Any) -> None:
    """Those of the sides (R22)."""
    for seat in range(state.num_players):
        out[seat] = state.scores[side_of(state, seat)]


# Positions from elsewhere


@compiled
def flaw(state: Any, scratch: Any) -> Any:
    """What is wrong with a position, or ""."""
    return (
        _flaw_of_hands(state)
        or _flaw_of_supplies(state)
        or _flaw_of_bracelets(state, scratch)
        or _flaw_of_copies(state)
        or _flaw_of_turn(state, scratch)
    )


@compiled
def _flaw_of_hands(state: Any) -> Any:
    for seat in range(MAX_PLAYERS):
        size = np.int64(state.hand_size[seat])
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
def _flaw_of_supplies(state: Any) -> Any:
    for metal in range(len(METALS)):
        for position in range(FIRST_LINK[metal], FIRST_LINK[metal + 1]):
            link = np.int64(state.supply[position])
            if (link == NONE) != (position - FIRST_LINK[metal] >= state.supply_size[metal]):
                return "supply: not as many links as supply_size says"
            if link != NONE and METAL[link] != metal:
                return "supply: a link of another metal"
        if state.supply_size[metal] > FIRST_LINK[metal + 1] - FIRST_LINK[metal]:
            return "supply_size: more links than the metal has"
    for kind in range(TYPES):
        if state.left[kind] != _times(state.supply, kind):
            return "left: not what is in the supplies"
    return ""


@compiled
def _times(links: Any, link: Any) -> Any:
    """How often a link is among others."""
    count = 0
    for other in links:
        if other == link:
            count += 1
    return count


@compiled
def _flaw_of_bracelets(state: Any, scratch: Any) -> Any:
    """Lays the links of each slot again on an empty table."""
    clear_table(scratch)
    position = 0
    for slot in range(SLOTS + 1):
        for place in range(state.length[slot]):
            if position == TOTAL or state.links[position] == NONE:
                return "length: more links than there are"
            link, owner = np.int64(state.links[position]), np.int64(state.owners[position])
            if owner >= state.num_players or (slot == SET_ASIDE and owner != NONE):
                return "owners: a seat that can't have placed the link"
            if slot != SET_ASIDE and place > 0 and not FITS[KEYS[link], scratch.lock[slot]]:
                return "links: a key that doesn't fit the lock before it"
            attach(scratch, slot, link, owner, LOCK)
            position += 1
    for rest in range(position, TOTAL):
        if state.links[rest] != NONE or state.owners[rest] != NONE:
            return "links: more than length says"
    for slot in range(SLOTS + 1):
        if (
            state.key[slot] != scratch.key[slot]
            or state.lock[slot] != scratch.lock[slot]
            or state.metal[slot] != scratch.metal[slot]
            or state.stone[slot] != scratch.stone[slot]
        ):
            return "key, lock, metal, stone: not what the links of the slot say"
        for side in range(MAX_SIDES):
            if state.owned[slot, side] != scratch.owned[slot, side]:
                return "owned: not what the owners say"
    return ""


@compiled
def _flaw_of_copies(state: Any) -> Any:
    for link in range(TYPES):
        count = np.int64(state.left[link]) + _times(state.links, link)
        for seat in range(state.num_players):
            count += _times(state.hands[seat], link)
        if count > COPIES[link]:
            return "hands, supply, links: more copies of a link than the game has"
    return ""


@compiled
def _flaw_of_turn(state: Any, scratch: Any) -> Any:
    """Who is to act, or has won."""
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
