"""Love Formula: the cards in the fields. Numbers (R10..R15) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, ops, phases
from linkzoo.games.love_formula.components import FREE_SLOT, NEEDS, NONE, SLOTS, int64
from linkzoo.games.love_formula.rules import piles
from linkzoo.games.love_formula.state import left_of, remove_at
from linkzoo.games.love_formula.tables import CARDS

# Positions of preparations (R10)


@compiled
def field_of(state: Record, position: int) -> int:
    """Returns the seat whose field has a position."""
    if position >= FREE_SLOT:
        return (int64(position) - FREE_SLOT) // SLOTS
    return int64(state.owner[position // NEEDS])


@compiled
def free_slot(seat: int, card: int) -> int:
    """Returns the position of a field's free slot for a preparation."""
    return int64(FREE_SLOT + SLOTS * int64(seat) + CARDS.subtype[card])


@compiled
def preparation_at(state: Record, position: int) -> int:
    """Returns the preparation at a position, or NONE."""
    if position >= FREE_SLOT:
        slot = int64(position) - FREE_SLOT
        return int64(state.free[slot // SLOTS, slot % SLOTS])
    couple = position // NEEDS
    place = position % NEEDS
    if (state.attached[couple] >> place) & 1:
        return int64(CARDS.needs[couple, place])
    return int64(NONE)


@compiled
def put(state: Record, position: int, card: int) -> None:
    """Puts a preparation at an empty position; NONE empties a position."""
    if position >= FREE_SLOT:
        slot = int64(position) - FREE_SLOT
        state.free[slot // SLOTS, slot % SLOTS] = card
    else:
        state.attached[position // NEEDS] ^= 1 << (position % NEEDS)


@compiled
def lay(state: Record, seat: int, card: int, couple: int) -> None:
    """R10: puts a preparation at a couple that requires it; NONE: in its free slot."""
    if couple == NONE:
        put(state, free_slot(seat, card), card)
    else:
        put(state, int64(NEEDS * couple + CARDS.need_place[couple, card]), card)


@compiled
def take(state: Record, position: int) -> int:
    """Removes the preparation at a position and returns it."""
    card = preparation_at(state, position)
    put(state, position, NONE)
    return card


@compiled
def has_obstacle(state: Record, couple: int, marks: NDArray[np.int64]) -> bool:
    """Returns whether a couple has an obstacle of a marked type; `marks` is by type."""
    for place in range(state.obstacle_count):
        if state.obstacle_couple[place] == couple and marks[state.obstacle_type[place]]:
            return True
    return False


@compiled
def takes(state: Record, couple: int, card: int) -> bool:
    """R10: returns whether a preparation can be attached to a couple of a field."""
    place = CARDS.need_place[couple, card]
    if place == NONE or (state.attached[couple] >> place) & 1:
        return False
    return not has_obstacle(state, couple, CARDS.no_attach)


@compiled
def slot_is_empty(state: Record, seat: int, card: int) -> bool:
    """R10: returns whether the free slot for a preparation is empty."""
    return bool(state.free[seat, CARDS.subtype[card]] == NONE)


@compiled
def is_wanted(state: Record, seat: int, card: int) -> bool:
    """Returns whether a preparation can be attached to any couple of a field."""
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat and takes(state, couple, card):
            return True
    return False


@compiled
def can_place(state: Record, seat: int, card: int) -> bool:
    """R10: returns whether a field has a position for a preparation."""
    return slot_is_empty(state, seat, card) or is_wanted(state, seat, card)


@compiled
def is_complete(state: Record, couple: int) -> bool:
    """Returns whether a couple has all its requirements."""
    return bool(state.attached[couple] == CARDS.all_met[couple])


@compiled
def next_preparation(state: Record, seat: int, position: int) -> int:
    """Returns the next position, from this one on, with a preparation of a field, or POSITIONS."""
    while position < FREE_SLOT:
        couple = position // NEEDS
        if state.owner[couple] != seat:
            position = NEEDS * (couple + 1)
        elif (state.attached[couple] >> (position % NEEDS)) & 1:
            return position
        else:
            position += 1
    first = FREE_SLOT + SLOTS * int64(seat)
    for slot in range(max(position - first, 0), SLOTS):
        if state.free[seat, slot] != NONE:
            return first + slot
    return components.POSITIONS


@compiled
def position_action(state: Record, seat: int, position: int) -> int:
    """Returns the action that names a position; `seat` acts, and counts seats from itself."""
    if position >= FREE_SLOT:
        owner = (position - FREE_SLOT) // SLOTS
        slot = (position - FREE_SLOT) % SLOTS
        steps = (owner - seat) % int64(state.num_players)
        position = FREE_SLOT + SLOTS * steps + slot
    return int64(CARDS.first_position_action) + position


@compiled
def position_of(state: Record, seat: int, action: int) -> int:
    """Returns the position that an action of a seat names."""
    position = int64(action - CARDS.first_position_action)
    if position < FREE_SLOT:
        return position
    slot = position - FREE_SLOT
    return FREE_SLOT + SLOTS * left_of(state, seat, slot // SLOTS) + slot % SLOTS


# Couples and obstacles


@compiled
def can_attach(state: Record, seat: int, card: int) -> bool:
    """R13: returns whether there is a couple to which a seat may attach an obstacle."""
    for couple in range(CARDS.num_couples):
        if can_attach_to(state, seat, card, couple):
            return True
    return False


@compiled
def can_attach_to(state: Record, seat: int, card: int, couple: int) -> bool:
    """R13: returns whether a seat may attach an obstacle to this couple."""
    owner = state.owner[couple]
    if owner == NONE or state.turn <= state.shield[owner]:
        return False
    any_couple = CARDS.target[card] != ops.OPP_COUPLE_INCOMPLETE
    return bool(owner != seat and (any_couple or not is_complete(state, couple)))


@compiled
def discard_obstacle(state: Record, place: int) -> None:
    """Discards an obstacle; later ones move up."""
    piles.to_discard(state, state.obstacle_type[place])
    size = int64(state.obstacle_count)
    remove_at(state.obstacle_type, place, size)
    remove_at(state.obstacle_couple, place, size)
    remove_at(state.obstacle_by, place, size)
    remove_at(state.turns_left, place, size, 0)
    state.obstacle_count -= 1
    if state.effect_obstacle == place:
        state.effect_obstacle = NONE
    elif state.effect_obstacle > place:
        state.effect_obstacle -= 1
    if state.stage in (phases.START, phases.END) and state.cursor > place:
        state.cursor -= 1


@compiled
def obstacle_rank(state: Record, place: int) -> int:
    """Returns the number of copies of an obstacle that were attached before it."""
    rank = 0
    for before in range(place):
        if state.obstacle_type[before] == state.obstacle_type[place]:
            rank += 1
    return rank


@compiled
def obstacle_action(state: Record, place: int) -> int:
    """Returns the number of the action that names an obstacle, among those of obstacles."""
    return int64(CARDS.obstacle_offset[state.obstacle_type[place]]) + obstacle_rank(state, place)


@compiled
def obstacle_of(state: Record, number: int) -> int:
    """Returns the place of the obstacle with this `obstacle_action`."""
    place = 0
    while obstacle_action(state, place) != number:
        place += 1
    return place


@compiled
def discard_couple(state: Record, couple: int) -> None:
    """R15: discards a couple with everything attached to it."""
    piles.to_discard(state, CARDS.couple_type[couple])
    for place in range(NEEDS):
        if (state.attached[couple] >> place) & 1:
            piles.to_discard(state, CARDS.needs[couple, place])
    state.owner[couple] = NONE
    state.attached[couple] = 0
    obstacle = int64(0)
    while obstacle < state.obstacle_count:
        if state.obstacle_couple[obstacle] == couple:
            discard_obstacle(state, obstacle)
        else:
            obstacle += 1
