"""Love Links: the compiled rules. Numbers (R1..R23) refer to RULES.md."""

from typing import Any

import numpy as np

from linkzoo.compiled import compiled
from linkzoo.love_links.pieces import (
    CLOSE,
    CLOSED_LENGTH,
    COPIES,
    FIRST_LINK,
    FITS,
    KEY,
    KEYS,
    LOCK,
    LOCKS,
    MASTER,
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
from linkzoo.love_links.table import (
    NONE,
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
def payoffs(state: Any, out: Any) -> None:
    """R22: zero-sum over the sides, +1 for a sole winner; team-mates have the same."""
    sides = NUM_SIDES[state.num_players]
    winners: Any = 0
    for seat in range(sides):
        winners += np.int64((state.winners >> np.uint32(seat)) & np.uint32(1))
    for seat in range(state.num_players):
        won = np.int64((state.winners >> np.uint32(seat)) & np.uint32(1))
        out[seat] = np.float32(sides * won - winners) / np.float32(winners * (sides - 1))


@compiled
def margins(state: Any, out: Any) -> None:
    """R22: (own score - mean of the other sides' scores) / 100."""
    sides = NUM_SIDES[state.num_players]
    total: Any = 0
    for side in range(sides):
        total += np.int64(state.scores[side])
    for seat in range(state.num_players):
        score = np.int64(state.scores[side_of(state, seat)])
        difference = sides * score - total
        out[seat] = np.float32(difference) / np.float32(100 * (sides - 1))
