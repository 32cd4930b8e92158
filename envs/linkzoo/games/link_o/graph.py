"""The board as a graph: spaces with their neighbours, in circles."""

import numpy as np

from linkzoo.core.observation import Graph, ObservationSpec
from linkzoo.games.link_o.board import CIRCLES, Board
from linkzoo.games.link_o.components import KINDS, NONE, VALUES
from linkzoo.games.link_o.tables import board_tables

_ON_SPACES = ("occupied", "linko", "placed_by", "left_shows", "right_shows")
_OF_TILES = ("hand", "unseen", "lacks")


def graph(board: Board, spec: ObservationSpec) -> Graph:
    """Returns the spaces with edges to `prev`, `next` and `partner`, in groups by circle.

    A group's features are the tiles of its colour.
    """
    tables = board_tables(board)
    elements = np.arange(spec.size)
    count = tables.size
    on_connectors = np.full((VALUES + 1, count), NONE)
    on_connectors[:VALUES, tables.connector] = spec.view(elements, "constraint")
    on_connectors[VALUES, tables.connector] = spec.view(elements, "blocked")
    on_spaces = [spec.view(elements, part).reshape(-1, count) for part in _ON_SPACES]
    colours = len(board.colours)
    tiles = [spec.view(elements, part).reshape(-1, CIRCLES, KINDS) for part in _OF_TILES]
    by_colour = np.concatenate(tiles)[:, :colours]
    return Graph(
        cells=np.concatenate([*on_spaces, on_connectors]).T,
        neighbours=np.stack([tables.prev, tables.next, tables.partner], axis=1),
        group=tables.circle,
        groups=by_colour.swapaxes(0, 1).reshape(colours, -1),
    )
