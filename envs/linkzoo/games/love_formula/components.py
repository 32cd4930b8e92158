"""Love Formula: the numbers that the rules are made of.

A card is the number of its type. Couples and obstacles also have numbers of their own: couples
0..23, and obstacle types in the order of the table. A position of a preparation is
3 * couple + requirement, or 72 + 3 * seat + subtype for a free slot (R10).
"""

from collections.abc import Callable, Sized
from typing import Any, cast

import numpy as np

from linkzoo.games.love_formula.cards import COUNTS, COUPLE, JOBS, OBSTACLE, SUBTYPES

NONE = -1
MAX_PLAYERS = 4
MAX_LENGTH = 4000  # decisions of a game
COUPLES = COUNTS[COUPLE]
OBSTACLES = COUNTS[OBSTACLE]
DECK = sum(COUNTS) - JOBS  # R3
PICKS = 12  # in a draft (R4)
TURNS = 10  # in a half (R7)
NEEDS = 3  # requirements of a couple, at most
SLOTS = len(SUBTYPES)  # free ones of a field
FREE_SLOT = NEEDS * COUPLES  # the first position that is a free slot
POSITIONS = FREE_SLOT + MAX_PLAYERS * SLOTS
REACTIONS = COUNTS[-1]
BITS = np.array([0, 1, 1, 2, 1, 2, 2, 3])  # ones of three bits, such as requirements met

# Widens a field of a record, for the type checker to an int.
int64 = cast(Callable[[Any], int], np.int64)


def numbered(names: Sized) -> list[int]:
    """Numbers for names, of one type: Numba compiles a function anew for each Python constant."""
    return [int64(number) for number in range(len(names))]
