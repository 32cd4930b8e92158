"""The validation of a position of Linkage, compiled."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import PLACEMENTS, SIZE
from linkzoo.games.linkage.rules import can_place, lay_piece, new_game, set_hole, winner_of
from linkzoo.games.linkage.state import HOLE, NONE, PLAY


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns what is wrong with a position, or ""."""
    new_game(scratch, state.seed)
    return (
        _check_phase(state, scratch)
        or _check_pieces(state, scratch)
        or _check_sums(state, scratch)
        or _check_turn(state)
    )


@compiled
def _check_phase(state: Record, new: Record) -> str:
    """Checks the roles and the hole (R3, R11)."""
    if state.phase != PLAY and (not state.free_hole or state.num_pieces > 0):
        return "phase: with pieces on the board, or without free_hole, it is play"
    if (state.more == NONE) != (state.phase != PLAY) or (not state.free_hole and state.more != 0):
        return "more: not what the phase and free_hole say"
    if state.free_hole:
        if (state.hole == NONE) != (state.phase == HOLE):
            return "hole: it is on the board if and only if the phase isn't hole"
        if state.hole != NONE and max(state.hole // SIZE, state.hole % SIZE) >= state.board_size:
            return "hole: off the board"
    elif state.hole != new.hole:
        return "hole: not where the board has it"
    return ""


@compiled
def _check_pieces(state: Record, scratch: Record) -> str:
    """Lays the pieces again on an empty board."""
    if state.free_hole and state.hole != NONE:
        set_hole(scratch, state.hole)
    scratch.phase = PLAY
    for index in range(components.MAX_PIECES):
        piece = np.int64(state.pieces[index])
        if index >= state.num_pieces:
            if piece != 0:
                return "pieces: there are more than num_pieces"
            continue
        bits = components.PLACEMENT_BITS[piece % PLACEMENTS]
        if bits & ~(components.BOARD_BITS[state.board_size] & ~scratch.occupied) != 0:
            return "pieces: one is off the board, on another or on the hole"
        if scratch.supply[piece // PLACEMENTS] == 0:
            return "pieces: more of a colour than the supply has"
        lay_piece(scratch, piece)  # type: ignore[arg-type]  # int64
    return ""


@compiled
def _check_sums(state: Record, laid: Record) -> str:
    """Compares with the position that laying the pieces has given."""
    if laid.occupied != state.occupied or laid.groups != state.groups:
        return "occupied, groups: not what the pieces say"
    if (laid.coloured != state.coloured).any():
        return "coloured: not what the pieces say"
    return "supply: not what the pieces say" if (laid.supply != state.supply).any() else ""


@compiled
def _check_turn(state: Record) -> str:
    """Checks the counter, and who is to act or has won."""
    last = np.int64(state.num_pieces) - 1
    if state.counter != last and (state.counter != NONE or state.seat == NONE):
        return "counter: not on the last piece"
    if state.seat == NONE:
        if state.phase != PLAY or can_place(state, False):
            return "seat: nobody is to act, but the game is not over"
        if state.winners != 1 << winner_of(state):
            return "winners: not what the groups say"
    elif state.phase != PLAY:
        if state.seat != (0 if state.phase == HOLE else 1):
            return "seat: not what the phase says"
    elif not can_place(state, True):
        return "seat: no piece can be placed"
    return ""
