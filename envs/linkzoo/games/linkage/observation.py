"""The observation of Linkage: everything, as 7x7 planes of integers."""

from functools import partial

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import BOARD, CELLS, EMPTY, NUM_COLOURS, ONE, SIZE
from linkzoo.games.linkage.rules import free_cells, unpack_bits
from linkzoo.games.linkage.state import NONE

# Higher thresholds are all out of reach: no game has more groups than pieces.
_MAX_THRESHOLD = components.MAX_PIECES + 1
_PLANE = (SIZE, SIZE)
_BY_COLOUR = (NUM_COLOURS, *_PLANE)
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
_AT = SPEC.starts()


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills a seat's observation (`SPEC`), int8[18 * 49]."""
    board = BOARD.of_size[state.board_size]
    empty = board & ~state.occupied
    blocked = ~board
    if state.hole != NONE:
        blocked |= ONE << np.uint64(state.hole)
    counter = EMPTY
    if state.counter != NONE:
        counter = BOARD.covered[state.pieces[state.counter] % components.PLACEMENTS]
    role = 0
    if state.more != NONE:
        role = 1 if state.more == seat else 2
    for colour in range(NUM_COLOURS):
        unpack_bits(state.coloured[colour], CELLS, out, _AT.colours + colour * CELLS)
    unpack_bits(empty, CELLS, out, _AT.empty)
    unpack_bits(blocked, CELLS, out, _AT.blocked)
    unpack_bits(counter, CELLS, out, _AT.counter)
    unpack_bits(empty & ~free_cells(state, True), CELLS, out, _AT.forbidden)
    for colour in range(NUM_COLOURS):
        _fill_plane(state.supply[colour], out, _AT.supply + colour * CELLS)
    _fill_plane(state.groups, out, _AT.groups)
    _fill_plane(min(state.threshold, _MAX_THRESHOLD), out, _AT.threshold)
    _fill_plane(state.num_pieces, out, _AT.pieces)
    _fill_plane(role, out, _AT.role)
    _fill_plane(int(state.seat == seat), out, _AT.to_act)
    _fill_plane(state.phase, out, _AT.phase)


@compiled
def _fill_plane(number: int, out: NDArray[np.int8], first: int) -> None:
    """Repeats a number over the plane that begins at element `first`."""
    out[first : first + CELLS] = number
