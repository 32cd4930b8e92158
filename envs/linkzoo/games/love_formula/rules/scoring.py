"""Love Formula: points, and who has won. Numbers (R26, R27) refer to RULES.md.

The functions are plain: `linkzoo.games.love_formula.game_with` compiles them for a table of cards
(`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.games.love_formula.pieces import BITS, COUPLES, NONE, SLOTS
from linkzoo.games.love_formula.rules.table import is_complete

# What `bind` gives the cards for.
FULL: Any
VP: Any
VP_HALVE: Any

SCORE_SCALE = 30
_COMPLETE = np.array([0, 0, 4, 9])  # by the number of requirements


def points(state: Any, seat: Any) -> Any:
    """R26: what a field is worth now."""
    total = preparations(state, seat)
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            total += couple_points(state, couple)
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            total += VP[state.obstacle_type[place]]
    return total


def scores(state: Any, out: Any) -> None:
    """R26: the points of all."""
    for seat in range(state.num_players):
        out[seat] = points(state, seat)


def couple_points(state: Any, couple: Any) -> Any:
    """R26: a couple itself, without what is attached to it but for halving."""
    if not is_complete(state, couple):
        return 1
    worth = _COMPLETE[BITS[FULL[couple]]]
    for place in range(state.obstacle_count):
        if state.obstacle_couple[place] == couple and VP_HALVE[state.obstacle_type[place]]:
            return worth // 2
    return worth


def preparations(state: Any, seat: Any) -> Any:
    """The preparations in a field."""
    count = np.int64(0)
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            count += BITS[state.attached[couple]]
    for slot in range(SLOTS):
        if state.free[seat, slot] != NONE:
            count += 1
    return count


def _couples(state: Any, seat: Any) -> Any:
    count = np.int64(0)
    for couple in range(COUPLES):
        if state.owner[couple] == seat:
            count += 1
    return count


def _obstacles(state: Any, seat: Any) -> Any:
    count = np.int64(0)
    for place in range(state.obstacle_count):
        if state.owner[state.obstacle_couple[place]] == seat:
            count += 1
    return count


def _rank(state: Any, seat: Any) -> Any:
    """R27: one number that is higher for who is ahead: points, then the tie-breakers."""
    rank = points(state, seat) + 1000
    rank = rank * 128 + preparations(state, seat)
    rank = rank * 32 + _couples(state, seat)
    rank = rank * 32 + 31 - _obstacles(state, seat)
    return rank * 128 + np.int64(state.hand_sizes_at_end[seat])


def set_winners(state: Any) -> None:
    """R27: the highest, and all those who tie in everything."""
    state.seat = NONE
    best = np.int64(0)
    for seat in range(state.num_players):
        best = max(best, _rank(state, seat))
    winners = np.uint32(0)
    for seat in range(state.num_players):
        if _rank(state, seat) == best:
            winners |= np.uint32(1) << np.uint32(seat)
    state.winners = winners
