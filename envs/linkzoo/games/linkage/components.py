"""The board and its dominoes as tables: cells, placements, and which cells they touch."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

SIZE = 7  # the largest board; smaller ones are its top-left part
CELLS = SIZE * SIZE
EMPTY = np.uint64(0)  # a set without cells
ONE = np.uint64(1)  # for arithmetic with sets
COLOURS = "WBRY"  # white, blue, red, yellow, in index order
NUM_COLOURS = len(COLOURS)
HORIZONTAL = SIZE * (SIZE - 1)  # placements 0..41: (r, c)-(r, c+1); 42..83: (r, c)-(r+1, c)
PLACEMENTS = 2 * HORIZONTAL
MAX_PIECES = 24
MAX_SUPPLY = MAX_PIECES // NUM_COLOURS
MAX_LENGTH = MAX_PIECES + 2  # the hole and a role come first (R11)

HOLE_ACTION = NUM_COLOURS * PLACEMENTS  # 336 + 7r + c: put the hole there (R11)
TAKE_MORE = HOLE_ACTION + CELLS  # 385
TAKE_FEWER = TAKE_MORE + 1  # 386
NUM_ACTIONS = TAKE_FEWER + 1


def _bits(cells: NDArray[np.bool_]) -> Any:
    """Returns sets as bits, uint64[...], of bool[..., 49]."""
    return (cells * (1 << np.arange(CELLS, dtype=np.uint64))).sum(-1)


_BOARD = np.arange(CELLS).reshape(SIZE, SIZE)
_ROW, _COLUMN = np.divmod(np.arange(CELLS), SIZE)
_ADJACENT = abs(_ROW[:, None] - _ROW) + abs(_COLUMN[:, None] - _COLUMN) == 1

_ACROSS = np.stack([_BOARD[:, :-1], _BOARD[:, 1:]], -1).reshape(-1, 2)
_DOWN = np.stack([_BOARD[:-1], _BOARD[1:]], -1).reshape(-1, 2)
# Cells of each placement in row-major order, int64[84, 2].
PLACEMENT_CELLS = np.concatenate([_ACROSS, _DOWN])
_COVERED = (PLACEMENT_CELLS[:, :, None] == np.arange(CELLS)).any(1)


class BoardTables(NamedTuple):
    """The board for compiled code. A set of cells is 49 bits, cell (r, c) the bit 7r + c.

    Attributes:
        covered: uint64[84], the two cells of each placement.
        touching: uint64[84], the cells adjacent to each placement.
        of_size: uint64[8], the cells of the board of each size.
        first_column: The leftmost cells: no right neighbour lies there.
        last_column: The rightmost cells: no left neighbour lies there.
        bits_of: int8[256, 8], the bits of a byte, lowest first: faster than eight shifts.
    """

    covered: NDArray[np.uint64]
    touching: NDArray[np.uint64]
    of_size: NDArray[np.uint64]
    first_column: np.uint64
    last_column: np.uint64
    bits_of: NDArray[np.int8]


BOARD = BoardTables(
    covered=_bits(_COVERED),
    touching=_bits(_COVERED @ _ADJACENT & ~_COVERED),
    of_size=_bits(np.maximum(_ROW, _COLUMN) < np.arange(SIZE + 1)[:, None]),
    first_column=np.uint64(_bits(_COLUMN == 0)),
    last_column=np.uint64(_bits(_COLUMN == SIZE - 1)),
    bits_of=((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.int8),
)

# The element of each action in action planes, int64[387]: plane colour * 2 + direction at the
# piece's first cell, a last plane for the hole, -1 for the roles.
_PLANES = np.arange(NUM_COLOURS)[:, None] * 2 + (np.arange(PLACEMENTS) >= HORIZONTAL)
_PIECES = (_PLANES * CELLS + PLACEMENT_CELLS[:, 0]).ravel()
_HOLES = 2 * NUM_COLOURS * CELLS + np.arange(CELLS)
ACTION_CELLS = np.concatenate([_PIECES, _HOLES, [-1, -1]])
