"""The observation of Linkage: everything, as 7x7 planes of integers."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage.components import (
    BOARD_BITS,
    CELLS,
    COLOURS,
    MAX_PIECES,
    MAX_SUPPLY,
    NUM_COLOURS,
    PLACEMENT_BITS,
    PLACEMENTS,
    SIZE,
)
from linkzoo.games.linkage.rules import free_cells, unpack_bits
from linkzoo.games.linkage.state import NONE

# The highest threshold that makes a difference: no game has more groups than pieces.
_MAX_THRESHOLD = MAX_PIECES + 1
_PLANE = (SIZE, SIZE)


def _cells(name: str, meaning: str, *axes: int) -> ObservationPart:
    return ObservationPart(name, (*axes, *_PLANE), 0, 1, meaning)


def _number(name: str, low: int, high: int, meaning: str, *axes: int) -> ObservationPart:
    return ObservationPart(name, (*axes, *_PLANE), low, high, meaning, broadcast=True)


SPEC = ObservationSpec(
    (
        _cells("colours", f"cells of each colour ({COLOURS})", NUM_COLOURS),
        _cells("empty", "cells that a piece could cover, the counter ignored"),
        _cells("blocked", "the hole and the cells off a smaller board"),
        _cells("counter", "cells of the piece with the green counter"),
        _cells("forbidden", "empty cells that touch the counter's piece (R4)"),
        _number("supply", 0, MAX_SUPPLY, "pieces left of each colour", NUM_COLOURS),
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
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills int8 `out[18 * 49]` with what `seat` sees (SPEC)."""
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
    _number_plane(out, 13, min(state.threshold, _MAX_THRESHOLD))
    _number_plane(out, 14, state.num_pieces)
    _number_plane(out, 15, 0 if state.more == NONE else 1 if state.more == seat else 2)
    _number_plane(out, 16, 1 if state.seat == seat else 0)
    _number_plane(out, 17, state.phase)


@compiled
def _plane(out: NDArray[np.int8], plane: int, bits: np.uint64) -> None:
    unpack_bits(bits, CELLS, out, plane * CELLS)


@compiled
def _number_plane(out: NDArray[np.int8], plane: int, number: int) -> None:
    for cell in range(CELLS):
        out[plane * CELLS + cell] = number
