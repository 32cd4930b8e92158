"""The rules (Milton Bradley's, 1974), compiled.

R1: Seat 0 begins, and seats take turns. R2: A turn drops a disc into a column that isn't full; it
falls onto the lowest empty cell. R3: Four own discs in a line, across, up or diagonally, win. R4: A
full grid without such a line is a draw.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import Field, Mask, Record, compiled

ROWS, COLUMNS, LINE = 6, 7, 4
EMPTY, OVER, BOTH = -1, -1, 0b11
DIRECTIONS = np.array([[0, 1], [1, 0], [1, 1], [1, -1]])  # rows up, columns to the right
FIELDS = (Field("board", "i1", (ROWS, COLUMNS), EMPTY, 1),)  # the seat of each disc; row 0 is low


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Sets up the empty grid."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0  # R1
    state.board[:] = EMPTY


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Marks the columns that aren't full (R2)."""
    for column in range(COLUMNS):
        mask[column] = state.seat != OVER and state.board[ROWS - 1, column] == EMPTY


@compiled
def apply(state: Record, action: int) -> None:
    """Drops a disc of the seat to act into column `action`."""
    row = 0
    while state.board[row, action] != EMPTY:
        row += 1
    state.board[row, action] = state.seat  # R2
    state.ply += 1
    for up, right in DIRECTIONS:
        line = 1 + count(state.board, row, action, up, right)
        if line + count(state.board, row, action, -up, -right) >= LINE:  # R3
            state.winners = 1 << np.int64(state.seat)
    if state.winners == 0 and state.ply == ROWS * COLUMNS:  # R4
        state.winners = BOTH
    state.seat = OVER if state.winners != 0 else 1 - state.seat


@compiled
def count(board: NDArray[np.int8], row: int, column: int, up: int, right: int) -> int:
    """Returns how many discs of a cell's seat follow it in one direction without a gap."""
    seat = board[row, column]
    discs = 0
    row += up
    column += right
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row, column] == seat:
        discs += 1
        row += up
        column += right
    return discs
