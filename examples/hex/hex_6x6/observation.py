"""The observation: stones of both seats, and a plane that says which edges the seat connects."""

import numpy as np
from numpy.typing import NDArray

from hex_6x6.rules import CELLS, SIZE
from linkzoo import ObservationPart, ObservationSpec, Record, compiled

PLANES = 3
SPEC = ObservationSpec(
    (
        ObservationPart("own", (1, SIZE, SIZE), 0, 1, "own stones, the upper row first"),
        ObservationPart("other", (1, SIZE, SIZE), 0, 1, "the other seat's stones"),
        ObservationPart("vertical", (1, SIZE, SIZE), 0, 1, "1 everywhere for seat 0, else 0"),
    ),
    (PLANES, SIZE, SIZE),
)
ACTION_CELLS = np.arange(CELLS)[:, None]  # one cell each, for networks that read the board


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the flat `out` with what `seat` sees (SPEC)."""
    for cell in range(CELLS):
        owner = state.board[cell // SIZE, cell % SIZE]
        out[cell] = owner == seat
        out[CELLS + cell] = owner == 1 - seat
        out[2 * CELLS + cell] = seat == 0


def symmetries() -> tuple[NDArray[np.int64], ...]:
    """Returns the identity and half a turn of observations and actions; nothing is hidden."""
    cells = np.arange(CELLS)
    boards = np.stack([cells, cells[::-1]])
    observations = np.concatenate([plane * CELLS + boards for plane in range(PLANES)], 1)
    return observations, boards, np.zeros((2, 0), np.int64)
