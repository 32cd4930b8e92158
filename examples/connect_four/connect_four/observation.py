"""The observation: two planes, a seat's own discs and the other seat's."""

import numpy as np
from numpy.typing import NDArray

from connect_four.rules import COLUMNS, ROWS
from linkzoo import ObservationPart, ObservationSpec, Record, compiled

CELLS = ROWS * COLUMNS
SPEC = ObservationSpec(
    (
        ObservationPart("own", (1, ROWS, COLUMNS), 0, 1, "own discs, the lowest row first"),
        ObservationPart("other", (1, ROWS, COLUMNS), 0, 1, "the other seat's discs"),
    ),
    (2, ROWS, COLUMNS),
)
# All cells of a column, for networks that read the board; each row has weights of its own.
ACTION_CELLS = np.arange(COLUMNS)[:, None] + (COLUMNS + CELLS) * np.arange(ROWS)


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the flat `out` with what `seat` sees (SPEC)."""
    for cell in range(CELLS):
        owner = state.board[cell // COLUMNS, cell % COLUMNS]
        out[cell] = owner == seat
        out[CELLS + cell] = owner == 1 - seat


def symmetries() -> tuple[NDArray[np.int64], ...]:
    """Returns the identity and the reflection of observations and actions; nothing is hidden."""
    cells = np.arange(2 * CELLS).reshape(2, ROWS, COLUMNS)
    columns = np.arange(COLUMNS)
    observations = np.stack([cells.ravel(), cells[:, :, ::-1].ravel()])
    return observations, np.stack([columns, columns[::-1]]), np.zeros((2, 0), np.int64)
