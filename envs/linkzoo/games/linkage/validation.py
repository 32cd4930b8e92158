"""Validation of positions of Linkage, compiled. R1 to R12 refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import BOARD, PLACEMENTS, SIZE
from linkzoo.games.linkage.rules import can_place, lay_piece, new_game, set_hole, winner_of
from linkzoo.games.linkage.state import HOLE, NONE, PLAY, ROLE


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns the error of a position, or ""."""
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
        return "more: doesn't match the phase and free_hole"
    if state.free_hole:
        if (state.hole == NONE) != (state.phase == HOLE):
            return "hole: it is on the board if and only if the phase isn't hole"
        if state.hole != NONE and max(state.hole // SIZE, state.hole % SIZE) >= state.board_size:
            return "hole: off the board"
    elif state.hole != new.hole:
        return "board (hole): not where the rules place the hole"
    return ""


@compiled
def _check_pieces(state: Record, scratch: Record) -> str:
    """Places the pieces anew on an empty board."""
    if state.free_hole and state.hole != NONE:
        set_hole(scratch, state.hole)
    scratch.phase = PLAY
    for index in range(components.MAX_PIECES):
        piece = np.int64(state.pieces[index])
        if index >= state.num_pieces:
            if piece != 0:
                return "pieces: there are more than num_pieces"
            continue
        cells = BOARD.covered[piece % PLACEMENTS]
        if cells & ~(BOARD.of_size[state.board_size] & ~scratch.occupied) != 0:
            return "pieces: a piece is off the board, on another piece or on the hole"
        if scratch.supply[piece // PLACEMENTS] == 0:
            return "pieces: more of a colour than the supply has"
        lay_piece(scratch, piece)  # type: ignore[arg-type]  # int64
    return ""


@compiled
def _check_sums(state: Record, laid: Record) -> str:
    """Compares derived fields with the record `laid`, on which the pieces were placed anew."""
    if laid.occupied != state.occupied or laid.groups != state.groups:
        return "occupied, groups: don't match the pieces"
    if (laid.coloured != state.coloured).any():
        return "coloured: doesn't match the pieces"
    if (laid.supply != state.supply).any():
        return "supply: doesn't match the pieces"
    return ""


@compiled
def _check_turn(state: Record) -> str:
    """Checks the counter, the seat to act and the winner."""
    last = np.int64(state.num_pieces) - 1
    if state.counter != last and (state.counter != NONE or state.seat == NONE):
        return "counter: not on the last piece"
    if state.seat == NONE:
        if state.phase != PLAY or can_place(state, False):
            return "seat: nobody is to act, but the game is not over"
        if state.winners != 1 << winner_of(state):
            return "winners: doesn't match the groups"
    elif (state.phase == HOLE and state.seat != 0) or (state.phase == ROLE and state.seat != 1):
        return "seat: doesn't match the phase"
    elif state.phase == PLAY and not can_place(state, True):
        return "seat: no piece can be placed"
    return ""
