"""Love Formula: numbers of the rules, and how cards and positions are numbered.

A card is the number of its type. Couples and obstacles also have numbers of their own: couples
0..23, and obstacle types in the order of the table. A position of a preparation is
3 * couple + requirement, or 72 + 3 * seat + subtype for a free slot (R10).
"""

from collections.abc import Callable, Sized
from typing import Any, cast

import numpy as np

from linkzoo.games.love_formula.cards import (
    COUNTS,
    COUPLE,
    JOBS,
    MAX_COURSE,
    OBSTACLE,
    SUBTYPES,
)

NONE = -1
MAX_PLAYERS = 4
MAX_LENGTH = 4000  # decisions of a game
COUPLES = COUNTS[COUPLE]
OBSTACLES = COUNTS[OBSTACLE]
DECK = sum(COUNTS) - JOBS  # R3
PICKS = MAX_COURSE.picks  # of a seat in a draft (R4), at most
TURNS = MAX_COURSE.turns  # of a play phase (R7), at most
NEEDS = 3  # the most requirements of a couple
SLOTS = len(SUBTYPES)  # free slots of a field
FREE_SLOT = NEEDS * COUPLES  # the first position that is a free slot
POSITIONS = FREE_SLOT + MAX_PLAYERS * SLOTS
REACTIONS = COUNTS[-1]
BITS = np.array([0, 1, 1, 2, 1, 2, 2, 3])  # set bits of a number, such as requirements met

# Widens a field of a record; for the type checker the result is an int.
int64 = cast(Callable[[Any], int], np.int64)


def numbered(names: Sized) -> list[int]:
    """Returns the number of each name, as int64: Numba compiles anew for each Python integer."""
    return [int64(number) for number in range(len(names))]
