"""LINK-O: the record, and where tiles lie and fit. Numbers (R1..R23) refer to RULES.md.

A hand is a set of types in a word, and a second word for the types held twice. On the board, words
say for every space at once what its neighbours show: `shows[side, value]` has a bit for each space
whose neighbour on that side shows the value. They are functions of what lies there, and bits are
only ever added in a round.

The functions are plain: `linkzoo.games.link_o.game_with` compiles them for a board (`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.core.game import Field, record_dtype
from linkzoo.games.link_o.board import CIRCLES, MAX_SPACES
from linkzoo.games.link_o.options import (
    ADJACENT_ONLY,
    ANY_MATCHING_COLOR,
    LEFT_OF_PREVIOUS_STARTER,
    MAX_BONUS,
    MAX_ROUNDS,
    MAX_TARGET,
    NO_SCORE,
    ONE,
    RANDOM,
    SPLIT,
    UNTIL_PLAYABLE,
)
from linkzoo.games.link_o.pieces import (
    HAND,
    KINDS,
    LEFT_END,
    MAX_PLAYERS,
    NONE,
    OPENERS,
    POINTS,
    RIGHT_END,
    STRAIGHT,
    TILES,
    TURNED,
    TYPES,
    VALUES,
    WILD,
    Layout,
)

LEFT, RIGHT, PARTNER = 0, 1, 2  # sides of a space: towards prev, next and partner
BAG = TILES - 2 * HAND  # tiles in the bag after the deal, at most

MAX_SCORE = 2**30

FIELDS = (
    # The options.
    Field("digest", "u8"),  # of the board
    Field("target", "i2", (), 0, MAX_TARGET),
    Field("circle_bonus", "i1", (), 0, MAX_BONUS),
    Field("open_connectors", "i1", (), ANY_MATCHING_COLOR, ADJACENT_ONLY),
    Field("dig", "i1", (), UNTIL_PLAYABLE, ONE),
    Field("next_starter", "i1", (), LEFT_OF_PREVIOUS_STARTER, RANDOM),
    Field("blocked_tie", "i1", (), NO_SCORE, SPLIT),
    Field("max_rounds", "i1", (), 1, MAX_ROUNDS),
    Field("redeal_inference", "i1", (), 0, 1),
    # The match.
    Field("scores", "i4", (MAX_PLAYERS,), 0, MAX_SCORE),
    Field("round_number", "i1", (), 1, MAX_ROUNDS),
    Field("starter", "i1", (), 0, MAX_PLAYERS - 1),  # of the round
    Field("last_how", "i1", (), 0, 2),  # how the round before ended: NOT_YET, OUT, BLOCKED
    Field("last_winner", "i1", (), NONE, MAX_PLAYERS - 1),  # NONE without one
    Field("last_points", "i2", (), 0),
    # Hands, by seat, and the bag.
    Field("held", "u8", (MAX_PLAYERS,)),  # types
    Field("twice", "u8", (MAX_PLAYERS,)),  # types held twice: LINK-Os
    Field("hand_size", "i1", (MAX_PLAYERS,), 0, HAND + BAG),
    Field("bag", "i1", (TILES,), NONE, TYPES - 1),  # drawn from its end; NONE where drawn
    Field("bag_size", "i1", (), 0, BAG),
    # What all know of each seat.
    Field("first_turn", "i1", (MAX_PLAYERS,), 0, 1),  # still to come (R6)
    Field("dug", "i1", (MAX_PLAYERS,), 0, BAG),  # tiles, in its latest turn
    Field("passed", "i1", (MAX_PLAYERS,), 0, 1),  # its latest turn
    # Types that it certainly doesn't hold; while it is to act, but for the tile that it dug last.
    Field("lacks", "u8", (MAX_PLAYERS,)),
    # The board, by space.
    Field("code", "i1", (MAX_SPACES,), NONE, WILD),  # of the tile, or NONE
    # That a connector holds, or NONE (R14).
    Field("value", "i1", (MAX_SPACES,), NONE, VALUES - 1),
    # The seat that placed the tile, or NONE.
    Field("owner", "i1", (MAX_SPACES,), NONE, MAX_PLAYERS - 1),
    # Sets of spaces.
    Field("occupied", "u8"),
    Field("adjacent", "u8"),  # to an occupied one (R10)
    Field("shows", "u8", (3, VALUES)),
)
STATE = record_dtype(FIELDS)

# What `bind` gives the board for.
BOARD: Layout

_ONE = np.uint64(1)
_ZERO = np.uint64(0)

# The number of the only bit of a word, by the word's remainder modulo 67, which differs for all.
_NUMBER = np.zeros(67, np.int64)
_NUMBER[[2**bit % 67 for bit in range(64)]] = np.arange(64)
_SIXTY_SEVEN = np.uint64(67)


# Words


def bit(number: Any) -> Any:
    """The set of one number."""
    return _ONE << np.uint64(number)


def first_in(word: Any) -> Any:
    """The lowest number of a set that isn't empty."""
    return _NUMBER[(word & (~word + _ONE)) % _SIXTY_SEVEN]


def size_of(word: Any) -> Any:
    """How many numbers a set has."""
    count: Any = 0
    while word != _ZERO:
        word &= word - _ONE
        count += 1
    return count


# Hands and the bag


def put_in_hand(state: Any, seat: Any, tile: Any) -> None:
    """Adds a tile."""
    state.twice[seat] |= state.held[seat] & bit(tile)
    state.held[seat] |= bit(tile)
    state.hand_size[seat] += 1


def take_from_hand(state: Any, seat: Any, tile: Any) -> None:
    """Removes a tile that the seat holds."""
    if state.twice[seat] & bit(tile) != _ZERO:
        state.twice[seat] &= ~bit(tile)
    else:
        state.held[seat] &= ~bit(tile)
    state.hand_size[seat] -= 1


def hand_points(state: Any, seat: Any) -> Any:
    """R17: the sum of a hand."""
    points: Any = 0
    for tiles in (state.held[seat], state.twice[seat]):
        left = tiles
        while left != _ZERO:
            points += POINTS[first_in(left) % KINDS]
            left &= left - _ONE
    return points


def draw(state: Any) -> Any:
    """The next tile of the bag, which isn't empty."""
    state.bag_size -= 1
    tile = np.int64(state.bag[state.bag_size])
    state.bag[state.bag_size] = NONE
    return tile


def hidden_from(state: Any, seat: Any) -> Any:
    """The types of tiles that a seat can't see, in other hands and the bag; and those of two."""
    once, twice = _ZERO, _ZERO
    for other in range(state.num_players):
        if other != seat:
            twice |= state.twice[other] | (once & state.held[other])
            once |= state.held[other]
    for place in range(state.bag_size):
        tile = bit(state.bag[place])
        twice |= once & tile
        once |= tile
    return once, twice


# The board


def clear_board(state: Any) -> None:
    """No tile on the board."""
    state.code[:] = NONE
    state.value[:] = NONE
    state.owner[:] = NONE
    state.occupied = _ZERO
    state.adjacent = _ZERO
    state.shows[:] = 0


def place(state: Any, space: Any, code: Any, seat: Any) -> None:
    """Lays a tile on an empty space where it fits; connectors take their values (R14)."""
    state.code[space] = code
    state.owner[space] = seat
    state.occupied |= bit(space)
    state.adjacent |= bit(BOARD.prev[space]) | bit(BOARD.next[space])
    if BOARD.partner[space] != NONE:
        state.adjacent |= bit(BOARD.partner[space])
        _settle_connector(state, space, code)
    elif code != WILD:  # R15: a LINK-O on a regular space shows nothing
        _show(state, RIGHT, BOARD.prev[space], LEFT_END[code])
        _show(state, LEFT, BOARD.next[space], RIGHT_END[code])


def _settle_connector(state: Any, space: Any, code: Any) -> None:
    """R14: a double has its value; a LINK-O takes the one that it meets, if it does."""
    if code != WILD:
        _give_value(state, space, LEFT_END[code])
        return
    for value in range(VALUES):
        if _met(state, value) & bit(space) != _ZERO:
            _give_value(state, space, value)


def _show(state: Any, side: Any, space: Any, value: Any) -> None:
    """A space is shown a value on a side; a LINK-O without one there absorbs it (R14 ii)."""
    state.shows[side, value] |= bit(space)
    if BOARD.partner[space] != NONE and _is_open(state, space):
        _give_value(state, space, value)


def _is_open(state: Any, connector: Any) -> Any:
    """Whether a LINK-O lies on a connector that has no value yet."""
    return state.code[connector] == WILD and state.value[connector] == NONE


def _give_value(state: Any, connector: Any, value: Any) -> None:
    """R11: a connector shows its value on three sides; R14 i, iii: its partner shares it."""
    partner = BOARD.partner[connector]
    shared = _is_open(state, partner)
    _set_value(state, connector, value)
    if shared:
        _set_value(state, partner, value)


def _set_value(state: Any, connector: Any, value: Any) -> None:
    state.value[connector] = value
    state.shows[RIGHT, value] |= bit(BOARD.prev[connector])
    state.shows[LEFT, value] |= bit(BOARD.next[connector])
    state.shows[PARTNER, value] |= bit(BOARD.partner[connector])


def _met(state: Any, value: Any) -> Any:
    """R12: the spaces whose constraint set has a value."""
    return state.shows[LEFT, value] | state.shows[RIGHT, value] | state.shows[PARTNER, value]


def openings(state: Any, first: Any) -> Any:
    """Where tiles may lie now, on a first turn or later, in the five sets of `open_in`."""
    empty = BOARD.spaces & ~state.occupied
    near = empty & state.adjacent  # R10
    joints = near
    if state.occupied == _ZERO or (first and state.open_connectors == ANY_MATCHING_COLOR):
        joints = empty  # R5, R6 a
    return open_in(state, near, joints)


def open_in(state: Any, near: Any, joints: Any) -> Any:
    """What tiles meet on the regular spaces of `near` and the connectors of `joints`, all empty.

    Five sets: those regular spaces; those connectors, if they take a LINK-O; and the spaces that
    are shown nothing from the left, from the right, from anywhere.
    """
    some, several = _ZERO, _ZERO
    for value in range(VALUES):
        met = _met(state, value)
        several |= some & met
        some |= met
    return (
        near & ~BOARD.connectors,
        joints & BOARD.connectors & ~several,  # R12: blocked where two values meet
        ~_shown_any(state, LEFT),
        ~_shown_any(state, RIGHT),
        ~some,
    )


def fitting(state: Any, opening: Any, code: Any) -> Any:
    """The spaces, of any colour, where a tile fits as `code` lays it."""
    regular, joints, left_free, right_free, free = opening
    if code == WILD:
        return regular | joints  # R12, R15
    left, right = LEFT_END[code], RIGHT_END[code]
    spaces = regular & (left_free | state.shows[LEFT, left])  # R11
    spaces &= right_free | state.shows[RIGHT, right]
    if left == right:
        spaces |= joints & (free | _met(state, left))  # R12
    return spaces


def fits(state: Any, space: Any, code: Any) -> Any:
    """Whether a tile fits on an empty space, be it adjacent to another or not (R11, R12)."""
    empty = BOARD.spaces & ~state.occupied
    return fitting(state, open_in(state, empty, empty), code) & bit(space) != _ZERO


def placeable(state: Any, first: Any) -> Any:
    """The types that can be placed somewhere, on a first turn (R6) or later (R9..R15)."""
    opening = openings(state, first)
    types = _ZERO
    for kind in range(KINDS):
        spaces = fitting(state, opening, STRAIGHT[kind])
        if TURNED[kind] != STRAIGHT[kind]:
            spaces |= fitting(state, opening, TURNED[kind])
        for colour in range(CIRCLES):
            if spaces & BOARD.circles[colour] != _ZERO:
                types |= bit(KINDS * colour + kind)
    return types & OPENERS if first else types


def _shown_any(state: Any, side: Any) -> Any:
    """The spaces that are shown a value on a side."""
    spaces = _ZERO
    for value in range(VALUES):
        spaces |= state.shows[side, value]
    return spaces


def lacking(state: Any, seat: Any) -> Any:
    """The types that a seat certainly doesn't hold.

    A seat that has dug and is to act holds one of those that it can place: nobody knows which.
    """
    if seat == state.seat and state.dug[seat] > 0:
        return state.lacks[seat] & ~placeable(state, state.first_turn[seat])
    return state.lacks[seat]
