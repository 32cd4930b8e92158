"""What a seat sees of Linkage: everything, as 7x7 planes of integers."""

from typing import Any

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.core.game import ObservationSpec, Piece
from linkzoo.games.linkage.pieces import (
    BOARD_BITS,
    CELLS,
    COLOURS,
    MAX_PIECES,
    PLACEMENT_BITS,
    PLACEMENTS,
    SIZE,
)
from linkzoo.games.linkage.rules import NONE, NUM_COLOURS, free_cells, spread

# The highest threshold that makes a difference: no game has more groups than pieces.
_MAX_THRESHOLD = MAX_PIECES + 1
_PLANE = (SIZE, SIZE)


def _number(name: str, low: int, high: int, meaning: str) -> Piece:
    return Piece(name, _PLANE, low, high, meaning, broadcast=True)


OBSERVATION = ObservationSpec(
    (
        Piece("colours", (NUM_COLOURS, *_PLANE), 0, 1, f"cells of each colour ({COLOURS})"),
        Piece("empty", _PLANE, 0, 1, "cells that a piece could cover, the counter ignored"),
        Piece("blocked", _PLANE, 0, 1, "the hole and the cells off a smaller board"),
        Piece("counter", _PLANE, 0, 1, "cells of the piece with the green counter"),
        Piece("forbidden", _PLANE, 0, 1, "empty cells that touch the counter's piece (R4)"),
        Piece(
            "supply",
            (NUM_COLOURS, *_PLANE),
            0,
            6,
            "pieces left of each colour",
            broadcast=True,
        ),
        _number("groups", 0, MAX_PIECES, "colour groups so far (R9)"),
        _number("threshold", 1, _MAX_THRESHOLD, "groups that win for More (R10)"),
        _number("pieces", 0, MAX_PIECES, "pieces placed"),
        _number("role", 0, 2, "the observer's role: 0 none yet, 1 More, 2 Fewer"),
        _number("to_act", 0, 1, "1 if the observer is to act"),
        _number("phase", 0, 2, "0 play, 1 place the hole, 2 take a role (R11)"),
    ),
    shape=(18, SIZE, SIZE),
)


@compiled
def observe(state: Any, seat: Any, out: Any) -> None:
    """Fills int8 `out[18 * 49]` with what `seat` sees (OBSERVATION)."""
    board = BOARD_BITS[state.board_size]
    empty = board & ~state.occupied
    hole = np.uint64(0) if state.hole == NONE else np.uint64(1) << np.uint64(state.hole)
    counter = np.uint64(0)
    if state.counter != NONE:
        counter = PLACEMENT_BITS[state.pieces[state.counter] % PLACEMENTS]
    for colour in range(NUM_COLOURS):
        _plane(out, colour, state.coloured[colour])
    _plane(out, 4, empty)
    _plane(out, 5, ~board | hole)
    _plane(out, 6, counter)
    _plane(out, 7, empty & ~free_cells(state, True))
    for colour in range(NUM_COLOURS):
        _number_plane(out, 8 + colour, state.supply[colour])
    _number_plane(out, 12, state.groups)
    _number_plane(out, 13, min(np.int64(state.threshold), _MAX_THRESHOLD))
    _number_plane(out, 14, state.num_pieces)
    _number_plane(out, 15, 0 if state.more == NONE else 1 if state.more == seat else 2)
    _number_plane(out, 16, 1 if state.seat == seat else 0)
    _number_plane(out, 17, state.phase)


@compiled
def _plane(out: Any, plane: Any, bits: Any) -> None:
    spread(bits, CELLS, out, plane * CELLS)


@compiled
def _number_plane(out: Any, plane: Any, number: Any) -> None:
    for cell in range(CELLS):
        out[plane * CELLS + cell] = number
