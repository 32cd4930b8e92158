"""The tiles of LINK-O as tables, and the numbers of types, codes and actions.

A tile is the number of its type: 16 * colour + 0..14 for the pairs (0, 0), (0, 1), ... (4, 4), and
+ 15 for the LINK-O, of which each colour has two. Small boards have fewer types. On the board a
tile is a code, for the colour is the space's: 0..14 a pair with its low end at the left (towards
`prev`), 15..24 a pair of two different ends turned round, 25 a LINK-O. An action is
26 * space + code.
"""

from collections.abc import Iterable
from itertools import combinations_with_replacement

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.link_o.board import CIRCLES, MAX_PIP, Board

MAX_PLAYERS = 6
VALUES = MAX_PIP + 1  # of an end
NONE = -1
EMPTY = np.uint64(0)  # a set without members
ONE = np.uint64(1)  # for arithmetic with sets

PAIRS = tuple(combinations_with_replacement(range(VALUES), 2))
LINKO = len(PAIRS)  # as a type of a colour
KINDS = LINKO + 1  # types of a colour
TYPES = CIRCLES * KINDS
LINKO_POINTS = 16

_TURNED = tuple((high, low) for low, high in PAIRS if low < high)
ENDS = (*PAIRS, *_TURNED)  # left and right end of each code
WILD = len(ENDS)  # the code of a LINK-O
CODES = WILD + 1

# By code; NONE for a LINK-O.
LEFT_END = np.array([left for left, _ in ENDS] + [NONE])
RIGHT_END = np.array([right for _, right in ENDS] + [NONE])
KIND = np.array([PAIRS.index((min(ends), max(ends))) for ends in ENDS] + [LINKO])  # within a colour
# By type within a colour: its codes, one and the same for doubles and the LINK-O.
STRAIGHT = np.array([*range(LINKO), WILD])
TURNED = np.array([ENDS.index((high, low)) for low, high in PAIRS] + [WILD])
POINTS = np.array([low + high for low, high in PAIRS] + [LINKO_POINTS])  # by type of a colour (R17)


def copies_on(board: Board) -> NDArray[np.int64]:
    """Returns int64[TYPES], the number of tiles of each type that are played on a board."""
    copies = np.zeros((CIRCLES, KINDS), np.int64)
    within = [high <= board.max_pip for _, high in PAIRS]
    copies[: len(board.colours), :LINKO] = within
    copies[: len(board.colours), LINKO] = board.linkos
    return copies.ravel()


def set_of(members: Iterable[int]) -> np.uint64:
    """Returns a set of numbers below 64 as bits."""
    return np.uint64(sum(1 << int(member) for member in members))


LINKOS = set_of(range(LINKO, TYPES, KINDS))
DOUBLES = [kind for kind, (low, high) in enumerate(PAIRS) if low == high]  # within a colour
OPENERS = LINKOS | set_of(KINDS * circle + kind for circle in range(CIRCLES) for kind in DOUBLES)
