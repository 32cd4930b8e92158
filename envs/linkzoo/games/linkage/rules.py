"""Linkage: the record and the compiled rules. Numbers (R1..R12) refer to RULES.md.

A cell (r, c) is the bit 7r + c of a 49-bit set.
"""

from typing import Any

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.core.game import Field, record_dtype
from linkzoo.games.linkage.pieces import (
    BITS_OF,
    BOARD_BITS,
    CELLS,
    COLOURS,
    FIRST_COLUMN,
    HOLE_ACTION,
    HORIZONTAL,
    LAST_COLUMN,
    MAX_PIECES,
    NUM_ACTIONS,
    PLACEMENT_BITS,
    PLACEMENTS,
    SIZE,
    TAKE_FEWER,
    TAKE_MORE,
    TOUCHING_BITS,
)

PLAY, HOLE, ROLE = 0, 1, 2  # phases
NONE = -1
NUM_COLOURS = len(COLOURS)
STANDARD_THRESHOLD, MAX_THRESHOLD = 12, 32767
MIN_SIZE = 3  # of the board

_ALL_CELLS = 2**CELLS - 1
FIELDS = (
    # The options.
    Field("free_hole", "i1", (), 0, 1),
    Field("board_size", "i1", (), MIN_SIZE, SIZE),
    Field("threshold", "i2", (), 1, MAX_THRESHOLD),
    # The game.
    Field("phase", "i1", (), PLAY, ROLE),
    Field("more", "i1", (), NONE, 1),  # the seat that plays More; NONE before it is chosen
    Field("hole", "i1", (), NONE, CELLS - 1),  # a cell, or NONE
    Field("num_pieces", "i1", (), 0, MAX_PIECES),
    # The piece that carries the green counter, or NONE.
    Field("counter", "i1", (), NONE, MAX_PIECES - 1),
    Field("groups", "i1", (), 0, MAX_PIECES),
    Field("supply", "i1", (NUM_COLOURS,), 0, MAX_PIECES // NUM_COLOURS),
    # colour * 84 + placement, in order
    Field("pieces", "i2", (MAX_PIECES,), 0, NUM_COLOURS * PLACEMENTS - 1),
    Field("occupied", "u8", (), 0, _ALL_CELLS),  # covered cells and the hole
    Field("coloured", "u8", (NUM_COLOURS,), 0, _ALL_CELLS),
)
STATE = record_dtype(FIELDS)

_ONE = np.uint64(1)
_ZERO = np.uint64(0)


@compiled
def new_game(state: Any, seed: Any) -> None:
    """Sets up the board (R1, R2, R3); with `free_hole`, seat 0 places the hole first (R11)."""
    size = np.int64(state.board_size)
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.num_pieces = 0
    state.counter = NONE
    state.groups = 0
    state.occupied = _ZERO
    state.coloured[:] = _ZERO
    state.pieces[:] = 0
    state.hole = NONE
    odd = size % 2 == 1
    state.supply[:] = (size * size - (1 if odd or state.free_hole else 0) + 7) // 8
    if state.free_hole:
        state.phase = HOLE
        state.more = NONE
    else:
        state.phase = PLAY
        state.more = 0
        if odd:
            _set_hole(state, SIZE * (size // 2) + size // 2)


@compiled
def _set_hole(state: Any, cell: Any) -> None:
    state.hole = cell
    state.occupied |= _ONE << np.uint64(cell)


@compiled
def free_cells(state: Any, with_counter: Any) -> Any:
    """The cells that a piece may cover: empty and, with the counter, not beside its piece (R4)."""
    free = BOARD_BITS[state.board_size] & ~state.occupied
    if with_counter and state.counter != NONE:
        free &= ~TOUCHING_BITS[state.pieces[state.counter] % PLACEMENTS]
    return free


@compiled
def horizontals(free: Any) -> Any:
    """The left cells of the horizontal placements within `free`."""
    return free & (free >> _ONE) & ~LAST_COLUMN


@compiled
def verticals(free: Any) -> Any:
    """The upper cells of the vertical placements within `free`."""
    return free & (free >> np.uint64(SIZE))


@compiled
def can_place(state: Any, with_counter: Any) -> Any:
    """Whether any placement exists."""
    free = free_cells(state, with_counter)
    return (horizontals(free) | verticals(free)) != _ZERO


@compiled
def spread(bits: Any, count: Any, out: Any, first: Any) -> None:
    """Writes the lowest `count` bits as bytes to `out`, from its element `first` on."""
    at = np.uint64(first)  # unsigned: no index is looked at for being negative
    for byte in range(count // 8):
        which = (bits >> np.uint64(8 * byte)) & np.uint64(255)
        for bit in range(8):
            out[at + np.uint64(8 * byte + bit)] = BITS_OF[which, np.uint64(bit)]
    which = (bits >> np.uint64(count // 8 * 8)) & np.uint64(255)
    for bit in range(count % 8):
        out[at + np.uint64(count // 8 * 8 + bit)] = BITS_OF[which, np.uint64(bit)]


@compiled
def legal_actions(state: Any, mask: Any) -> None:
    """Fills int8 `mask[387]` (R4, R11)."""
    if state.seat == NONE or state.phase != PLAY:
        mask[:] = 0
        if state.seat != NONE and state.phase == HOLE:
            spread(BOARD_BITS[state.board_size], CELLS, mask, HOLE_ACTION)
        elif state.seat != NONE:
            mask[TAKE_MORE] = 1
            mask[TAKE_FEWER] = 1
        return
    free = free_cells(state, True)
    across = horizontals(free)
    for row in range(SIZE):
        spread(across >> np.uint64(SIZE * row), SIZE - 1, mask, (SIZE - 1) * row)
    spread(verticals(free), PLACEMENTS - HORIZONTAL, mask, HORIZONTAL)
    for colour in range(NUM_COLOURS - 1, -1, -1):  # the first, which the others copy, last
        left = state.supply[colour] > 0
        for placement in range(PLACEMENTS):
            mask[colour * PLACEMENTS + placement] = mask[placement] if left else 0
    mask[HOLE_ACTION:NUM_ACTIONS] = 0


@compiled
def apply(state: Any, action: Any) -> None:
    """Plays a legal action, and the pass that it forces."""
    state.ply += 1
    if state.phase == HOLE:
        _set_hole(state, action - HOLE_ACTION)
        state.phase = ROLE
        state.seat = 1
    elif state.phase == ROLE:
        state.more = 1 if action == TAKE_MORE else 0
        state.phase = PLAY
        state.seat = state.more
    else:
        _place(state, action)


@compiled
def _place(state: Any, action: Any) -> None:
    _lay(state, action)
    if can_place(state, True):
        state.seat = 1 - state.seat
    elif can_place(state, False):
        state.counter = NONE  # R6: the other player passes, the same player moves again
    else:
        end(state)  # R8


@compiled
def _lay(state: Any, action: Any) -> None:
    """Puts a piece on the board."""
    colour, placement = action // PLACEMENTS, action % PLACEMENTS
    # R9: the piece is a new group that merges the groups of its colour which it touches.
    touched = TOUCHING_BITS[placement] & state.coloured[colour]
    merged = 0
    while touched != _ZERO:
        merged += 1
        touched &= ~component(touched & (~touched + _ONE), state.coloured[colour])
    state.groups += 1 - merged
    state.coloured[colour] |= PLACEMENT_BITS[placement]
    state.occupied |= PLACEMENT_BITS[placement]
    state.supply[colour] -= 1
    state.counter = state.num_pieces
    state.pieces[state.num_pieces] = action
    state.num_pieces += 1


@compiled
def beside(cells: Any) -> Any:
    """The orthogonal neighbours of some cells; those in row 7 are off the board."""
    columns = (cells << np.uint64(SIZE)) | (cells >> np.uint64(SIZE))
    return columns | ((cells & ~LAST_COLUMN) << _ONE) | ((cells & ~FIRST_COLUMN) >> _ONE)


@compiled
def component(start: Any, cells: Any) -> Any:
    """The cells connected with `start` inside `cells`."""
    grown = start
    while True:
        wider = grown | (beside(grown) & cells)
        if wider == grown:
            return grown
        grown = wider


@compiled
def _more_has_won(state: Any) -> Any:
    return state.groups >= state.threshold


@compiled
def end(state: Any) -> None:
    """R10: at least `threshold` groups win for More."""
    state.winners = 1 << (state.more if _more_has_won(state) else 1 - state.more)
    state.seat = NONE


@compiled
def scores(state: Any, out: Any) -> None:
    """More's is 2 (groups - threshold) + 1, Fewer's 0 (R10); 0 without roles."""
    above = 2 * (np.int64(state.groups) - np.int64(state.threshold)) + 1
    for seat in range(2):
        out[seat] = above if seat == state.more else 0


@compiled
def flaw(state: Any, scratch: Any) -> Any:
    """What is wrong with a position, or ""."""
    return _flaw_of_phase(state) or _flaw_of_pieces(state, scratch) or _flaw_of_turn(state)


@compiled
def _flaw_of_phase(state: Any) -> Any:
    """Roles and the hole (R3, R11)."""
    size, hole = np.int64(state.board_size), np.int64(state.hole)
    if state.phase != PLAY and (not state.free_hole or state.num_pieces > 0):
        return "phase: with pieces on the board, or without free_hole, it is play"
    if (state.more == NONE) != (state.phase != PLAY) or (not state.free_hole and state.more != 0):
        return "more: not what the phase and free_hole say"
    if state.free_hole:
        if (hole == NONE) != (state.phase == HOLE):
            return "hole: not what the phase says"
        if hole != NONE and max(hole // SIZE, hole % SIZE) >= size:
            return "hole: off the board"
    elif hole != (SIZE * (size // 2) + size // 2 if size % 2 == 1 else NONE):
        return "hole: not where the board has it"
    return ""


@compiled
def _flaw_of_pieces(state: Any, scratch: Any) -> Any:
    """Lays the pieces again on an empty board."""
    new_game(scratch, state.seed)
    if state.free_hole and state.hole != NONE:
        _set_hole(scratch, state.hole)
    scratch.phase = PLAY
    for index in range(MAX_PIECES):
        piece = np.int64(state.pieces[index])
        if index >= state.num_pieces:
            if piece != 0:
                return "pieces: there are more than num_pieces"
            continue
        bits = PLACEMENT_BITS[piece % PLACEMENTS]
        if bits & ~(BOARD_BITS[state.board_size] & ~scratch.occupied) != _ZERO:
            return "pieces: one is off the board, on another or on the hole"
        if scratch.supply[piece // PLACEMENTS] == 0:
            return "pieces: more of a colour than the supply has"
        _lay(scratch, piece)
    if scratch.occupied != state.occupied or scratch.groups != state.groups:
        return "occupied, groups: not what the pieces say"
    for colour in range(NUM_COLOURS):
        if scratch.coloured[colour] != state.coloured[colour]:
            return "coloured: not what the pieces say"
        if scratch.supply[colour] != state.supply[colour]:
            return "supply: not what the pieces say"
    return ""


@compiled
def _flaw_of_turn(state: Any) -> Any:
    """The counter, and who is to act or has won."""
    last = np.int64(state.num_pieces) - 1
    if state.counter not in (NONE, last):
        return "counter: not on the last piece"
    if state.seat == NONE:
        if state.phase != PLAY or can_place(state, False) or state.counter != last:
            return "seat: nobody is to act, but the game is not over"
        if state.winners != 1 << (state.more if _more_has_won(state) else 1 - state.more):
            return "winners: not what the groups say"
    elif state.phase != PLAY:
        if state.seat != (0 if state.phase == HOLE else 1):
            return "seat: not what the phase says"
    elif not can_place(state, True):
        return "seat: no piece can be placed"
    return ""
