"""The compiled rules of Love Links. R1 to R23 refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import shuffle
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import CLOSE, LOCK, MODES, NEW, NONE, SLOTS
from linkzoo.games.love_links.state import attach, clear_table, remove, side_of
from linkzoo.games.love_links.tables import LINKS

# The first and the last round, named after the metals.
BRONZE = 0
GOLD = 2

TARGET = 90  # points that end the short game (R21)


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Shuffles the supplies (R3) and starts the bronze round (R6, R7)."""
    state.winners = 0
    state.ply = 0
    state.completed = 0
    state.scores[:] = 0
    state.captured[:] = 0
    clear_table(state)
    for link in range(components.TYPES):
        state.left[link] = LINKS.copies[link]
    for metal in range(len(components.METALS)):
        state.supply_size[metal] = LINKS.first_link[metal + 1] - LINKS.first_link[metal]
    _shuffle_supplies(state, seed)
    state.seat = state.num_players - 1  # seat 0 is next
    _start_round(state, BRONZE)


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the supplies: only their order is unknown (R4)."""
    _shuffle_supplies(state, seed)


@compiled
def _shuffle_supplies(state: Record, seed: np.uint64) -> None:
    """Shuffles the remaining links of each supply (R3), whatever their order before."""
    state.seed = seed
    for metal in range(len(components.METALS)):
        position = LINKS.first_link[metal]
        for link in range(LINKS.first_type[metal], LINKS.first_type[metal + 1]):
            for _ in range(state.left[link]):
                state.supply[position] = link
                position += 1
        supply = state.supply[LINKS.first_link[metal] : position]
        shuffle(supply, position - LINKS.first_link[metal], seed, metal, 0)


@compiled
def _start_round(state: Record, metal: int) -> None:
    """Fills the hands and starts bracelets (R6); the seat after the last mover begins (R7)."""
    state.round_number = metal
    state.move = 1
    state.matched = 0
    state.must_start = 0
    for seat in range(state.num_players):
        _refill(state, seat)
    while _open_bracelets(state) < LINKS.open_at_start and state.supply_size[metal] > 0:
        _start_bracelet(state, _draw(state), NONE)
    state.seat = _next_seat(state)


@compiled
def _open_bracelets(state: Record) -> int:
    """Returns the number of open bracelets.

    A function of its own: otherwise a step on a GPU takes 119 registers instead of 96.
    """
    count = 0
    for slot in range(SLOTS):
        if state.length[slot] > 0:
            count += 1
    return count


@compiled
def _refill(state: Record, seat: int) -> None:
    """Draws links up to the hand size, as far as the supply lasts (R5, R8)."""
    metal = state.round_number
    while state.hand_size[seat] < LINKS.hand_sizes[metal] and state.supply_size[metal] > 0:
        _put_in_hand(state, seat, _draw(state))


@compiled
def _put_in_hand(state: Record, seat: int, link: int) -> None:
    """Adds a link to a hand, which stays sorted."""
    hand = state.hands[seat]
    place = int(state.hand_size[seat])
    while place > 0 and hand[place - 1] > link:
        hand[place] = hand[place - 1]
        place -= 1
    hand[place] = link
    state.hand_size[seat] += 1


@compiled
def _draw(state: Record) -> int:
    """Draws the next link from the round's supply, which must not be empty."""
    metal = state.round_number
    state.supply_size[metal] -= 1
    position = LINKS.first_link[metal] + state.supply_size[metal]
    link = int(state.supply[position])
    state.supply[position] = NONE
    state.left[link] -= 1
    return link


@compiled
def _start_bracelet(state: Record, link: int, owner: int) -> int:
    """Starts a bracelet in the lowest free slot, else sets the link aside; returns the slot."""
    slot = 0
    while slot < SLOTS and state.length[slot] > 0:
        slot += 1
    if slot == components.SET_ASIDE:
        owner = NONE
    attach(state, slot, link, owner, LOCK)
    return slot


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Marks the legal actions (R10, R11, R12)."""
    mask[:] = 0
    if state.seat == NONE:
        return
    if state.must_start or not _offer_joins(state, mask):
        for place in range(state.hand_size[state.seat]):
            if _is_first(state, place):
                mask[NEW + place] = 1


@compiled
def _is_first(state: Record, place: int) -> bool:
    """Returns whether no earlier place of the hand holds the same link."""
    hand = state.hands[state.seat]
    return place == 0 or hand[place] != hand[place - 1]


@compiled
def _offer_joins(state: Record, mask: Mask) -> bool:
    """Marks all joins (R10), and returns whether there are any."""
    any_joins = False
    for place in range(state.hand_size[state.seat]):
        if not _is_first(state, place):
            continue
        link = state.hands[state.seat, place]
        for slot in range(SLOTS):
            if state.length[slot] == 0:
                continue
            at_key = LINKS.fits[state.key[slot], LINKS.lock[link]]
            at_lock = LINKS.fits[LINKS.key[link], state.lock[slot]]
            if at_key or at_lock:
                any_joins = True
                first = (place * SLOTS + slot) * MODES
                mask[first + components.KEY] = at_key
                mask[first + LOCK] = at_lock
                if at_key and at_lock and state.length[slot] + 1 >= LINKS.closed_length:
                    mask[first + CLOSE] = 1
    return any_joins


@compiled
def apply(state: Record, action: int) -> None:
    """Places a link and advances to the next decision."""
    state.ply += 1
    place(state, action)
    _advance(state, action < NEW and action % MODES == CLOSE)


@compiled
def apply_certain(state: Record, action: int) -> None:
    """Places a link; advances unless links are drawn, which is the only chance (R4)."""
    state.ply += 1
    place(state, action)
    closed = action < NEW and action % MODES == CLOSE
    if not _draws(state, closed):
        _advance(state, closed)


@compiled
def _draws(state: Record, closed: bool) -> bool:
    """Returns whether links are drawn after a placement, unless it ends the game (R6, R8)."""
    if state.hand_size[state.seat] > 0 and (closed or state.move == 1):
        return False  # the turn goes on
    if state.supply_size[state.round_number] > 0:
        return True
    return bool(_next_seat(state) == NONE and state.round_number < GOLD)


@compiled
def place(state: Record, action: int) -> int:
    """Places a link and scores; returns the slot."""
    if action >= NEW:
        state.must_start = 0
        return _start_bracelet(state, _take_from_hand(state, action - NEW), state.seat)
    link = _take_from_hand(state, action // (SLOTS * MODES))
    slot = action // MODES % SLOTS
    mode = action % MODES
    if mode == CLOSE:
        _close(state, link, slot)
    else:
        _join(state, link, slot, mode)
    return slot


@compiled
def _take_from_hand(state: Record, place: int) -> int:
    """Takes the link at a place of the mover's hand; later links move up."""
    hand = state.hands[state.seat]
    link = int(hand[place])
    for later in range(place, components.HAND_PLACES - 1):
        hand[later] = hand[later + 1]
    hand[components.HAND_PLACES - 1] = NONE
    state.hand_size[state.seat] -= 1
    return link


@compiled
def _join(state: Record, link: int, slot: int, end: int) -> None:
    """Joins a link to a bracelet: 1 point for the first match of a turn, 3 for later ones (R15)."""
    if end == LOCK:
        match = LINKS.key[link] == state.lock[slot]
    else:
        match = LINKS.lock[link] == state.key[slot]
    if match:
        state.scores[side_of(state, state.seat)] += 3 if state.matched else 1
        state.matched = 1
    attach(state, slot, link, state.seat, end)


@compiled
def _close(state: Record, link: int, slot: int) -> None:
    """Scores a completed bracelet (R16, R18) and removes it (R13)."""
    side = side_of(state, state.seat)
    state.scores[side] += closing_points(state, slot, link, side)
    state.captured[side] += _captures(state, slot, side)
    state.completed += 1
    remove(state, slot)


@compiled
def closing_points(state: Record, slot: int, link: int, side: int) -> int:
    """Returns the points for closing a bracelet with a link (R16)."""
    key = int(state.key[slot])
    lock = int(state.lock[slot])
    return int(closing_value(state, slot, side) + closing_link_points(link, key, lock))


@compiled
def closing_link_points(link: int, key: int, lock: int) -> int:
    """Returns the points of the closing link between an open key and an open lock (R16)."""
    points = LINKS.metal_points[link] + LINKS.stone_points[link]
    if LINKS.key[link] == lock:
        points += 4
    if LINKS.lock[link] == key:
        points += 4
    if LINKS.lock[link] == components.MASTER:
        points -= 4
    return int(points)


@compiled
def closing_value(state: Record, slot: int, side: int) -> int:
    """Returns a side's points for closing a bracelet, without the closing link's (R16)."""
    length = int(state.length[slot]) + 1
    points = int(state.metal[slot]) + int(state.stone[slot])
    points += 2 * (length - LINKS.closed_length)
    captures = _captures(state, slot, side)
    if captures == 0:
        return points + 10  # domination
    return points + captures


@compiled
def _captures(state: Record, slot: int, side: int) -> int:
    """Returns the number of a bracelet's links that other sides placed (R16)."""
    count = 0
    for other in range(components.MAX_SIDES):
        if other != side:
            count += int(state.owned[slot, other])
    return count


@compiled
def _advance(state: Record, closed: bool) -> None:
    """Ends the game, the turn or the move after a placement."""
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
def _end_turn(state: Record) -> None:
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
def _next_seat(state: Record) -> int:
    """Returns the next seat that has links, at last the current seat; else NONE (R14)."""
    for step in range(1, state.num_players + 1):
        seat = int((state.seat + step) % state.num_players)
        if state.hand_size[seat] > 0:
            return seat
    return NONE


@compiled
def _end_round(state: Record) -> None:
    """Starts the next round that has links, or ends the game (R14)."""
    for metal in range(state.round_number + 1, GOLD + 1):
        if state.supply_size[metal] > 0:
            _start_round(state, metal)
            return
    end_game(state)


@compiled
def end_game(state: Record) -> None:
    """Ends the game: the highest score wins, ties by captured stones, then shared (R20)."""
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
def _rank(state: Record, seat: int) -> int:
    """Returns a number that orders the sides of seats (R20)."""
    side = side_of(state, seat)
    return int(state.scores[side]) * (components.TOTAL + 1) + int(state.captured[side])


@compiled
def scores(state: Record, out: NDArray[np.float32]) -> None:
    """Fills the score of each seat's side (R22)."""
    for seat in range(state.num_players):
        out[seat] = state.scores[side_of(state, seat)]
