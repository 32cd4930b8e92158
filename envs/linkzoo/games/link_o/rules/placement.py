"""The placement of tiles, and the spaces where they fit. R1 to R23 refer to RULES.md."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o import components
from linkzoo.games.link_o.board import CIRCLES
from linkzoo.games.link_o.components import EMPTY, KINDS, NONE, OPENERS, VALUES, WILD
from linkzoo.games.link_o.options import ANY_MATCHING_COLOR
from linkzoo.games.link_o.rules.tiles import bit
from linkzoo.games.link_o.state import LEFT, PARTNER, RIGHT
from linkzoo.games.link_o.tables import BOARD

Opening = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]  # see `open_in`


@compiled
def clear_board(state: Record) -> None:
    """Removes all tiles from the board."""
    state.code[:] = NONE
    state.value[:] = NONE
    state.owner[:] = NONE
    state.occupied = 0
    state.adjacent = 0
    state.shows[:] = 0


@compiled
def place(state: Record, space: int, code: int, seat: int) -> None:
    """Puts a tile on an empty space where it fits; connectors get their values (R14)."""
    state.code[space] = code
    state.owner[space] = seat
    state.occupied |= bit(space)
    near = bit(BOARD.prev[space]) | bit(BOARD.next[space])
    if BOARD.partner[space] != NONE:
        near |= bit(BOARD.partner[space])
        if code != WILD:  # R14: a double has its value
            _give_value(state, space, components.LEFT_END[code])
        else:  # R14: a LINK-O gets the value that it meets, if any
            for value in range(VALUES):
                if spaces_meeting(state, value) & bit(space):
                    _give_value(state, space, value)
    elif code != WILD:  # R15: a LINK-O on a regular space shows nothing
        _show(state, RIGHT, BOARD.prev[space], components.LEFT_END[code])
        _show(state, LEFT, BOARD.next[space], components.RIGHT_END[code])
    state.adjacent |= near


@compiled
def _show(state: Record, side: int, space: int, value: int) -> None:
    """Shows a space a value on one side; a LINK-O there that has none absorbs it (R14 ii)."""
    state.shows[side, value] |= bit(space)
    if BOARD.partner[space] != NONE and _is_open(state, space):
        _give_value(state, space, value)


@compiled
def _is_open(state: Record, connector: int) -> bool:
    """Whether a LINK-O lies on a connector that has no value yet."""
    return bool(state.code[connector] == WILD and state.value[connector] == NONE)


@compiled
def _give_value(state: Record, connector: int, value: int) -> None:
    """Gives a connector a value, and its partner if that is open (R14 i, iii)."""
    partner = BOARD.partner[connector]
    shared = _is_open(state, partner)
    _set_value(state, connector, value)
    if shared:
        _set_value(state, partner, value)


@compiled
def _set_value(state: Record, connector: int, value: int) -> None:
    """Sets the value that a connector shows on three sides (R11)."""
    state.value[connector] = value
    state.shows[RIGHT, value] |= bit(BOARD.prev[connector])
    state.shows[LEFT, value] |= bit(BOARD.next[connector])
    state.shows[PARTNER, value] |= bit(BOARD.partner[connector])


@compiled
def spaces_meeting(state: Record, value: int) -> np.uint64:
    """Returns the spaces whose constraint set has a value (R12)."""
    shows = state.shows
    return np.uint64(shows[LEFT, value] | shows[RIGHT, value] | shows[PARTNER, value])


@compiled
def openings(state: Record, first: int) -> Opening:
    """Returns `open_in` of the spaces where the seat to act may place: on a first turn or later."""
    empty = BOARD.spaces & ~state.occupied
    near = empty & state.adjacent  # R10
    joints = near
    if not state.occupied or (first and state.open_connectors == ANY_MATCHING_COLOR):
        joints = empty  # R5, R6 a
    return open_in(state, near, joints)


@compiled
def open_in(state: Record, near: np.uint64, joints: np.uint64) -> Opening:
    """Returns the constraints on tiles in empty spaces, as sets of spaces.

    Args:
        state: The record.
        near: Empty spaces; only the regular spaces among them count.
        joints: Empty spaces; only the connectors among them count.

    Returns:
        The regular spaces of `near`; the connectors of `joints` that take a LINK-O; and all spaces
        that are shown no value from the left, from the right, from any side.
    """
    left = EMPTY
    right = EMPTY
    some = EMPTY
    several = EMPTY
    for value in range(VALUES):
        left |= state.shows[LEFT, value]
        right |= state.shows[RIGHT, value]
        met = spaces_meeting(state, value)
        several |= some & met
        some |= met
    regular = near & ~BOARD.connectors
    connectors = joints & BOARD.connectors & ~several  # R12: blocked where two values meet
    return regular, connectors, ~left, ~right, ~some


@compiled
def fitting(state: Record, opening: Opening, code: int) -> np.uint64:
    """Returns the spaces, of any colour, where a tile fits as `code` lays it."""
    regular, joints, left_free, right_free, free = opening
    if code == WILD:
        return regular | joints  # R12, R15
    left = components.LEFT_END[code]
    right = components.RIGHT_END[code]
    spaces: np.uint64 = regular & (left_free | state.shows[LEFT, left])  # R11
    spaces &= right_free | state.shows[RIGHT, right]
    if left == right:
        spaces |= joints & (free | spaces_meeting(state, left))  # R12
    return spaces


@compiled
def fitting_kind(state: Record, opening: Opening, kind: int) -> np.uint64:
    """Returns the spaces, of any colour, where a kind of tile fits in either direction."""
    straight = components.STRAIGHT[kind]
    turned = components.TURNED[kind]
    spaces = fitting(state, opening, straight)
    if turned != straight:
        spaces |= fitting(state, opening, turned)
    return spaces


@compiled
def placeable(state: Record, first: int) -> np.uint64:
    """Returns the types that can be placed somewhere, on a first turn (R6) or later (R9 to R15)."""
    opening = openings(state, first)
    types = EMPTY
    for kind in range(KINDS):
        spaces = fitting_kind(state, opening, kind)
        for colour in range(CIRCLES):
            if spaces & BOARD.circles[colour]:
                types |= bit(KINDS * colour + kind)
    types &= BOARD.types
    if first:
        types &= OPENERS
    return types
