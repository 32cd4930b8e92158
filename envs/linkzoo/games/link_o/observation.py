"""The observation of a seat of LINK-O, and what is hidden: other hands, the bag's order (R2)."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart as Part
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o import components
from linkzoo.games.link_o.components import BOARD, MAX_PLAYERS, NONE, ONE, TYPES, VALUES
from linkzoo.games.link_o.options import MAX_ROUNDS
from linkzoo.games.link_o.rules.placement import spaces_meeting
from linkzoo.games.link_o.rules.tiles import bit, first_in, hidden_from
from linkzoo.games.link_o.state import BAG, LEFT, RIGHT

_MAX_SHOWN = 9999  # points
_SEATS = (MAX_PLAYERS,)


def make_spec(board: components.BoardTables) -> ObservationSpec:
    """Returns the layout of what a seat observes on a board."""
    spaces, by_value, connectors = (board.size,), (VALUES, board.size), len(board.connector)
    points = f"points, hundreds and rest; {_MAX_SHOWN} is or more"
    parts = (
        Part("hand", (TYPES,), 0, 2, "tiles of each type in the own hand"),
        Part("unseen", (TYPES,), 0, 2, "tiles of each type in the other hands and the bag"),
        Part("occupied", spaces, 0, 1, "1 where a tile lies"),
        Part("linko", spaces, 0, 1, "1 where a LINK-O lies"),
        Part("left_shows", by_value, 0, 1, "1 where the left neighbour shows a value (R11)"),
        Part("right_shows", by_value, 0, 1, "1 where the right neighbour shows a value"),
        Part("placed_by", spaces, 0, MAX_PLAYERS, "1 placed by the observer, 2 by the next seat"),
        Part("constraint", (VALUES, connectors), 0, 1, "1 for values that a connector meets (R12)"),
        Part("blocked", (connectors,), 0, 1, "1 if a connector meets two values (R12)"),
        Part("hand_size", _SEATS, 0, components.HAND + BAG, "tiles in each hand"),
        Part("bag_size", (1,), 0, BAG, "tiles in the bag"),
        Part("scores", (MAX_PLAYERS, 2), 0, 99, points),
        Part("target", (2,), 0, 99, "points that win (R20), hundreds and rest"),
        Part("first_turn", _SEATS, 0, 1, "1 while a first turn is to come (R6)"),
        Part("starter", _SEATS, 0, 1, "1 for the seat that started the round"),
        Part("to_act", _SEATS, 0, 1, "1 for the seat to act"),
        Part("round", (1,), 1, MAX_ROUNDS, "number of the round"),
        Part("num_players", (1,), 2, MAX_PLAYERS, "players", categorical=True),
        Part("lacks", (MAX_PLAYERS, TYPES), 0, 1, "1 for types that a seat certainly lacks"),
        Part("dug", _SEATS, 0, BAG, "tiles dug in each seat's latest turn"),
        Part("passed", _SEATS, 0, 1, "1 if a seat's latest turn was a pass"),
    )
    return ObservationSpec(parts)


# For the standard board; for other boards they are rebound.
SPEC = make_spec(BOARD)
AT = SPEC.starts()

_ORDER = "tiles by type, second LINK-Os last: 52 is drawn next, then 51; 0 is not in the bag"
PRIVILEGED_SPEC = ObservationSpec(
    (
        Part("hands", (MAX_PLAYERS - 1, TYPES), 0, 2, "tiles of each type in the other hands"),
        Part("draw_order", (components.TILES,), 0, BAG, _ORDER),
    )
)


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills `out` with what `seat` sees."""
    out[:] = 0
    once, twice = hidden_from(state, seat)
    _add(once, out, AT.unseen)
    _add(twice, out, AT.unseen)
    _add(state.held[seat], out, AT.hand)
    _add(state.twice[seat], out, AT.hand)
    _show_board(state, seat, out)
    players = state.num_players
    for step in range(players):
        _show_seat(state, (seat + step) % players, step, out)
    out[AT.starter + int((state.starter - seat) % players)] = 1
    if state.seat != NONE:
        out[AT.to_act + int((state.seat - seat) % players)] = 1
    out[AT.bag_size] = state.bag_size
    out[AT.target] = state.target // 100
    out[AT.target + 1] = state.target % 100
    out[AT.round] = state.round_number
    out[AT.num_players] = players


@compiled
def _show_board(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    players = state.num_players
    occupied = state.occupied
    while occupied:
        space = first_in(occupied)
        occupied &= occupied - ONE
        out[AT.occupied + space] = 1
        out[AT.linko + space] = state.code[space] == components.WILD
        out[AT.placed_by + space] = 1 + (state.owner[space] - seat) % players
    for value in range(VALUES):
        _add(state.shows[LEFT, value] & BOARD.spaces, out, AT.left_shows + value * BOARD.size)
        _add(state.shows[RIGHT, value], out, AT.right_shows + value * BOARD.size)
    connectors = len(BOARD.connector)
    for number in range(connectors):
        connector, met = bit(BOARD.connector[number]), 0
        for value in range(VALUES):
            if spaces_meeting(state, value) & connector:
                out[AT.constraint + value * connectors + number] = 1
                met += 1
        out[AT.blocked + number] = met > 1


@compiled
def _show_seat(state: Record, seat: int, step: int, out: NDArray[np.int8]) -> None:
    """Shows what all know of a seat, `step` seats after the observer."""
    out[AT.hand_size + step] = state.hand_size[seat]
    points: int = min(state.scores[seat], _MAX_SHOWN)
    out[AT.scores + 2 * step] = points // 100
    out[AT.scores + 2 * step + 1] = points % 100
    out[AT.first_turn + step] = state.first_turn[seat]
    out[AT.dug + step] = state.dug[seat]
    out[AT.passed + step] = state.passed[seat]
    _add(state.lacks[seat], out, AT.lacks + TYPES * step)


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills `out` with what is hidden from `seat`."""
    out[:] = 0
    players = state.num_players
    for step in range(1, players):
        other = (seat + step) % players
        _add(state.held[other], out, TYPES * (step - 1))
        _add(state.twice[other], out, TYPES * (step - 1))
    order = (MAX_PLAYERS - 1) * TYPES
    for place in range(state.bag_size):
        tile = int(state.bag[place])
        at = order + tile
        if out[at] != 0:
            at = order + TYPES + tile // components.KINDS
        out[at] = BAG - (state.bag_size - 1 - place)


@compiled
def _add(members: np.uint64, out: NDArray[np.int8], first: int) -> None:
    """Counts each number of a set from the place `first` on."""
    while members:
        out[first + first_in(members)] += 1
        members &= members - ONE
