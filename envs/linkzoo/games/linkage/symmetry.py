"""The 192 symmetries of the 7x7 board: 8 of the square, 24 of the colours (RULES.md, numbers)."""

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.linkage.observation import OBSERVATION
from linkzoo.games.linkage.pieces import (
    CELLS,
    COLOURS,
    HOLE_ACTION,
    NUM_ACTIONS,
    PLACEMENT_CELLS,
    PLACEMENTS,
    SIZE,
)


@cache
def symmetries() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Observations int64[192, 882], actions int64[192, 387], hidden [192, 0]; the identity first.

    In the position that symmetry s makes, a seat sees `observation[observations[s]]`, and
    `actions[s, a]` is what action a becomes.
    """
    seen, acted = [], []
    for square in _squares():
        for colours in permutations(range(len(COLOURS))):
            seen.append(_observation(square, colours))
            acted.append(_actions(square, colours))
    return np.array(seen), np.array(acted), np.zeros((len(seen), 0), np.int64)


def _squares() -> list[NDArray[np.int64]]:
    """Where each cell goes: the rotations of the board and of its mirror image."""
    board = np.arange(CELLS).reshape(SIZE, SIZE)
    turned = [np.rot90(side, turns) for side in (board, board.T) for turns in range(4)]
    # A turned board shows, cell by cell, where its content comes from.
    return [np.argsort(source.reshape(-1)) for source in turned]


def _observation(square: NDArray[np.int64], colours: tuple[int, ...]) -> NDArray[np.int64]:
    source_cell, source_colour = np.argsort(square), np.argsort(colours)
    planes = np.arange(OBSERVATION.shape[0])
    for piece in ("colours", "supply"):
        first = OBSERVATION.slices()[piece].start // CELLS
        planes[first : first + len(COLOURS)] = first + source_colour
    return (planes[:, None] * CELLS + source_cell).reshape(-1)


def _actions(square: NDArray[np.int64], colours: tuple[int, ...]) -> NDArray[np.int64]:
    placements = {frozenset(cells): p for p, cells in enumerate(PLACEMENT_CELLS.tolist())}
    moved = np.array([placements[frozenset(square[cells].tolist())] for cells in PLACEMENT_CELLS])
    actions = np.arange(NUM_ACTIONS)
    for colour, target in enumerate(colours):
        actions[colour * PLACEMENTS : (colour + 1) * PLACEMENTS] = target * PLACEMENTS + moved
    actions[HOLE_ACTION : HOLE_ACTION + CELLS] = HOLE_ACTION + square
    return actions
