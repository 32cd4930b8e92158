"""Love Formula: points and winners. Numbers (R26, R27) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_formula.components import BITS, NONE, SLOTS, int64
from linkzoo.games.love_formula.rules import fields
from linkzoo.games.love_formula.state import obstacle_sum
from linkzoo.games.love_formula.tables import CARDS

_COMPLETE = np.array([0, 0, 4, 9])  # points of a complete couple, by number of requirements


@compiled
def points(state: Record, seat: int) -> int:
    """R26: returns the present points of a field."""
    total = preparations(state, seat) + obstacle_sum(state, seat, CARDS.vp)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat:
            total += couple_points(state, couple)
    return total


@compiled
def scores(state: Record, out: NDArray[np.float32]) -> None:
    """R26: fills the points of all seats."""
    for seat in range(state.num_players):
        out[seat] = points(state, seat)


@compiled
def couple_points(state: Record, couple: int) -> int:
    """R26: returns the points of the couple alone, after halving."""
    if not fields.is_complete(state, couple):
        return 1
    total = int64(_COMPLETE[BITS[CARDS.all_met[couple]]])
    if fields.has_obstacle(state, couple, CARDS.vp_halve):
        return total // 2
    return total


@compiled
def preparations(state: Record, seat: int) -> int:
    """Returns the number of preparations in a field."""
    count = int64(0)
    for couple in range(CARDS.num_couples):
        if state.owner[couple] == seat:
            count += BITS[state.attached[couple]]
    for slot in range(SLOTS):
        if state.free[seat, slot] != NONE:
            count += 1
    return count


@compiled
def _rank(state: Record, seat: int) -> int:
    """R27: returns a number that orders the seats by points and the tie-breakers."""
    couples = int64(0)
    for couple in range(CARDS.num_couples):
        couples += state.owner[couple] == seat
    obstacles = int64(0)
    for place in range(state.obstacle_count):
        obstacles += state.owner[state.obstacle_couple[place]] == seat
    rank = points(state, seat) + 1000
    rank = rank * 128 + preparations(state, seat)
    rank = rank * 32 + couples
    rank = rank * 32 + 31 - obstacles
    return rank * 128 + int64(state.hand_sizes_at_end[seat])


@compiled
def set_winners(state: Record) -> None:
    """R27: ends the game; all seats of the highest rank win."""
    state.seat = NONE
    best = int64(0)
    for seat in range(state.num_players):
        best = max(best, _rank(state, seat))
    winners = np.uint32(0)
    for seat in range(state.num_players):
        if _rank(state, seat) == best:
            winners |= np.uint32(1) << np.uint32(seat)
    state.winners = winners
