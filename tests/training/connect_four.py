"""Connect Four as a game of the contract: perfect information, short, and with draws.

Rules (Milton Bradley's, 1974): an upright grid of 7 columns and 6 rows (C1); seat 0 begins, and
seats take turns (C2) to drop a disc of their own into a column that isn't full, where it falls onto
the lowest empty cell (C3). Whoever has four in a line, across, up or diagonally, wins (C4); if the
grid is full and nobody has, it is a draw (C5).
"""

from typing import Any

import numpy as np

from linkzoo.compiled import compiled
from linkzoo.game import ObservationSpec, Piece, record_dtype
from tests.training.toys import OVER, same_world, toy

ROWS, COLUMNS, LINE = 6, 7, 4
EMPTY = -1
BOTH = 0b11
_DIRECTIONS = np.array([[0, 1], [1, 0], [1, 1], [1, -1]])  # rows up, columns to the right

STATE = record_dtype([], [("board", "i1", (ROWS, COLUMNS))])  # the seat of a disc, or EMPTY


@compiled
def _new(state: Any, seed: Any) -> None:
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0  # C2
    state.board[:] = EMPTY  # C1


@compiled
def _legal(state: Any, mask: Any) -> None:
    for column in range(COLUMNS):
        mask[column] = state.seat != OVER and state.board[ROWS - 1, column] == EMPTY


@compiled
def _same(board: Any, row: Any, column: Any, up: Any, right: Any) -> Any:
    """How many discs in a row from a cell on, itself left out, are of the cell's seat."""
    seat, count = board[row, column], 0
    row, column = row + up, column + right
    while 0 <= row < ROWS and 0 <= column < COLUMNS and board[row, column] == seat:
        count += 1
        row, column = row + up, column + right
    return count


@compiled
def _apply(state: Any, action: Any) -> None:
    row = 0
    while state.board[row, action] != EMPTY:
        row += 1
    state.board[row, action] = state.seat  # C3
    state.ply += 1
    for up, right in _DIRECTIONS:
        ahead = _same(state.board, row, action, up, right)
        if 1 + ahead + _same(state.board, row, action, -up, -right) >= LINE:  # C4
            state.winners = 1 << np.int64(state.seat)
    if state.winners == 0 and state.ply == ROWS * COLUMNS:  # C5
        state.winners = BOTH
    state.seat = OVER if state.winners != 0 else 1 - state.seat


@compiled
def _observe(state: Any, seat: Any, out: Any) -> None:
    for cell in range(ROWS * COLUMNS):
        owner = state.board[cell // COLUMNS, cell % COLUMNS]
        out[cell] = owner == seat
        out[ROWS * COLUMNS + cell] = owner == 1 - seat


@compiled
def _payoffs(state: Any, out: Any) -> None:
    for seat in range(2):
        won, lost = state.winners >> seat & 1, state.winners >> (1 - seat) & 1
        out[seat] = np.int64(won) - np.int64(lost)


CONNECT_FOUR = toy(
    "connect_four",
    2,
    STATE,
    num_actions=COLUMNS,
    typical_length=21,
    max_length=ROWS * COLUMNS,
    observation=ObservationSpec(
        (
            Piece("own", (1, ROWS, COLUMNS), 0, 1, "own discs"),
            Piece("other", (1, ROWS, COLUMNS), 0, 1, "the other seat's discs"),
        ),
        (2, ROWS, COLUMNS),
    ),
    new_game=_new,
    legal_actions=_legal,
    apply=_apply,
    observe=_observe,
    payoffs=_payoffs,
    margins=_payoffs,
    redeal=same_world,
    chance=False,
)
