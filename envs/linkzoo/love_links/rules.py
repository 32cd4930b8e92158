"""Love Links: the record and the compiled rules. Numbers (R1..R23) refer to RULES.md.

A link is the number of its type. Bracelets lie in slots; what their links add up to is kept beside
them, so that no rule looks through a bracelet.
"""

from typing import Any

import numpy as np

from linkzoo.chance import shuffle
from linkzoo.compiled import compiled
from linkzoo.game import record_dtype
from linkzoo.love_links.pieces import (
    CLOSE,
    CLOSED_LENGTH,
    COPIES,
    FIRST_LINK,
    FIRST_TYPE,
    FITS,
    HAND_PLACES,
    HAND_SIZES,
    KEY,
    KEYS,
    LOCK,
    LOCKS,
    MASTER,
    MAX_PLAYERS,
    MAX_SIDES,
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

NONE = -1
BRONZE, GOLD = 0, 2  # rounds, and the metals that they are named after
SET_ASIDE = SLOTS  # the slot behind the others, for links that found none: no bracelet

STATE = record_dtype(
    [("short", "i1")],
    [
        ("round_number", "i1"),
        ("move", "i1"),  # of the turn: 1 or 2
        ("matched", "i1"),  # R15: the turn has had its first point
        ("must_start", "i1"),  # R12: the link after a CLOSE is to come
        ("completed", "i1"),  # bracelets
        ("scores", "i2", (MAX_SIDES,)),
        ("captured", "i1", (MAX_SIDES,)),
        ("hands", "i1", (MAX_PLAYERS, HAND_PLACES)),  # sorted, then NONE
        ("hand_size", "i1", (MAX_PLAYERS,)),
        ("supply", "i1", (TOTAL,)),  # by metal, each drawn from its end; NONE where drawn
        ("supply_size", "i1", (len(METALS),)),
        ("left", "i1", (TYPES,)),  # in the supplies
        ("links", "i1", (TOTAL,)),  # of slot 0, 1, ..., each from its key end; then NONE
        ("owners", "i1", (TOTAL,)),  # the seats that placed them, or NONE
        # Of each slot; all 0 where it is empty.
        ("length", "i1", (SLOTS + 1,)),
        ("key", "i1", (SLOTS + 1,)),  # the open key
        ("lock", "i1", (SLOTS + 1,)),  # the open lock
        ("metal", "i2", (SLOTS + 1,)),  # points of its links (R16)
        ("stone", "i1", (SLOTS + 1,)),  # points of its stones (R16)
        ("owned", "i1", (SLOTS + 1, MAX_SIDES)),  # links placed by each side
    ],
)


@compiled
def side_of(state: Any, seat: Any) -> Any:
    """The side that a seat plays for (R2)."""
    return np.int64(seat) % NUM_SIDES[state.num_players]


def sides(num_players: int) -> tuple[int, ...]:
    """The side of each seat (R2)."""
    return tuple(seat % int(NUM_SIDES[num_players]) for seat in range(num_players))


# Set-up and rounds


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
    _shuffle_supplies(state, seed)
    state.seat = state.num_players - 1
    _start_round(state, BRONZE)


@compiled
def clear_table(state: Any) -> None:
    """No supplies, hands or bracelets."""
    state.supply[:] = NONE
    state.supply_size[:] = 0
    state.left[:] = 0
    state.hands[:] = NONE
    state.hand_size[:] = 0
    state.links[:] = NONE
    state.owners[:] = NONE
    for slot in range(SLOTS + 1):
        _empty_slot(state, slot)


@compiled
def _shuffle_supplies(state: Any, seed: Any) -> None:
    """R3; the order depends on the seed and on what is left, not on the order before."""
    state.seed = seed
    for metal in range(len(METALS)):
        position = FIRST_LINK[metal]
        for link in range(FIRST_TYPE[metal], FIRST_TYPE[metal + 1]):
            for _ in range(state.left[link]):
                state.supply[position] = link
                position += 1
        supply = state.supply[FIRST_LINK[metal] : position]
        shuffle(supply, position - FIRST_LINK[metal], seed, metal, 0)


@compiled
def redeal(state: Any, seat: Any, seed: Any) -> None:
    """Only the order of the supplies is unknown (R4)."""
    _shuffle_supplies(state, seed)


@compiled
def _draw(state: Any) -> Any:
    """The next link of the round's supply, which isn't empty."""
    state.supply_size[state.round_number] -= 1
    position = FIRST_LINK[state.round_number] + state.supply_size[state.round_number]
    link = np.int64(state.supply[position])
    state.supply[position] = NONE
    state.left[link] -= 1
    return link


@compiled
def _start_round(state: Any, metal: Any) -> None:
    """Hands, then bracelets (R6); the seat after the last one begins (R7)."""
    state.round_number = metal
    state.move = 1
    state.matched = 0
    state.must_start = 0
    for seat in range(state.num_players):
        _refill(state, seat)
    while open_bracelets(state) < OPEN_AT_START and state.supply_size[metal] > 0:
        _start_bracelet(state, _draw(state), NONE)
    state.seat = _next_seat(state)


@compiled
def _refill(state: Any, seat: Any) -> None:
    """R5, R8: draws up to the hand size, as far as the supply lasts."""
    while (
        state.hand_size[seat] < HAND_SIZES[state.round_number]
        and state.supply_size[state.round_number] > 0
    ):
        put_in_hand(state, seat, _draw(state))


@compiled
def put_in_hand(state: Any, seat: Any, link: Any) -> None:
    """Adds a link to a hand, which stays sorted."""
    hand = state.hands[seat]
    place = np.int64(state.hand_size[seat])
    while place > 0 and hand[place - 1] > link:
        hand[place] = hand[place - 1]
        place -= 1
    hand[place] = link
    state.hand_size[seat] += 1


@compiled
def _take_from_hand(state: Any, place: Any) -> Any:
    """The link at a place of the hand of the seat to act; the others close up."""
    hand = state.hands[state.seat]
    link = np.int64(hand[place])
    for later in range(place, HAND_PLACES - 1):
        hand[later] = hand[later + 1]
    hand[HAND_PLACES - 1] = NONE
    state.hand_size[state.seat] -= 1
    return link


@compiled
def _next_seat(state: Any) -> Any:
    """The first seat after the current one, itself the last, that has links (R14), or NONE."""
    for step in range(1, state.num_players + 1):
        seat = (state.seat + step) % state.num_players
        if state.hand_size[seat] > 0:
            return seat
    return NONE


# Bracelets


@compiled
def open_bracelets(state: Any) -> Any:
    """The number of open bracelets."""
    count = 0
    for slot in range(SLOTS):
        if state.length[slot] > 0:
            count += 1
    return count


@compiled
def free_slot(state: Any) -> Any:
    """The lowest slot without a bracelet; SET_ASIDE if there is none."""
    for slot in range(SLOTS):
        if state.length[slot] == 0:
            return slot
    return SET_ASIDE


@compiled
def first_of(state: Any, slot: Any) -> Any:
    """Where a slot's links begin in `links`."""
    first = 0
    for before in range(slot):
        first += np.int64(state.length[before])
    return first


@compiled
def attach(state: Any, slot: Any, link: Any, owner: Any, end: Any) -> None:
    """Puts a link at the KEY or LOCK end of a slot's bracelet, or starts one there."""
    length = np.int64(state.length[slot])
    position = first_of(state, slot)
    if length == 0 or end == KEY:
        state.key[slot] = KEYS[link]
    if length == 0 or end == LOCK:
        state.lock[slot] = LOCKS[link]
        position += length
    for later in range(first_of(state, SLOTS + 1), position, -1):
        state.links[later] = state.links[later - 1]
        state.owners[later] = state.owners[later - 1]
    state.links[position] = link
    state.owners[position] = owner
    state.length[slot] += 1
    state.metal[slot] += METAL_POINTS[link]
    state.stone[slot] += STONE_POINTS[link]
    if owner != NONE:
        state.owned[slot, side_of(state, owner)] += 1


@compiled
def _start_bracelet(state: Any, link: Any, owner: Any) -> None:
    """A link alone in the lowest free slot; without one it is set aside."""
    slot = free_slot(state)
    attach(state, slot, link, NONE if slot == SET_ASIDE else owner, LOCK)


@compiled
def _remove(state: Any, slot: Any) -> None:
    """R13: a slot's bracelet leaves play."""
    first, end = first_of(state, slot), first_of(state, SLOTS + 1)
    length = np.int64(state.length[slot])
    for position in range(first, end - length):
        state.links[position] = state.links[position + length]
        state.owners[position] = state.owners[position + length]
    for position in range(end - length, end):
        state.links[position] = NONE
        state.owners[position] = NONE
    _empty_slot(state, slot)


@compiled
def _empty_slot(state: Any, slot: Any) -> None:
    state.length[slot] = 0
    state.key[slot] = 0
    state.lock[slot] = 0
    state.metal[slot] = 0
    state.stone[slot] = 0
    for side in range(MAX_SIDES):
        state.owned[slot, side] = 0


@compiled
def captures(state: Any, slot: Any, side: Any) -> Any:
    """R16: the links of a bracelet that other sides placed."""
    count = 0
    for other in range(MAX_SIDES):
        if other != side:
            count += np.int64(state.owned[slot, other])
    return count


@compiled
def closing_value(state: Any, slot: Any, side: Any) -> Any:
    """R16: points of a bracelet for the side that closes it, but for its closing link."""
    length = np.int64(state.length[slot]) + 1
    capture = captures(state, slot, side)
    domination = 10 if capture == 0 else 0
    points = np.int64(state.metal[slot]) + np.int64(state.stone[slot])
    return points + 2 * (length - CLOSED_LENGTH) + capture + domination


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
        link = _take_from_hand(state, action - NEW)
        _start_bracelet(state, link, state.seat)
        state.must_start = 0
        _go_on(state, False)
        return
    link = _take_from_hand(state, action // (SLOTS * MODES))
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
    _remove(state, slot)


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
    _refill(state, state.seat)
    seat = _next_seat(state)
    if seat == NONE:
        _end_round(state)
    else:
        state.seat = seat
        state.move = 1
        state.matched = 0


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
    winners = 0
    for seat in range(sides):
        winners += np.int64((state.winners >> np.uint32(seat)) & np.uint32(1))
    for seat in range(state.num_players):
        won = np.int64((state.winners >> np.uint32(seat)) & np.uint32(1))
        out[seat] = np.float32(sides * won - winners) / np.float32(winners * (sides - 1))


@compiled
def margins(state: Any, out: Any) -> None:
    """R22: (own score - mean of the other sides' scores) / 100."""
    sides = NUM_SIDES[state.num_players]
    total = 0
    for side in range(sides):
        total += np.int64(state.scores[side])
    for seat in range(state.num_players):
        score = np.int64(state.scores[side_of(state, seat)])
        difference = sides * score - total
        out[seat] = np.float32(difference) / np.float32(100 * (sides - 1))
