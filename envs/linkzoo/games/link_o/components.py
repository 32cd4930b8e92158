"""The components of LINK-O as tables: its 68 tiles, and the board.

A tile is the number of its type: 16 * colour + 0..14 for the pairs (0, 0), (0, 1), ... (4, 4), and
+ 15 for the LINK-O, of which each colour has two. On the board a tile is a code, for the colour is
the space's: 0..14 a pair with its low end at the left (towards `prev`), 15..24 a pair of two
different ends turned round, 25 a LINK-O. An action is 26 * space + code.
"""

from collections.abc import Iterable
from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.link_o.board import CIRCLES, STANDARD_BOARD, Board, load_board

MAX_PLAYERS = 6
HAND = 8  # tiles dealt to each (R2)
VALUES = 5  # of an end: 0..4
NONE = -1
EMPTY, ONE = np.uint64(0), np.uint64(1)  # a set without members; for arithmetic with sets

PAIRS = tuple(combinations_with_replacement(range(VALUES), 2))
LINKO = len(PAIRS)  # as a type of a colour
KINDS = LINKO + 1  # types of a colour
TYPES = CIRCLES * KINDS
TILES = CIRCLES * (KINDS + 1)  # the second LINK-O of each colour
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
COPIES = np.array(([1] * LINKO + [2]) * CIRCLES)  # by type
ALL_TILES = np.repeat(np.arange(TYPES), COPIES)


def set_of(members: Iterable[int]) -> np.uint64:
    """Returns a set of numbers below 64 as bits."""
    return np.uint64(sum(1 << int(member) for member in members))


LINKOS = set_of(range(LINKO, TYPES, KINDS))
DOUBLES = [kind for kind, (low, high) in enumerate(PAIRS) if low == high]  # within a colour
OPENERS = LINKOS | set_of(KINDS * circle + kind for circle in range(CIRCLES) for kind in DOUBLES)


class BoardTables(NamedTuple):
    """A board for the compiled rules. A set of spaces is 64 bits, one per space."""

    size: int  # spaces
    prev: NDArray[np.int64]
    next: NDArray[np.int64]
    partner: NDArray[np.int64]  # NONE for regular spaces
    circle: NDArray[np.int64]
    connector: NDArray[np.int64]  # their ids
    spaces: np.uint64  # all of them
    connectors: np.uint64
    circles: NDArray[np.uint64]  # the spaces of each


def board_tables(board: Board) -> BoardTables:
    """Returns the tables of a board."""
    spaces = board.spaces
    circle = np.array([space.circle for space in spaces])
    return BoardTables(
        size=len(spaces),
        prev=np.array([space.prev for space in spaces]),
        next=np.array([space.next for space in spaces]),
        partner=np.array([NONE if s.partner is None else s.partner for s in spaces]),
        circle=circle,
        connector=np.array(board.connectors),
        spaces=set_of(range(len(spaces))),
        connectors=set_of(board.connectors),
        circles=np.array([set_of(np.flatnonzero(circle == c)) for c in range(CIRCLES)], np.uint64),
    )


BOARD = board_tables(load_board(STANDARD_BOARD))  # for other boards the rules are rebound
