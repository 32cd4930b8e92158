"""The board as a graph: spaces with their neighbours, in circles."""

import numpy as np

from linkzoo.core.observation import Graph, ObservationSpec
from linkzoo.games.link_o.board import CIRCLES, Board
from linkzoo.games.link_o.components import KINDS, NONE, VALUES

_ON_SPACES = ("occupied", "linko", "placed_by", "left_shows", "right_shows")
_OF_TILES = ("hand", "unseen", "lacks")


def graph(board: Board, spec: ObservationSpec) -> Graph:
    """Returns spaces with edges to `prev`, `next` and `partner`, in groups by circle.

    The tiles of its colour describe a circle.
    """
    count, elements = len(board.spaces), np.arange(spec.size)
    on_connectors = np.full((VALUES + 1, count), NONE)
    on_connectors[:VALUES, board.connectors] = spec.view(elements, "constraint")
    on_connectors[VALUES, board.connectors] = spec.view(elements, "blocked")
    on_spaces = [spec.view(elements, part).reshape(-1, count) for part in _ON_SPACES]
    tiles = [spec.view(elements, part).reshape(-1, CIRCLES, KINDS) for part in _OF_TILES]
    return Graph(
        cells=np.concatenate([*on_spaces, on_connectors]).T,
        neighbours=np.array(
            [(s.prev, s.next, NONE if s.partner is None else s.partner) for s in board.spaces]
        ),
        group=np.array([space.circle for space in board.spaces]),
        groups=np.concatenate(tiles).swapaxes(0, 1).reshape(CIRCLES, -1),
    )
