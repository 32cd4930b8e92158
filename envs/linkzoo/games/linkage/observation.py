"""The observation of Linkage: everything, as 7x7 planes of integers."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import CELLS, EMPTY, NUM_COLOURS, ONE, SIZE
from linkzoo.games.linkage.rules import free_cells, unpack_bits
from linkzoo.games.linkage.state import NONE

# The highest threshold that makes a difference: no game has more groups than pieces.
_MAX_THRESHOLD = components.MAX_PIECES + 1
_PLANE, _BY_COLOUR = (SIZE, SIZE), (NUM_COLOURS, SIZE, SIZE)
_Number = partial(Part, broadcast=True)

SPEC = ObservationSpec(
    (
        Part("colours", _BY_COLOUR, 0, 1, f"cells of each colour ({components.COLOURS})"),
        Part("empty", _PLANE, 0, 1, "cells that a piece could cover, the counter ignored"),
        Part("blocked", _PLANE, 0, 1, "the hole and the cells off a smaller board"),
        Part("counter", _PLANE, 0, 1, "cells of the piece with the green counter"),
        Part("forbidden", _PLANE, 0, 1, "empty cells that touch the counter's piece (R4)"),
        _Number("supply", _BY_COLOUR, 0, components.MAX_SUPPLY, "pieces left of each colour"),
        _Number("groups", _PLANE, 0, components.MAX_PIECES, "colour groups so far (R9)"),
        _Number("threshold", _PLANE, 1, _MAX_THRESHOLD, "groups that win for More (R10)"),
        _Number("pieces", _PLANE, 0, components.MAX_PIECES, "pieces placed"),
        _Number("role", _PLANE, 0, 2, "the observer's role: 0 none yet, 1 More, 2 Fewer"),
        _Number("to_act", _PLANE, 0, 1, "1 if the observer is to act"),
        _Number("phase", _PLANE, 0, 2, "0 play, 1 place the hole, 2 take a role (R11)"),
    ),
    shape=(18, SIZE, SIZE),
)


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills int8 `out[18 * 49]` with what `seat` sees (SPEC)."""
    board = components.BOARD_BITS[state.board_size]
    empty = board & ~state.occupied
    hole = EMPTY if state.hole == NONE else ONE << np.uint64(state.hole)
    counter = EMPTY
    if state.counter != NONE:
        counter = components.PLACEMENT_BITS[state.pieces[state.counter] % components.PLACEMENTS]
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
