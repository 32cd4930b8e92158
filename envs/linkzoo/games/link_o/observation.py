"""What a seat sees of LINK-O, and what it doesn't: other hands and the order of the bag (R2).

The compiled functions are plain: `linkzoo.games.link_o.game_with` compiles them for a board
(`compiled.bind`).
"""

from collections import namedtuple
from typing import Any

import numpy as np

from linkzoo.core.game import ObservationSpec, Piece
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.options import MAX_ROUNDS
from linkzoo.games.link_o.pieces import (
    HAND,
    KINDS,
    MAX_PLAYERS,
    NONE,
    TILES,
    TYPES,
    VALUES,
    WILD,
    Layout,
)
from linkzoo.games.link_o.table import (
    BAG,
    LEFT,
    PARTNER,
    RIGHT,
    bit,
    first_in,
    hidden_from,
)

MAX_HAND = HAND + BAG
_SHOWN = 9999  # points, at most
_SEATS = (MAX_PLAYERS,)

# What `bind` gives the board for: its tables, and where the pieces of its observation begin.
BOARD: Layout
AT: Any

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


def observation(board: Board) -> ObservationSpec:
    """The observation on a board."""
    spaces, connectors = (len(board.spaces),), len(board.connectors)
    pieces = (
        Piece("hand", (TYPES,), 0, 2, "tiles of each type in the own hand"),
        Piece("unseen", (TYPES,), 0, 2, "tiles of each type in the other hands and the bag"),
        Piece("occupied", spaces, 0, 1, "1 where a tile lies"),
        Piece("linko", spaces, 0, 1, "1 where a LINK-O lies"),
        Piece(
            "left_shows", (VALUES, *spaces), 0, 1, "1 where the left neighbour shows a value (R11)"
        ),
        Piece("right_shows", (VALUES, *spaces), 0, 1, "1 where the right neighbour shows a value"),
        Piece("placed_by", spaces, 0, MAX_PLAYERS, "1 placed by the observer, 2 by the next seat"),
        Piece(
            "constraint",
            (VALUES, connectors),
            0,
            1,
            "1 for values that a connector meets (R12)",
        ),
        Piece("blocked", (connectors,), 0, 1, "1 if a connector meets two values (R12)"),
        Piece("hand_size", _SEATS, 0, MAX_HAND, "tiles in each hand"),
        Piece("bag_size", (1,), 0, BAG, "tiles in the bag"),
        Piece("scores", (MAX_PLAYERS, 2), 0, 99, f"points, hundreds and rest; {_SHOWN} is or more"),
        Piece("target", (2,), 0, 99, "points that win (R20), hundreds and rest"),
        Piece("first_turn", _SEATS, 0, 1, "1 while a first turn is to come (R6)"),
        Piece("starter", _SEATS, 0, 1, "1 for the seat that started the round"),
        Piece("to_act", _SEATS, 0, 1, "1 for the seat to act"),
        Piece("round", (1,), 1, MAX_ROUNDS, "number of the round"),
        Piece("num_players", (1,), 2, MAX_PLAYERS, "players", categorical=True),
        Piece("lacks", (MAX_PLAYERS, TYPES), 0, 1, "1 for types that a seat certainly lacks"),
        Piece("dug", _SEATS, 0, BAG, "tiles dug in each seat's latest turn"),
        Piece("passed", _SEATS, 0, 1, "1 if a seat's latest turn was a pass"),
    )
    return ObservationSpec(pieces, (sum(int(np.prod(piece.shape)) for piece in pieces),))


HIDDEN = ObservationSpec(
    (
        Piece("hands", (MAX_PLAYERS - 1, TYPES), 0, 2, "tiles of each type in the other hands"),
        Piece(
            "draw_order",
            (TILES,),
            0,
            BAG,
            "tiles by type, second LINK-Os last: 52 is drawn next, then 51; 0 is not in the bag",
        ),
    ),
    ((MAX_PLAYERS - 1) * TYPES + TILES,),
)


def starts(spec: ObservationSpec) -> Any:
    """Where each piece begins, by name."""
    found = spec.slices()
    return namedtuple("starts", found)(*(where.start for where in found.values()))


def observe(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out` with what `seat` sees (`observation`)."""
    out[:] = 0
    _show_tiles(state, seat, out)
    _show_board(state, seat, out)
    players = np.int64(state.num_players)
    for step in range(players):
        _show_seat(state, (np.int64(seat) + step) % players, step, out)
    out[AT.starter + (state.starter - np.int64(seat)) % players] = 1
    if state.seat != NONE:
        out[AT.to_act + (state.seat - np.int64(seat)) % players] = 1
    out[AT.bag_size] = state.bag_size
    out[AT.target] = state.target // 100
    out[AT.target + 1] = state.target % 100
    out[AT.round] = state.round_number
    out[AT.num_players] = players


def _show_tiles(state: Any, seat: Any, out: Any) -> None:
    """The own hand, and what lies neither there nor on the board."""
    once, twice = hidden_from(state, seat)
    _add(once, out, AT.unseen)
    _add(twice, out, AT.unseen)
    _add(state.held[seat], out, AT.hand)
    _add(state.twice[seat], out, AT.hand)


def _show_board(state: Any, seat: Any, out: Any) -> None:
    players = np.int64(state.num_players)
    left = state.occupied
    while left != _ZERO:
        space = first_in(left)
        left &= left - _ONE
        out[AT.occupied + space] = 1
        out[AT.linko + space] = state.code[space] == WILD
        out[AT.placed_by + space] = 1 + (state.owner[space] - np.int64(seat)) % players
    for value in range(VALUES):
        _add(state.shows[LEFT, value] & BOARD.spaces, out, AT.left_shows + value * BOARD.size)
        _add(state.shows[RIGHT, value], out, AT.right_shows + value * BOARD.size)
    connectors = len(BOARD.connector)
    for number in range(connectors):
        space, met = bit(BOARD.connector[number]), 0
        for value in range(VALUES):
            shows = (
                state.shows[LEFT, value] | state.shows[RIGHT, value] | state.shows[PARTNER, value]
            )
            if shows & space != _ZERO:
                out[AT.constraint + value * connectors + number] = 1
                met += 1
        out[AT.blocked + number] = met > 1


def _show_seat(state: Any, seat: Any, step: Any, out: Any) -> None:
    """What all know of a seat, `step` seats after the observer."""
    out[AT.hand_size + step] = state.hand_size[seat]
    points: Any = min(np.int64(state.scores[seat]), _SHOWN)
    out[AT.scores + 2 * step] = points // 100
    out[AT.scores + 2 * step + 1] = points % 100
    out[AT.first_turn + step] = state.first_turn[seat]
    out[AT.dug + step] = state.dug[seat]
    out[AT.passed + step] = state.passed[seat]
    _add(state.lacks[seat], out, AT.lacks + TYPES * step)


def reveal(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out` with what `seat` can't see (HIDDEN)."""
    out[:] = 0
    players = np.int64(state.num_players)
    for step in range(1, players):
        other = (np.int64(seat) + step) % players
        _add(state.held[other], out, TYPES * (step - 1))
        _add(state.twice[other], out, TYPES * (step - 1))
    order = (MAX_PLAYERS - 1) * TYPES
    for place in range(state.bag_size):
        tile = np.int64(state.bag[place])
        at = order + tile
        if out[at] != 0:
            at = order + TYPES + tile // KINDS
        out[at] = BAG - (np.int64(state.bag_size) - 1 - place)


def _add(members: Any, out: Any, first: Any) -> None:
    """Counts each number of a set from the place `first` on."""
    while members != _ZERO:
        out[first + first_in(members)] += 1
        members &= members - _ONE
