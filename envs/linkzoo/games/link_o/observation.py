"""The observation of a seat of LINK-O, and the hidden rest: other hands, the bag's order (R2)."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o.board import BAG
from linkzoo.games.link_o.components import KINDS, MAX_PLAYERS, NONE, ONE, TYPES, VALUES, WILD
from linkzoo.games.link_o.observation_spec import MAX_SHOWN
from linkzoo.games.link_o.rules.placement import spaces_meeting
from linkzoo.games.link_o.rules.tiles import bit, hidden_from
from linkzoo.games.link_o.state import LEFT, RIGHT
from linkzoo.games.link_o.tables import BOARD


@compiled
def observe(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills a seat's observation (`observation_spec.make_spec`)."""
    at = BOARD.at
    players = state.num_players
    out[:] = 0
    once, twice = hidden_from(state, seat)
    _count(once, twice, out, at.unseen)
    _count(state.held[seat], state.twice[seat], out, at.hand)
    _show_board(state, seat, out)
    for step in range(players):
        _show_seat(state, (seat + step) % players, step, out)
    out[at.starter + int((state.starter - seat) % players)] = 1
    if state.seat != NONE:
        out[at.to_act + int((state.seat - seat) % players)] = 1
    out[at.bag_size] = state.bag_size
    out[at.target] = state.target // 100
    out[at.target + 1] = state.target % 100
    out[at.round] = state.round_number
    out[at.num_players] = players


@compiled
def _show_board(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    at = BOARD.at
    players = state.num_players
    for space in range(BOARD.size):
        owner = state.owner[space]
        if owner != NONE:
            step = owner - seat
            if step < 0:  # faster than %
                step += players
            out[at.placed_by + space] = 1 + step
        out[at.linko + space] = state.code[space] == WILD
    _mark(state.occupied, BOARD.size, out, at.occupied)
    for value in range(VALUES):
        _mark(state.shows[LEFT, value], BOARD.size, out, at.left_shows + value * BOARD.size)
        _mark(state.shows[RIGHT, value], BOARD.size, out, at.right_shows + value * BOARD.size)
    connectors = len(BOARD.connector)
    met = np.uint64(0)
    met_twice = np.uint64(0)
    for value in range(VALUES):
        meeting = spaces_meeting(state, value)
        met_twice |= met & meeting
        met |= meeting
        for number in range(connectors):
            meets = meeting & bit(BOARD.connector[number]) != 0
            out[at.constraint + value * connectors + number] = meets
    for number in range(connectors):
        out[at.blocked + number] = met_twice & bit(BOARD.connector[number]) != 0


@compiled
def _show_seat(state: Record, seat: int, step: int, out: NDArray[np.int8]) -> None:
    """Shows public knowledge of a seat, `step` seats after the observer."""
    at = BOARD.at
    out[at.hand_size + step] = state.hand_size[seat]
    points: int = min(state.scores[seat], MAX_SHOWN)
    out[at.scores + 2 * step] = points // 100
    out[at.scores + 2 * step + 1] = points % 100
    out[at.first_turn + step] = state.first_turn[seat]
    out[at.dug + step] = state.dug[seat]
    out[at.passed + step] = state.passed[seat]
    _mark(state.lacks[seat], TYPES, out, at.lacks + TYPES * step)


@compiled
def reveal(state: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Fills the information hidden from a seat (`observation_spec.PRIVILEGED_SPEC`)."""
    out[:] = 0
    players = state.num_players
    for step in range(1, players):
        other = (seat + step) % players
        _count(state.held[other], state.twice[other], out, TYPES * (step - 1))
    order = (MAX_PLAYERS - 1) * TYPES
    for index in range(state.bag_size):
        tile = int(state.bag[index])
        element = order + tile
        if out[element] != 0:  # the second LINK-O of its colour
            element = order + TYPES + tile // KINDS
        out[element] = BAG - (state.bag_size - 1 - index)


@compiled
def _mark(members: np.uint64, size: int, out: NDArray[np.int8], start: int) -> None:
    """Writes 1 for each member of a set of numbers below `size` and 0 for the others.

    Number 0 is at element `start`.
    """
    first = np.uint64(start)  # unsigned: Numba then doesn't check for negative indices
    for index in range(size):
        number = np.uint64(index)
        out[first + number] = members >> number & ONE


@compiled
def _count(once: np.uint64, twice: np.uint64, out: NDArray[np.int8], start: int) -> None:
    """Writes how many tiles of each type there are; type 0 is at element `start`."""
    first = np.uint64(start)
    for index in range(TYPES):
        tile = np.uint64(index)
        out[first + tile] = (once >> tile & ONE) + (twice >> tile & ONE)
