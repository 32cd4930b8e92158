"""Love Formula: the record of a game. Numbers (R1..R27) refer to RULES.md.

A hand, pile or pack is a count for each type. A field is stored by couple: the owner, and three
bits for the attached preparations; a position of a preparation is a number (`components.py`).
Unused fields hold NONE or 0, so that equal positions have equal bytes.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Field, Record, record_dtype
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula import components, decisions, phases
from linkzoo.games.love_formula.cards import LISTS, MAX_LOOK, MAX_NUMBER, MAX_OPS, MAX_TYPES
from linkzoo.games.love_formula.components import COUPLES, MAX_PLAYERS, NONE, OBSTACLES, int64
from linkzoo.games.love_formula.options import OFF, WINDOWS

# Streams of chance, with the meaning of their index.
DECK_STREAM = 0  # 0
TIES_STREAM = 1  # the turn
DISCARD_STREAM = 2  # 16 * turn + random discards in it so far
RESHUFFLE_STREAM = 3  # reshuffles so far
DETERMINIZE_STREAM = 4

MAX_HAND = 120
LIMIT = 99  # of numbers that only grow, or that depend on the table of cards
_BY_SEAT = (MAX_PLAYERS,)
_COUNTS = (MAX_PLAYERS, MAX_TYPES)
_CARD = (NONE, MAX_TYPES - 1)
_SEAT = (NONE, MAX_PLAYERS - 1)
_COUPLE = (NONE, COUPLES - 1)
_FLAG = (0, 1)
_PENDING = (components.REACTIONS,)

FIELDS = (
    # The options.
    Field("digest", "u8"),  # of the cards
    Field("voluntary_discards", "i1", (), WINDOWS, OFF),
    # The stage of the game.
    Field("half", "i1", (), 1, 2),
    Field("turn", "i1", (), NONE, 2 * components.TURNS - 1),  # from 0; -1 before the first
    Field("stage", "i1", (), 0, len(phases.STAGES) - 1),
    Field("cursor", "i1", (), 0, OBSTACLES),  # seat, obstacle, or place in the order, by stage
    Field("step", "i1", (), 0, len(phases.STEPS) - 1),
    Field("decision", "i1", (), NONE, len(decisions.NAMES) - 1),  # NONE when the game is over
    # Cards of no seat.
    Field("deck", "i1", (components.DECK,), *_CARD),  # drawn from its end; NONE where drawn
    Field("deck_size", "i1", (), 0, components.DECK),
    Field("discard", "i1", (components.DECK,), *_CARD),  # oldest first; NONE behind them
    Field("discard_size", "i1", (), 0, components.DECK),
    Field("reshuffles", "i1", (), 0, LIMIT),
    Field("random_discards", "i1", (), 0, LIMIT),  # in this turn
    # Cards of the seats; packs and picks are listed by the seat that got the pack first.
    Field("hands", "i1", _COUNTS, 0, MAX_HAND),
    Field("hand_size", "i1", _BY_SEAT, 0, MAX_HAND),
    Field("piles", "i1", _COUNTS, 0, components.PICKS),
    Field("packs", "i1", _COUNTS, 0, components.PICKS),
    Field("picks", "i1", (MAX_PLAYERS, components.PICKS), *_CARD),
    Field("draft_round", "i1", (), 0, components.PICKS - 1),  # picks of the draft before this round
    # The cards of this turn.
    Field("selected", "i1", _BY_SEAT, *_CARD),
    Field("priorities", "i1", _BY_SEAT, NONE, LIMIT),
    Field("order", "i1", _BY_SEAT, *_SEAT),
    Field("order_size", "i1", (), 0, MAX_PLAYERS),
    # Fields.
    Field("owner", "i1", (COUPLES,), *_SEAT),  # NONE for couples in no field
    Field("attached", "i1", (COUPLES,), 0, 2**components.NEEDS - 1),  # a bit for each requirement
    Field("free", "i1", (MAX_PLAYERS, components.SLOTS), *_CARD),
    # The last turn of a shield.
    Field("shield", "i1", _BY_SEAT, NONE, 2 * components.TURNS - 1 + MAX_NUMBER),
    Field("obstacle_type", "i1", (OBSTACLES,), *_CARD),  # in order of attachment
    Field("obstacle_couple", "i1", (OBSTACLES,), *_COUPLE),
    Field("obstacle_by", "i1", (OBSTACLES,), *_SEAT),
    Field("turns_left", "i1", (OBSTACLES,), 0),
    Field("obstacle_count", "i1", (), 0, OBSTACLES),
    # The windows of a resolution (R11).
    Field("move_used", "i1", (), *_FLAG),
    Field("discard_closed", "i1", (), *_FLAG),
    Field("moving", "i1", (), NONE, components.POSITIONS - 1),  # a position
    # The card that resolves.
    Field("acting_card", "i1", (), *_CARD),
    Field("acting_by", "i1", (), *_SEAT),
    Field("acting_step", "i1", (), NONE, len(phases.ACTING_STEPS) - 1),
    Field("targets", "i1", (2,), NONE, max(components.POSITIONS, MAX_TYPES) - 1),
    # The list of ops that runs.
    Field("effect_list", "i1", (), NONE, len(LISTS) - 1),
    Field("effect_card", "i1", (), *_CARD),
    Field("effect_by", "i1", (), *_SEAT),
    Field("effect_couple", "i1", (), *_COUPLE),
    # Its place; NONE after it has left the table.
    Field("effect_obstacle", "i1", (), NONE, OBSTACLES - 1),
    Field("effect_op", "i1", (), 0, MAX_OPS),
    Field("effect_who", "i1", (), *_SEAT),  # the seat concerned; NONE until the op has begun
    Field("effect_left", "i1", (), 0, MAX_HAND),
    Field("look", "i1", (MAX_LOOK,), *_CARD),  # the topmost first
    Field("look_size", "i1", (), 0, MAX_LOOK),
    Field("limbo", "i1", (), *_CARD),  # a preparation to be placed
    # The event that reactions answer.
    Field("event", "i1", (), NONE, len(phases.EVENTS) - 1),
    Field("event_source", "i1", (), *_SEAT),
    Field("event_card", "i1", (), *_CARD),
    Field("event_couple", "i1", (), *_COUPLE),
    Field("event_owner", "i1", (), *_SEAT),
    Field("event_cancelled", "i1", (), *_FLAG),
    Field("event_redirected", "i1", (), *_FLAG),
    Field("event_recovered", "i1", (), *_FLAG),
    Field("poll", "i1", (), *_SEAT),
    Field("quiet", "i1", (), 0, MAX_PLAYERS),  # seats in a row that passed
    Field("resolving", "i1", (), NONE, components.REACTIONS - 1),  # place of the pending one
    Field("pending_card", "i1", _PENDING, *_CARD),
    Field("pending_by", "i1", _PENDING, *_SEAT),
    Field("pending_answers", "i1", _PENDING, NONE, components.REACTIONS - 1),
    Field("pending_cancelled", "i1", _PENDING, *_FLAG),
    Field("pending_size", "i1", (), 0, components.REACTIONS),
    # Knowledge; the first index is the seat that has it.
    Field("taken", "i1", _COUNTS, 0, MAX_HAND),
    Field("known", "i1", (MAX_PLAYERS, MAX_PLAYERS, MAX_TYPES), 0, MAX_HAND),
    Field("hand_sizes_at_end", "i1", _BY_SEAT, NONE, MAX_HAND),  # R17
)
STATE = record_dtype(FIELDS)


@compiled
def remove_at(numbers: NDArray[np.int8], place: int, size: int, empty: int = NONE) -> None:
    """Removes one of the first `size` numbers of a list; later ones move up."""
    for after in range(place + 1, size):
        numbers[after - 1] = numbers[after]
    numbers[size - 1] = empty


@compiled
def obstacle_sum(state: Record, seat: int, amounts: NDArray[np.int64]) -> int:
    """Returns the sum over the obstacles of a field; `amounts` is by type."""
    total = int64(0)
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            total += amounts[state.obstacle_type[place]]
    return total


@compiled
def left_of(state: Record, seat: int, steps: int = 1) -> int:
    """Returns the seat so many steps clockwise from a seat."""
    return (int64(seat) + steps) % int64(state.num_players)


@compiled
def ask(state: Record, decision: int, seat: int) -> None:
    """Asks a seat for a decision."""
    state.decision = decision
    state.seat = seat
