"""The record of Love Links, and its operations on links. R1 to R23 refer to RULES.md.

A link is the number of its type. Bracelets are in slots; the record also holds sums over their
links, so that no rule iterates over a bracelet.
"""

from linkzoo.core.state import Field, Record, record_dtype
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import (
    HAND_PLACES,
    MAX_SIDES,
    NONE,
    SLOTS,
    TOTAL,
    TYPES,
)
from linkzoo.games.love_links.tables import LINKS

MAX_SCORE = 2**14
FIELDS: tuple[Field, ...] = (
    Field("short", "i1", (), 0, 1),  # an option
    Field("round_number", "i1", (), 0, len(components.METALS) - 1),
    Field("move", "i1", (), 1, 2),  # of the turn
    Field("matched", "i1", (), 0, 1),  # whether the turn has had a match (R15)
    Field("must_start", "i1", (), 0, 1),  # whether the move after a CLOSE is to come (R12)
    Field("completed", "i1", (), 0, TOTAL),  # bracelets
    Field("scores", "i2", (MAX_SIDES,), 0, MAX_SCORE),
    Field("captured", "i1", (MAX_SIDES,), 0, TOTAL),
    # By seat: sorted, then NONE.
    Field("hands", "i1", (components.MAX_PLAYERS, HAND_PLACES), NONE, TYPES - 1),
    Field("hand_size", "i1", (components.MAX_PLAYERS,), 0, HAND_PLACES),
    # By metal, each drawn from its end; NONE where drawn.
    Field("supply", "i1", (TOTAL,), NONE, TYPES - 1),
    Field("supply_size", "i1", (len(components.METALS),), 0, TOTAL),
    Field("left", "i1", (TYPES,), 0, max(LINKS.copies)),  # in the supplies
    # The links of slot 0, 1, ..., each from its key end, and their owners or NONE; then NONE.
    Field("links", "i1", (TOTAL,), NONE, TYPES - 1),
    Field("owners", "i1", (TOTAL,), NONE, components.MAX_PLAYERS - 1),
    # Of each slot; all 0 where it is empty.
    Field("length", "i1", (SLOTS + 1,), 0, TOTAL),
    Field("key", "i1", (SLOTS + 1,), 0, max(LINKS.key)),  # the open key
    Field("lock", "i1", (SLOTS + 1,), 0, max(LINKS.lock)),  # the open lock
    Field("metal", "i2", (SLOTS + 1,), 0),  # points of its links (R16)
    Field("stone", "i1", (SLOTS + 1,), 0),  # points of its stones (R16)
    Field("owned", "i1", (SLOTS + 1, MAX_SIDES), 0, TOTAL),  # links placed by each side
)
STATE = record_dtype(FIELDS)
# Of other links than the standard ones.
FIELDS_WITH_DIGEST = (Field("digest", "u8"), *FIELDS)


def sides(num_players: int) -> tuple[int, ...]:
    """Returns the side of each seat (R2)."""
    return tuple(seat % int(components.NUM_SIDES[num_players]) for seat in range(num_players))


@compiled
def side_of(state: Record, seat: int) -> int:
    """Returns the side that a seat plays for (R2)."""
    return int(seat % components.NUM_SIDES[state.num_players])


@compiled
def slots_end(state: Record) -> int:
    """Returns the number of slots up to the last that holds a bracelet."""
    end = SLOTS
    while end > 0 and state.length[end - 1] == 0:
        end -= 1
    return end


@compiled
def clear_table(state: Record) -> None:
    """Removes all supplies, hands and bracelets."""
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
def first_of(state: Record, slot: int) -> int:
    """Returns the index of a slot's first link in `links`."""
    first = 0
    for before in range(slot):
        first += int(state.length[before])
    return first


@compiled
def attach(state: Record, slot: int, link: int, owner: int, end: int) -> None:
    """Puts a link at the KEY or LOCK end of a slot's bracelet, or starts a bracelet there."""
    length = int(state.length[slot])
    position = first_of(state, slot)
    if length == 0 or end == components.KEY:
        state.key[slot] = LINKS.key[link]
    if length == 0 or end == components.LOCK:
        state.lock[slot] = LINKS.lock[link]
        position += length
    for later in range(first_of(state, SLOTS + 1), position, -1):
        state.links[later] = state.links[later - 1]
        state.owners[later] = state.owners[later - 1]
    state.links[position] = link
    state.owners[position] = owner
    state.length[slot] += 1
    state.metal[slot] += LINKS.metal_points[link]
    state.stone[slot] += LINKS.stone_points[link]
    if owner != NONE:
        state.owned[slot, side_of(state, owner)] += 1


@compiled
def remove(state: Record, slot: int) -> None:
    """Removes a slot's bracelet."""
    first = first_of(state, slot)
    end = first_of(state, SLOTS + 1)
    length = int(state.length[slot])
    for position in range(first, end - length):
        state.links[position] = state.links[position + length]
        state.owners[position] = state.owners[position + length]
    for position in range(end - length, end):
        state.links[position] = NONE
        state.owners[position] = NONE
    _empty_slot(state, slot)


@compiled
def _empty_slot(state: Record, slot: int) -> None:
    state.length[slot] = 0
    state.key[slot] = 0
    state.lock[slot] = 0
    state.metal[slot] = 0
    state.stone[slot] = 0
    state.owned[slot, :] = 0
