"""The board as a graph: spaces with their neighbours, in circles."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Graph, ObservationSpec
from linkzoo.games.link_o.board import CIRCLES, Board
from linkzoo.games.link_o.pieces import KINDS, MAX_PLAYERS, NONE, VALUES


def graph(board: Board, seen: ObservationSpec) -> Graph:
    """Spaces with `prev`, `next` and `partner`; a circle is told of by the tiles of its colour."""
    spaces: NDArray[np.int64] = np.arange(len(board.spaces))
    where = seen.slices()
    numbers = np.full(len(spaces), NONE)
    numbers[list(board.connectors)] = np.arange(len(board.connectors))

    def of_spaces(piece: str, value: int = 0) -> NDArray[np.int64]:
        first: int = where[piece].start + len(spaces) * value
        return first + spaces

    def of_connectors(piece: str, value: int = 0) -> NDArray[np.int64]:
        first = where[piece].start + len(board.connectors) * value
        return np.where(numbers == NONE, NONE, first + numbers)

    cells = [
        *map(of_spaces, ("occupied", "linko", "placed_by")),
        *(
            of_spaces(f"{side}_shows", value)
            for side in ("left", "right")
            for value in range(VALUES)
        ),
        *(of_connectors("constraint", value) for value in range(VALUES)),
        of_connectors("blocked"),
    ]
    types = KINDS * np.arange(CIRCLES)[:, None] + np.arange(KINDS)
    tiles = [where["hand"].start, where["unseen"].start]
    tiles += [where["lacks"].start + CIRCLES * KINDS * seat for seat in range(MAX_PLAYERS)]
    return Graph(
        cells=np.stack(cells, 1),
        neighbours=np.array(
            [(s.prev, s.next, NONE if s.partner is None else s.partner) for s in board.spaces]
        ),
        group=np.array([space.circle for space in board.spaces]),
        groups=np.concatenate([first + types for first in tiles], 1),
    )
