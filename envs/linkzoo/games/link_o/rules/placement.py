"""Where tiles lie and fit. Numbers (R1..R23) refer to RULES.md."""

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

Opening = tuple[np.uint64, np.uint64, np.uint64, np.uint64, np.uint64]  # of `open_in`


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
    """Lays a tile on an empty space where it fits; connectors take their values (R14)."""
    state.code[space] = code
    state.owner[space] = seat
    state.occupied |= bit(space)
    near = bit(BOARD.prev[space]) | bit(BOARD.next[space])
    if BOARD.partner[space] != NONE:
        near |= bit(BOARD.partner[space])
        if code != WILD:  # R14: a double has its value
            _give_value(state, space, components.LEFT_END[code])
        else:  # R14: a LINK-O takes the value that it meets, if it does
            for value in range(VALUES):
                if spaces_meeting(state, value) & bit(space):
                    _give_value(state, space, value)
    elif code != WILD:  # R15: a LINK-O on a regular space shows nothing
        _show(state, RIGHT, BOARD.prev[space], components.LEFT_END[code])
        _show(state, LEFT, BOARD.next[space], components.RIGHT_END[code])
    state.adjacent |= near


@compiled
def _show(state: Record, side: int, space: int, value: int) -> None:
    """A space is shown a value on a side; a LINK-O without one there absorbs it (R14 ii)."""
    state.shows[side, value] |= bit(space)
    if BOARD.partner[space] != NONE and _is_open(state, space):
        _give_value(state, space, value)


@compiled
def _is_open(state: Record, connector: int) -> bool:
    """Whether a LINK-O lies on a connector that has no value yet."""
    return bool(state.code[connector] == WILD and state.value[connector] == NONE)


@compiled
def _give_value(state: Record, connector: int, value: int) -> None:
    """R11: a connector shows its value on three sides; R14 i, iii: its partner shares it."""
    partner = BOARD.partner[connector]
    shared = _is_open(state, partner)
    _set_value(state, connector, value)
    if shared:
        _set_value(state, partner, value)


@compiled
def _set_value(state: Record, connector: int, value: int) -> None:
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
    """Returns where tiles may lie now, on a first turn or later, as the five sets of `open_in`."""
    empty = BOARD.spaces & ~state.occupied
    near = empty & state.adjacent  # R10
    joints = near
    if not state.occupied or (first and state.open_connectors == ANY_MATCHING_COLOR):
        joints = empty  # R5, R6 a
    return open_in(state, near, joints)


@compiled
def open_in(state: Record, near: np.uint64, joints: np.uint64) -> Opening:
    """Returns what tiles meet on the regular spaces of `near` and the connectors of `joints`.

    All of them are empty. Returns five sets: those regular spaces; those connectors, if they take a
    LINK-O; and the spaces that are shown nothing from the left, from the right, from anywhere.
    """
    left, right, some, several = EMPTY, EMPTY, EMPTY, EMPTY
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
    left, right = components.LEFT_END[code], components.RIGHT_END[code]
    spaces: np.uint64 = regular & (left_free | state.shows[LEFT, left])  # R11
    spaces &= right_free | state.shows[RIGHT, right]
    if left == right:
        spaces |= joints & (free | spaces_meeting(state, left))  # R12
    return spaces


@compiled
def fitting_kind(state: Record, opening: Opening, kind: int) -> np.uint64:
    """Returns the spaces, of any colour, where a kind of tile fits in either direction."""
    straight, turned = components.STRAIGHT[kind], components.TURNED[kind]
    spaces = fitting(state, opening, straight)
    if turned != straight:
        spaces |= fitting(state, opening, turned)
    return spaces


@compiled
def placeable(state: Record, first: int) -> np.uint64:
    """Returns the types that can be placed somewhere, on a first turn (R6) or later (R9..R15)."""
    opening = openings(state, first)
    types = EMPTY
    for kind in range(KINDS):
        spaces = fitting_kind(state, opening, kind)
        for colour in range(CIRCLES):
            if spaces & BOARD.circles[colour]:
                types |= bit(KINDS * colour + kind)
    return types & OPENERS if first else types
