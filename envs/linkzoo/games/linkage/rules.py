"""The rules of Linkage, compiled. Numbers (R1..R12) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import EMPTY, HOLE_ACTION, ONE, PLACEMENTS, SIZE
from linkzoo.games.linkage.state import HOLE, NONE, PLAY, ROLE


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Sets up the board (R1, R2, R3); with `free_hole`, seat 0 places the hole first (R11)."""
    size = state.board_size
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.seat = 0
    state.num_pieces = 0
    state.counter = NONE
    state.groups = 0
    state.occupied = EMPTY
    state.coloured[:] = EMPTY
    state.pieces[:] = 0
    state.hole = NONE
    odd = size % 2 == 1
    state.supply[:] = (size * size - (1 if odd or state.free_hole else 0) + 7) // 8
    state.phase = HOLE if state.free_hole else PLAY
    state.more = NONE if state.free_hole else 0
    if odd and not state.free_hole:
        set_hole(state, SIZE * (size // 2) + size // 2)


@compiled
def set_hole(state: Record, cell: int) -> None:
    """Puts the hole on a cell."""
    state.hole = cell
    state.occupied |= ONE << np.uint64(cell)


@compiled
def free_cells(state: Record, with_counter: bool) -> np.uint64:
    """Returns the cells that a piece may cover: empty and, with the counter, not beside it (R4)."""
    free: np.uint64 = components.BOARD_BITS[state.board_size] & ~state.occupied
    if with_counter and state.counter != NONE:
        free &= ~components.TOUCHING_BITS[state.pieces[state.counter] % PLACEMENTS]
    return free


@compiled
def horizontals(free: np.uint64) -> np.uint64:
    """Returns the left cells of the horizontal placements within `free`."""
    return free & (free >> ONE) & ~components.LAST_COLUMN


@compiled
def verticals(free: np.uint64) -> np.uint64:
    """Returns the upper cells of the vertical placements within `free`."""
    return free & (free >> np.uint64(SIZE))


@compiled
def can_place(state: Record, with_counter: bool) -> bool:
    """Returns whether any placement exists."""
    free = free_cells(state, with_counter)
    return bool(horizontals(free) | verticals(free))


@compiled
def unpack_bits(bits: np.uint64, count: int, out: NDArray[np.int8], first: int) -> None:
    """Writes the lowest `count` bits as bytes to `out`, from its element `first` on."""
    at = np.uint64(first)  # unsigned: no index is looked at for being negative
    for byte in range(count // 8):
        which = (bits >> np.uint64(8 * byte)) & np.uint64(255)
        for bit in range(8):
            out[at + np.uint64(8 * byte + bit)] = components.BITS_OF[which, np.uint64(bit)]
    which = (bits >> np.uint64(count // 8 * 8)) & np.uint64(255)
    for bit in range(count % 8):
        out[at + np.uint64(count // 8 * 8 + bit)] = components.BITS_OF[which, np.uint64(bit)]


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Fills int8 `mask[387]` (R4, R11)."""
    if state.seat == NONE or state.phase != PLAY:
        mask[:] = 0
        if state.seat != NONE and state.phase == HOLE:
            board = components.BOARD_BITS[state.board_size]
            unpack_bits(board, components.CELLS, mask, HOLE_ACTION)
        elif state.seat != NONE:
            mask[components.TAKE_MORE] = 1
            mask[components.TAKE_FEWER] = 1
        return
    free = free_cells(state, True)
    across = horizontals(free)
    for row in range(SIZE):
        unpack_bits(across >> np.uint64(SIZE * row), SIZE - 1, mask, (SIZE - 1) * row)
    unpack_bits(verticals(free), PLACEMENTS - components.HORIZONTAL, mask, components.HORIZONTAL)
    for colour in range(components.NUM_COLOURS - 1, -1, -1):  # last the first: the others copy it
        left = state.supply[colour] > 0
        for placement in range(PLACEMENTS):
            mask[colour * PLACEMENTS + placement] = mask[placement] if left else 0
    mask[HOLE_ACTION : components.NUM_ACTIONS] = 0


@compiled
def apply(state: Record, action: int) -> None:
    """Plays a legal action, and the pass that it forces."""
    state.ply += 1
    if state.phase == HOLE:
        set_hole(state, action - HOLE_ACTION)
        state.phase = ROLE
        state.seat = 1
    elif state.phase == ROLE:
        state.more = 1 if action == components.TAKE_MORE else 0
        state.phase = PLAY
        state.seat = state.more
    else:
        lay_piece(state, action)
        if can_place(state, True):
            state.seat = 1 - state.seat
        elif can_place(state, False):
            state.counter = NONE  # R6: the other player passes, the same player moves again
        else:
            end(state)  # R8


@compiled
def lay_piece(state: Record, action: int) -> None:
    """Puts a piece on the board."""
    colour, placement = action // PLACEMENTS, action % PLACEMENTS
    # R9: the piece is a new group that merges the groups of its colour which it touches.
    touched = components.TOUCHING_BITS[placement] & state.coloured[colour]
    merged = 0
    while touched != EMPTY:
        merged += 1
        touched &= ~component(touched & (~touched + ONE), state.coloured[colour])
    state.groups += 1 - merged
    state.coloured[colour] |= components.PLACEMENT_BITS[placement]
    state.occupied |= components.PLACEMENT_BITS[placement]
    state.supply[colour] -= 1
    state.counter = state.num_pieces
    state.pieces[state.num_pieces] = action
    state.num_pieces += 1


@compiled
def beside(cells: np.uint64) -> np.uint64:
    """Returns the orthogonal neighbours of some cells; those in row 7 are off the board."""
    left, right = cells & ~components.FIRST_COLUMN, cells & ~components.LAST_COLUMN
    return (cells << np.uint64(SIZE)) | (cells >> np.uint64(SIZE)) | (left >> ONE) | (right << ONE)


@compiled
def component(start: np.uint64, cells: np.uint64) -> np.uint64:
    """Returns the cells connected with `start` inside `cells`."""
    grown = start
    while True:
        wider = grown | (beside(grown) & cells)
        if wider == grown:
            return grown
        grown = wider


@compiled
def winner_of(state: Record) -> int:
    """Returns the seat that wins with these groups: More with at least `threshold` (R10)."""
    more: int = state.more
    return more if state.groups >= state.threshold else 1 - more


@compiled
def end(state: Record) -> None:
    """Ends the game (R8, R10)."""
    state.winners = 1 << winner_of(state)
    state.seat = NONE


@compiled
def scores(state: Record, out: NDArray[np.float32]) -> None:
    """Fills the scores: More's is 2 (groups - threshold) + 1, Fewer's 0 (R10); 0 without roles."""
    above = 2 * (np.int64(state.groups) - np.int64(state.threshold)) + 1
    for seat in range(2):
        out[seat] = above if seat == state.more else 0
