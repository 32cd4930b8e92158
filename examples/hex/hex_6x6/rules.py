"""The rules (Hein 1942, Nash 1948), compiled; without a swap.

R1: Seat 0 begins, and seats take turns. R2: A turn puts a stone of the seat on an empty cell. R3: A
cell touches up to six others: left, right, up, down, up and right, down and left. R4: Seat 0 wins
with a chain of stones from the upper to the lower edge, seat 1 from the left to the right edge. On
a full board one of them has such a chain, so there are no draws.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import Field, Mask, Record, compiled

SIZE = 6
CELLS = SIZE * SIZE
EMPTY, OVER = -1, -1
WIDTH = SIZE + 1  # bits of a row
STEPS = (1, WIDTH, WIDTH - 1)  # R3: bits to the right, down, and down and left
FIELDS = (Field("board", "i1", (SIZE, SIZE), EMPTY, 1),)  # the seat of each stone


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Sets up the empty board."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0  # R1
    state.board[:] = EMPTY


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Marks the empty cells (R2)."""
    for cell in range(CELLS):
        mask[cell] = state.seat != OVER and state.board[cell // SIZE, cell % SIZE] == EMPTY


@compiled
def apply(state: Record, action: int) -> None:
    """Puts a stone of the seat to act on cell `action`."""
    seat = state.seat
    state.board[action // SIZE, action % SIZE] = seat  # R2
    state.ply += 1
    if connects(state.board, action, seat):
        state.winners = 1 << np.int64(seat)
    state.seat = OVER if state.winners != 0 else 1 - seat


@compiled
def connects(board: NDArray[np.int8], action: int, seat: int) -> bool:
    """Returns whether the chain of a cell's stone reaches both edges of its seat (R4)."""
    own = np.int64(0)  # sets of cells are bits, with a spare column that is always empty
    first_edge = np.int64(0)
    last_edge = np.int64(0)
    for cell in range(CELLS):
        row = cell // SIZE
        column = cell % SIZE
        bit = np.int64(1) << (row * WIDTH + column)
        progress = row if seat == 0 else column
        if board[row, column] == seat:
            own |= bit
        if progress == 0:
            first_edge |= bit
        if progress == SIZE - 1:
            last_edge |= bit
    chain = np.int64(0)
    grown = np.int64(1) << (action // SIZE * WIDTH + action % SIZE)
    while grown != chain:
        chain = grown
        for step in STEPS:  # R3
            grown |= ((chain << step) | (chain >> step)) & own
    return bool(chain & first_edge) and bool(chain & last_edge)
