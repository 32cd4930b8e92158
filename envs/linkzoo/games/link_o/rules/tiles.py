"""Hands, the bag, and sets of numbers below 64 as bits."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o.components import EMPTY, KINDS, NONE, ONE, POINTS

# The index of a word's only bit, by the word's remainder modulo 67, which differs for all 64.
_NUMBER = np.zeros(67, np.int64)
_NUMBER[[2**bit % 67 for bit in range(64)]] = np.arange(64)
_SIXTY_SEVEN = np.uint64(67)


@compiled
def bit(number: int) -> np.uint64:
    """Returns the set of one number."""
    return ONE << np.uint64(number)


@compiled
def first_in(members: np.uint64) -> int:
    """Returns the lowest number of a set that isn't empty."""
    return int(_NUMBER[(members & (~members + ONE)) % _SIXTY_SEVEN])


@compiled
def size_of(members: np.uint64) -> int:
    """Returns the number of members of a set."""
    count = 0
    while members:
        members &= members - ONE
        count += 1
    return count


@compiled
def put_in_hand(state: Record, seat: int, tile: int) -> None:
    """Adds a tile to a hand."""
    state.twice[seat] |= state.held[seat] & bit(tile)
    state.held[seat] |= bit(tile)
    state.hand_size[seat] += 1


@compiled
def take_from_hand(state: Record, seat: int, tile: int) -> None:
    """Removes a tile that the seat holds."""
    if state.twice[seat] & bit(tile):
        state.twice[seat] &= ~bit(tile)
    else:
        state.held[seat] &= ~bit(tile)
    state.hand_size[seat] -= 1


@compiled
def hand_points(state: Record, seat: int) -> int:
    """Returns the points of a hand (R17)."""
    points = 0
    for types in (state.held[seat], state.twice[seat]):
        rest = types
        while rest:
            points += POINTS[first_in(rest) % KINDS]
            rest &= rest - ONE
    return points


@compiled
def draw(state: Record) -> int:
    """Draws the next tile from the bag, which must not be empty."""
    state.bag_size -= 1
    tile: int = state.bag[state.bag_size]
    state.bag[state.bag_size] = NONE
    return tile


@compiled
def hidden_from(state: Record, seat: int) -> tuple[np.uint64, np.uint64]:
    """Returns the types in the other hands and the bag, and the types of which there are two."""
    once = EMPTY
    twice = EMPTY
    for other in range(state.num_players):
        if other != seat:
            twice |= state.twice[other] | (once & state.held[other])
            once |= state.held[other]
    for index in range(state.bag_size):
        tile = bit(state.bag[index])
        twice |= once & tile
        once |= tile
    return once, twice
