"""Sampling of worlds consistent with a seat's information (section "Determinize" of RULES.md)."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import shuffle
from linkzoo.games.link_o.board import TILES
from linkzoo.games.link_o.components import MAX_PLAYERS, NONE, TYPES
from linkzoo.games.link_o.rules.placement import placeable
from linkzoo.games.link_o.rules.tiles import bit, draw, hidden_from, put_in_hand

_STREAM = 2  # of random numbers; the index counts the shuffles
# Attempts to satisfy the known missing types. One is enough unless the chosen playable tile
# makes it impossible.
_ATTEMPTS = 64
_BAG = MAX_PLAYERS  # the holder of the tiles that stay in the bag
_HOLDERS = MAX_PLAYERS + 1  # the seats and the bag
_Holders = NDArray[np.int64]  # a number for each holder, or a queue of holders


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles all tiles that `seat` can't see, and deals the other hands anew in their sizes.

    The hands draw from the end of the bag, clockwise. A seat to act draws first, and gets a tile
    that it can place now. With `redeal_inference` no seat gets a tile that it certainly lacks.
    """
    state.seed = seed
    players = state.num_players
    others_turn = seat != state.seat != NONE
    first = (seat + 1) % players
    if others_turn:
        first = state.seat
    _collect(state, seat)
    for attempt in range(_ATTEMPTS):
        shuffle(state.bag, state.bag_size, seed, _STREAM, 2 * attempt)
        if others_turn:
            _choose_playable(state)
            shuffle(state.bag, state.bag_size - 1, seed, _STREAM, 2 * attempt + 1)
        if not state.redeal_inference or _exchange_lacked(state, seat, first, others_turn):
            break
    for step in range(players):
        other = (first + step) % players
        if other != seat:
            size = state.hand_size[other]
            state.hand_size[other] = 0
            for _ in range(size):
                put_in_hand(state, other, draw(state))


@compiled
def reshuffle(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles the bag; hands stay. It sorts first, so that the old order makes no difference."""
    state.seed = seed
    tiles = state.bag[: state.bag_size]
    tiles.sort()
    shuffle(state.bag, state.bag_size, seed, _STREAM, 0)


@compiled
def _collect(state: Record, seat: int) -> None:
    """Puts all tiles that a seat can't see into the bag, by type; keeps the hand sizes."""
    once, twice = hidden_from(state, seat)
    size = 0
    for tile in range(TYPES):
        for types in (once, twice):
            if types & bit(tile):
                state.bag[size] = tile
                size += 1
    state.bag_size = size
    for other in range(state.num_players):
        if other != seat:
            state.held[other] = 0
            state.twice[other] = 0


@compiled
def _choose_playable(state: Record) -> None:
    """Moves a tile that the seat to act can place now to the end of the shuffled bag."""
    possible = placeable(state, state.first_turn[state.seat])
    if state.redeal_inference and state.dug[state.seat] == 0:
        possible &= ~state.lacks[state.seat]
    last = state.bag_size - 1
    index = last
    while not possible & bit(state.bag[index]):
        index -= 1
    state.bag[index], state.bag[last] = state.bag[last], state.bag[index]


# Inference: tiles in hands that lack their type are exchanged.


@compiled
def _exchange_lacked(state: Record, seat: int, first: int, chosen: bool) -> bool:
    """Exchanges tiles until no seat has a type that it lacks; False if that is impossible.

    If the last tile of the bag was chosen (`_choose_playable`), it keeps its index.
    """
    holders = local(TILES, np.int8)  # of each tile of the bag, the holder that will draw it
    holders[:] = _BAG
    index = int(np.int64(state.bag_size))
    for step in range(state.num_players):
        other = (first + step) % state.num_players
        if other != seat:
            for _ in range(state.hand_size[other]):
                index -= 1
                holders[index] = other
    count = int(np.int64(state.bag_size))
    if chosen:
        count -= 1
    for wrong in range(count):
        while not _may_have(state, holders[wrong], state.bag[wrong]):
            if not _exchange(state, seat, holders, wrong, count):
                return False
    return True


@compiled
def _may_have(state: Record, holder: int, tile: int) -> bool:
    """Returns whether a holder isn't known to lack a type."""
    return holder == _BAG or not state.lacks[holder] & bit(tile)


@compiled
def _exchange(state: Record, seat: int, holders: NDArray[np.int8], wrong: int, count: int) -> bool:
    """Exchanges tiles in a circle of holders, so that the tile at index `wrong` isn't lacked.

    The circle is a shortest one, found breadth-first over the holders. A tile that its holder
    lacks, too, may always close the circle: the number of wrong tiles then decreases as well.
    """
    origin = holders[wrong]
    giver = local(_HOLDERS, np.int64)  # the index of the tile that goes to a holder
    giver[:] = NONE
    queue = local(_HOLDERS, np.int64)
    length = _offer(state, seat, wrong, giver, queue, 0)
    done = 0
    while done < length and giver[origin] == NONE:
        holder = queue[done]
        done += 1
        for index in range(count):
            if holders[index] == holder:
                length = _offer(state, seat, index, giver, queue, length)
                if giver[origin] == NONE and not _may_have(state, holder, state.bag[index]):
                    giver[origin] = index
    if giver[origin] == NONE:
        return False
    target = wrong
    source = giver[origin]
    while source != wrong:  # from the end of the chain, each tile goes to the index before it
        state.bag[target], state.bag[source] = state.bag[source], state.bag[target]
        target = source
        source = giver[holders[source]]
    return True


@compiled
def _offer(
    state: Record, seat: int, index: int, giver: _Holders, queue: _Holders, length: int
) -> int:
    """Adds to the queue the holders that may have a tile of the bag; returns its new length."""
    tile = state.bag[index]
    for holder in range(_HOLDERS):
        plays = holder == _BAG or (holder < state.num_players and holder != seat)
        if plays and giver[holder] == NONE and _may_have(state, holder, tile):
            giver[holder] = index
            queue[length] = holder
            length += 1
    return length
