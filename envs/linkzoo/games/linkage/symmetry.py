"""The 192 symmetries of the 7x7 board: 8 of the square, 24 of the colours (RULES.md, numbers)."""

from functools import cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import CELLS, NUM_COLOURS, PLACEMENT_CELLS, SIZE
from linkzoo.games.linkage.observation import SPEC


@cache
def symmetries() -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Returns observations int64[192, 882], actions int64[192, 387], privileged int64[192, 0].

    The identity is the first. In the position that symmetry s makes, a seat sees
    `observation[observations[s]]`, and action a is `actions[s, a]`.
    """
    observations = []
    actions = []
    for square in _squares():
        for colours in permutations(range(NUM_COLOURS)):
            observations.append(_observation(square, colours))
            actions.append(_actions(square, colours))
    return np.array(observations), np.array(actions), np.zeros((len(actions), 0), np.int64)


def _squares() -> list[NDArray[np.int64]]:
    """Returns the image of each cell: the rotations of the board and of its mirror image."""
    board = np.arange(CELLS).reshape(SIZE, SIZE)
    turned = [np.rot90(side, turns) for side in (board, board.T) for turns in range(4)]
    # A turned board holds the source of each cell; the inverse holds the images.
    return [np.argsort(sources.reshape(-1)) for sources in turned]


def _observation(square: NDArray[np.int64], colours: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns the source of each number of the symmetric observation."""
    source_cells = np.argsort(square)
    source_colours = np.argsort(colours)
    planes = np.arange(SPEC.shape[0])
    for part in ("colours", "supply"):
        first = SPEC.slices()[part].start // CELLS
        planes[first : first + NUM_COLOURS] = first + source_colours
    return (planes[:, None] * CELLS + source_cells).reshape(-1)


def _actions(square: NDArray[np.int64], colours: tuple[int, ...]) -> NDArray[np.int64]:
    """Returns the image of each action."""
    placements = {
        frozenset(cells): placement for placement, cells in enumerate(PLACEMENT_CELLS.tolist())
    }
    moved = np.array([placements[frozenset(square[cells].tolist())] for cells in PLACEMENT_CELLS])
    pieces = np.array(colours)[:, None] * components.PLACEMENTS + moved
    roles = components.TAKE_MORE, components.TAKE_FEWER
    return np.concatenate([pieces.ravel(), components.HOLE_ACTION + square, roles])
