"""The compiled rules of Linkage. R1 to R12 refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import BOARD, EMPTY, HOLE_ACTION, ONE, PLACEMENTS, SIZE
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
    cells = size * size
    if odd or state.free_hole:
        cells -= 1  # the hole
    state.supply[:] = (cells + 7) // 8  # of each colour
    if state.free_hole:
        state.phase = HOLE
        state.more = NONE
    else:
        state.phase = PLAY
        state.more = 0
        if odd:
            set_hole(state, SIZE * (size // 2) + size // 2)


@compiled
def set_hole(state: Record, cell: int) -> None:
    """Puts the hole on a cell."""
    state.hole = cell
    state.occupied |= ONE << np.uint64(cell)


@compiled
def free_cells(state: Record, with_counter: bool) -> np.uint64:
    """Returns the cells that a piece may cover: empty and, with the counter, not beside it (R4)."""
    free: np.uint64 = BOARD.of_size[state.board_size] & ~state.occupied
    if with_counter and state.counter != NONE:
        free &= ~BOARD.touching[state.pieces[state.counter] % PLACEMENTS]
    return free


@compiled
def horizontals(free: np.uint64) -> np.uint64:
    """Returns the left cells of the horizontal placements within `free`."""
    return free & (free >> ONE) & ~BOARD.last_column


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
    start = np.uint64(first)  # unsigned: Numba then doesn't check for negative indices
    for number in range(count // 8):
        byte = (bits >> np.uint64(8 * number)) & np.uint64(255)
        for bit in range(8):
            out[start + np.uint64(8 * number + bit)] = BOARD.bits_of[byte, np.uint64(bit)]
    byte = (bits >> np.uint64(count // 8 * 8)) & np.uint64(255)
    for bit in range(count % 8):
        out[start + np.uint64(count // 8 * 8 + bit)] = BOARD.bits_of[byte, np.uint64(bit)]


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Fills int8 `mask[387]` (R4, R11)."""
    if state.seat == NONE or state.phase != PLAY:
        mask[:] = 0
        if state.seat == NONE:
            return
        if state.phase == HOLE:
            unpack_bits(BOARD.of_size[state.board_size], components.CELLS, mask, HOLE_ACTION)
        else:
            mask[components.TAKE_MORE] = 1
            mask[components.TAKE_FEWER] = 1
        return
    free = free_cells(state, True)
    across = horizontals(free)
    for row in range(SIZE):
        unpack_bits(across >> np.uint64(SIZE * row), SIZE - 1, mask, (SIZE - 1) * row)
    unpack_bits(verticals(free), PLACEMENTS - components.HORIZONTAL, mask, components.HORIZONTAL)
    for colour in range(components.NUM_COLOURS - 1, -1, -1):  # 0 last: the others copy its part
        available = state.supply[colour] > 0
        for placement in range(PLACEMENTS):
            mask[colour * PLACEMENTS + placement] = mask[placement] if available else 0
    mask[HOLE_ACTION : components.NUM_ACTIONS] = 0


@compiled
def apply(state: Record, action: int) -> None:
    """Plays a legal action, and the pass that it may force."""
    state.ply += 1
    if state.phase == HOLE:
        set_hole(state, action - HOLE_ACTION)
        state.phase = ROLE
        state.seat = 1
    elif state.phase == ROLE:
        state.more = action == components.TAKE_MORE  # seat 1 chooses
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
    colour = action // PLACEMENTS
    placement = action % PLACEMENTS
    # R9: the piece is a new group, merged with all groups of its colour that it touches.
    touched = BOARD.touching[placement] & state.coloured[colour]
    merged = 0
    while touched != EMPTY:
        merged += 1
        touched &= ~component(touched & (~touched + ONE), state.coloured[colour])
    state.groups += 1 - merged
    state.coloured[colour] |= BOARD.covered[placement]
    state.occupied |= BOARD.covered[placement]
    state.supply[colour] -= 1
    state.counter = state.num_pieces
    state.pieces[state.num_pieces] = action
    state.num_pieces += 1


@compiled
def beside(cells: np.uint64) -> np.uint64:
    """Returns the orthogonal neighbours of some cells; neighbours in row 7 are off the board."""
    above = cells >> np.uint64(SIZE)
    below = cells << np.uint64(SIZE)
    left = (cells & ~BOARD.first_column) >> ONE
    right = (cells & ~BOARD.last_column) << ONE
    return above | below | left | right


@compiled
def component(start: np.uint64, cells: np.uint64) -> np.uint64:
    """Returns the cells connected with `start` inside `cells`."""
    connected = start
    while True:
        extended = connected | (beside(connected) & cells)
        if extended == connected:
            return connected
        connected = extended


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
    out[:] = 0
    if state.more != NONE:
        out[state.more] = 2 * (np.int64(state.groups) - np.int64(state.threshold)) + 1
