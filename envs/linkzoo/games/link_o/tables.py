"""The data of a board that is compiled into the rules (`binding`): `BOARD`."""

from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.games.link_o.board import CIRCLES, STANDARD_BOARD, Board, load_board
from linkzoo.games.link_o.components import NONE, TYPES, copies_on, set_of
from linkzoo.games.link_o.observation_spec import make_spec


class BoardTables(NamedTuple):
    """A board for compiled code. A set of spaces is 64 bits, one per space.

    Attributes:
        size: The number of spaces.
        prev: int64[size], the space before each one, counter-clockwise.
        next: int64[size], the space after each one, clockwise.
        partner: int64[size], the connector that each connector is linked to; NONE for regular
            spaces.
        circle: int64[size], the circle of each space.
        connector: int64[number of connectors], the connectors in ascending order.
        spaces: The set of all spaces.
        connectors: The set of the connectors.
        circles: uint64[CIRCLES], the set of the spaces of each circle; empty without a circle.
        hand: The number of tiles dealt to each seat.
        tiles: int64[number of tiles], the type of each tile, in ascending order.
        copies: int64[TYPES], the number of tiles of each type.
        types: The set of the types of which there are tiles.
        at: The start of each part of an observation (`ObservationSpec.starts`).
    """

    size: int
    prev: NDArray[np.int64]
    next: NDArray[np.int64]
    partner: NDArray[np.int64]
    circle: NDArray[np.int64]
    connector: NDArray[np.int64]
    spaces: np.uint64
    connectors: np.uint64
    circles: NDArray[np.uint64]
    hand: int
    tiles: NDArray[np.int64]
    copies: NDArray[np.int64]
    types: np.uint64
    at: Any


@cache
def board_tables(board: Board) -> BoardTables:
    """Returns the tables of a board; equal boards share them."""
    spaces = board.spaces
    partners = [space.partner for space in spaces]
    copies = copies_on(board)
    circle = np.array([space.circle for space in spaces])
    circles = [set_of(np.flatnonzero(circle == number)) for number in range(CIRCLES)]
    return BoardTables(
        size=len(spaces),
        prev=np.array([space.prev for space in spaces]),
        next=np.array([space.next for space in spaces]),
        partner=np.array([NONE if partner is None else partner for partner in partners]),
        circle=circle,
        connector=np.array(board.connectors),
        spaces=set_of(range(len(spaces))),
        connectors=set_of(board.connectors),
        circles=np.array(circles, np.uint64),
        hand=board.hand,
        tiles=np.repeat(np.arange(TYPES), copies),
        copies=copies,
        types=set_of(np.flatnonzero(copies)),
        at=make_spec(board).starts(),
    )


BOARD = board_tables(load_board(STANDARD_BOARD))  # `binding` sets it for other boards
