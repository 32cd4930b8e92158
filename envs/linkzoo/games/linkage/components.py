"""The board and its dominoes as tables: cells, placements, and which cells they touch."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 7  # the largest board; smaller ones are its top-left part
CELLS = SIZE * SIZE
EMPTY, ONE = np.uint64(0), np.uint64(1)  # a set without cells; for arithmetic with sets
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
    """Bit sets, uint64[...], of bool[..., 49]."""
    return (cells * (1 << np.arange(CELLS, dtype=np.uint64))).sum(-1)


_BOARD = np.arange(CELLS).reshape(SIZE, SIZE)
_ROW, _COLUMN = np.divmod(np.arange(CELLS), SIZE)
_ADJACENT = abs(_ROW[:, None] - _ROW) + abs(_COLUMN[:, None] - _COLUMN) == 1

_ACROSS = np.stack([_BOARD[:, :-1], _BOARD[:, 1:]], -1).reshape(-1, 2)
_DOWN = np.stack([_BOARD[:-1], _BOARD[1:]], -1).reshape(-1, 2)
# Cells of each placement in row-major order, int64[84, 2].
PLACEMENT_CELLS = np.concatenate([_ACROSS, _DOWN])
_COVERED = (PLACEMENT_CELLS[:, :, None] == np.arange(CELLS)).any(1)
# Bit sets of cells, uint64: of each placement, of the cells that touch it, of each board size.
PLACEMENT_BITS = _bits(_COVERED)
TOUCHING_BITS = _bits(_COVERED @ _ADJACENT & ~_COVERED)
BOARD_BITS = _bits(np.maximum(_ROW, _COLUMN) < np.arange(SIZE + 1)[:, None])
# The column that a cell's right (left) neighbour can't lie in.
FIRST_COLUMN, LAST_COLUMN = np.uint64(_bits(_COLUMN == 0)), np.uint64(_bits(_COLUMN == SIZE - 1))
# The eight bits of a byte, lowest first, as bytes: a look-up is quicker than eight shifts.
BITS_OF = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.int8)
# Where each action lies on the board: planes colour * 2 + direction at the piece's first cell, a
# plane for the hole, nowhere for the roles. int64[387].
_PLANES = np.arange(NUM_COLOURS)[:, None] * 2 + (np.arange(PLACEMENTS) >= HORIZONTAL)
_PIECES = (_PLANES * CELLS + PLACEMENT_CELLS[:, 0]).ravel()
_HOLES = 2 * NUM_COLOURS * CELLS + np.arange(CELLS)
ACTION_CELLS = np.concatenate([_PIECES, _HOLES, [-1, -1]])
