"""What a seat sees: its own discs and the other seat's, as two planes."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from connect_four.rules import COLUMNS, ROWS
from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec, Piece

CELLS = ROWS * COLUMNS
OBSERVATION = ObservationSpec(
    (
        Piece("own", (1, ROWS, COLUMNS), 0, 1, "own discs, the lowest row first"),
        Piece("other", (1, ROWS, COLUMNS), 0, 1, "the other seat's discs"),
    ),
    (2, ROWS, COLUMNS),
)


@compiled
def observe(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out[2 * 42]` with what `seat` sees (OBSERVATION)."""
    for cell in range(CELLS):
        owner = state.board[cell // COLUMNS, cell % COLUMNS]
        out[cell] = owner == seat
        out[CELLS + cell] = owner == 1 - seat


def symmetries() -> tuple[NDArray[np.int64], ...]:
    """The identity and the reflection: index arrays of observations, actions, nothing hidden."""
    cells, columns = np.arange(2 * CELLS).reshape(2, ROWS, COLUMNS), np.arange(COLUMNS)
    seen = np.stack([cells.ravel(), cells[:, :, ::-1].ravel()])
    return seen, np.stack([columns, columns[::-1]]), np.zeros((2, 0), np.int64)
