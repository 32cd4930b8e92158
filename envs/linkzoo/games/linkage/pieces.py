"""The board and its dominoes as tables: cells, placements, and which cells they touch."""

import numpy as np

SIZE = 7  # the largest board; smaller ones are its top-left part
CELLS = SIZE * SIZE
COLOURS = "WBRY"  # white, blue, red, yellow, in index order
HORIZONTAL = SIZE * (SIZE - 1)  # placements 0..41: (r, c)-(r, c+1); 42..83: (r, c)-(r+1, c)
PLACEMENTS = 2 * HORIZONTAL
MAX_PIECES = 24
MAX_LENGTH = MAX_PIECES + 2  # the hole and a role come first (R11)

HOLE_ACTION = len(COLOURS) * PLACEMENTS  # 336 + 7r + c: put the hole there (R11)
TAKE_MORE = HOLE_ACTION + CELLS  # 385
TAKE_FEWER = TAKE_MORE + 1  # 386
NUM_ACTIONS = TAKE_FEWER + 1


def _cells(placement: int) -> tuple[int, int]:
    """The two cells (7r + c) of a placement, in row-major order."""
    if placement < HORIZONTAL:
        row, column = divmod(placement, SIZE - 1)
        return SIZE * row + column, SIZE * row + column + 1
    return placement - HORIZONTAL, placement - HORIZONTAL + SIZE


def _neighbours(cell: int) -> list[int]:
    """The orthogonal neighbours of a cell."""
    row, column = divmod(cell, SIZE)
    beside = [(row - 1, column), (row + 1, column), (row, column - 1), (row, column + 1)]
    return [SIZE * r + c for r, c in beside if 0 <= r < SIZE and 0 <= c < SIZE]


def _bits(cells: list[int]) -> int:
    return sum(1 << cell for cell in cells)


# Cells of each placement, int64[84, 2].
PLACEMENT_CELLS = np.array([_cells(p) for p in range(PLACEMENTS)], np.int64)
# Bit sets of cells, uint64: of each placement, of the cells that touch it, of each board size.
PLACEMENT_BITS = np.array([_bits(list(_cells(p))) for p in range(PLACEMENTS)], np.uint64)
TOUCHING_BITS = np.array(
    [
        _bits(sorted({n for cell in _cells(p) for n in _neighbours(cell)} - set(_cells(p))))
        for p in range(PLACEMENTS)
    ],
    np.uint64,
)
BOARD_BITS = np.array(
    [_bits([SIZE * r + c for r in range(n) for c in range(n)]) for n in range(SIZE + 1)], np.uint64
)
# The column that a cell's right (left) neighbour can't lie in.
FIRST_COLUMN = np.uint64(_bits([SIZE * r for r in range(SIZE)]))
LAST_COLUMN = np.uint64(_bits([SIZE * r + SIZE - 1 for r in range(SIZE)]))
# The eight bits of a byte, lowest first, as bytes: a look-up is quicker than eight shifts.
BITS_OF = ((np.arange(256)[:, None] >> np.arange(8)) & 1).astype(np.int8)
# Where each action lies on the board: planes colour * 2 + direction at the piece's first cell, a
# plane for the hole, nowhere for the roles. int64[387].
ACTION_CELLS = np.array(
    [
        (colour * 2 + (placement >= HORIZONTAL)) * CELLS + PLACEMENT_CELLS[placement, 0]
        for colour in range(len(COLOURS))
        for placement in range(PLACEMENTS)
    ]
    + [2 * len(COLOURS) * CELLS + cell for cell in range(CELLS)]
    + [-1, -1],
    np.int64,
)
