"""Love Links: the record, and how links move about the table. Numbers (R1..R23) refer to RULES.md.

A link is the number of its type. Bracelets lie in slots; what their links add up to is kept beside
them, so that no rule looks through a bracelet.
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import shuffle
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import Field, record_dtype
from linkzoo.games.love_links.pieces import (
    CLOSED_LENGTH,
    COPIES,
    FIRST_LINK,
    FIRST_TYPE,
    HAND_PLACES,
    HAND_SIZES,
    KEY,
    KEYS,
    LOCK,
    LOCKS,
    MAX_PLAYERS,
    MAX_SIDES,
    METAL_POINTS,
    METALS,
    NUM_SIDES,
    SLOTS,
    STONE_POINTS,
    TOTAL,
    TYPES,
)

NONE = -1
SET_ASIDE = SLOTS  # the slot behind the others, for links that found none: no bracelet

MAX_SCORE = 2**14

FIELDS = (
    Field("short", "i1", (), 0, 1),  # an option
    Field("round_number", "i1", (), 0, len(METALS) - 1),
    Field("move", "i1", (), 1, 2),  # of the turn
    Field("matched", "i1", (), 0, 1),  # R15: the turn has had its first point
    Field("must_start", "i1", (), 0, 1),  # R12: the link after a CLOSE is to come
    Field("completed", "i1", (), 0, TOTAL),  # bracelets
    Field("scores", "i2", (MAX_SIDES,), 0, MAX_SCORE),
    Field("captured", "i1", (MAX_SIDES,), 0, TOTAL),
    Field("hands", "i1", (MAX_PLAYERS, HAND_PLACES), NONE, TYPES - 1),  # sorted, then NONE
    Field("hand_size", "i1", (MAX_PLAYERS,), 0, HAND_PLACES),
    # By metal, each drawn from its end; NONE where drawn.
    Field("supply", "i1", (TOTAL,), NONE, TYPES - 1),
    Field("supply_size", "i1", (len(METALS),), 0, TOTAL),
    Field("left", "i1", (TYPES,), 0, max(COPIES)),  # in the supplies
    # Of slot 0, 1, ..., each from its key end; then NONE.
    Field("links", "i1", (TOTAL,), NONE, TYPES - 1),
    Field("owners", "i1", (TOTAL,), NONE, MAX_PLAYERS - 1),  # the seats that placed them, or NONE
    # Of each slot; all 0 where it is empty.
    Field("length", "i1", (SLOTS + 1,), 0, TOTAL),
    Field("key", "i1", (SLOTS + 1,), 0, max(KEYS)),  # the open key
    Field("lock", "i1", (SLOTS + 1,), 0, max(LOCKS)),  # the open lock
    Field("metal", "i2", (SLOTS + 1,), 0),  # points of its links (R16)
    Field("stone", "i1", (SLOTS + 1,), 0),  # points of its stones (R16)
    Field("owned", "i1", (SLOTS + 1, MAX_SIDES), 0, TOTAL),  # links placed by each side
)
STATE = record_dtype(FIELDS)


@compiled
def side_of(state: Any, seat: Any) -> Any:
    """The side that a seat plays for (R2)."""
    return np.int64(seat) % NUM_SIDES[state.num_players]


def sides(num_players: int) -> tuple[int, ...]:
    """The side of each seat (R2)."""
    return tuple(seat % int(NUM_SIDES[num_players]) for seat in range(num_players))


# Supplies and hands


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
        empty_slot(state, slot)


@compiled
def shuffle_supplies(state: Any, seed: Any) -> None:
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
def draw(state: Any) -> Any:
    """The next link of the round's supply, which isn't empty."""
    metal = state.round_number
    state.supply_size[metal] -= 1
    position = FIRST_LINK[metal] + state.supply_size[metal]
    link = np.int64(state.supply[position])
    state.supply[position] = NONE
    state.left[link] -= 1
    return link


@compiled
def refill(state: Any, seat: Any) -> None:
    """R5, R8: draws up to the hand size, as far as the supply lasts."""
    metal = state.round_number
    while state.hand_size[seat] < HAND_SIZES[metal] and state.supply_size[metal] > 0:
        put_in_hand(state, seat, draw(state))


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
def take_from_hand(state: Any, place: Any) -> Any:
    """The link at a place of the hand of the seat to act; the others close up."""
    hand = state.hands[state.seat]
    link = np.int64(hand[place])
    for later in range(place, HAND_PLACES - 1):
        hand[later] = hand[later + 1]
    hand[HAND_PLACES - 1] = NONE
    state.hand_size[state.seat] -= 1
    return link


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
    first: Any = 0
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
def start_bracelet(state: Any, link: Any, owner: Any) -> None:
    """A link alone in the lowest free slot; without one it is set aside."""
    slot = free_slot(state)
    attach(state, slot, link, NONE if slot == SET_ASIDE else owner, LOCK)


@compiled
def remove(state: Any, slot: Any) -> None:
    """R13: a slot's bracelet leaves play."""
    first, end = first_of(state, slot), first_of(state, SLOTS + 1)
    length = np.int64(state.length[slot])
    for position in range(first, end - length):
        state.links[position] = state.links[position + length]
        state.owners[position] = state.owners[position + length]
    for position in range(end - length, end):
        state.links[position] = NONE
        state.owners[position] = NONE
    empty_slot(state, slot)


@compiled
def empty_slot(state: Any, slot: Any) -> None:
    """Zeros for a slot without links."""
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
    count: Any = 0
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
