"""Worlds that a seat can't tell from the real one (section "Determinize" of RULES.md)."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import shuffle
from linkzoo.games.link_o.components import MAX_PLAYERS, NONE, TILES, TYPES
from linkzoo.games.link_o.rules.placement import placeable
from linkzoo.games.link_o.rules.tiles import bit, draw, hidden_from, put_in_hand

_STREAM = 2  # of random numbers; the index counts the shuffles
# To respect what the others lack. One finds a world unless the tile chosen first forbids it.
_ATTEMPTS = 64
_BAG = MAX_PLAYERS  # who holds the tiles that stay in the bag
_HOLDERS = MAX_PLAYERS + 1  # of tiles: the seats, and the bag
_Holders = NDArray[np.int64]  # a number for each, or a queue of them


@compiled
def determinize(state: Record, seat: int, seed: np.uint64) -> None:
    """Shuffles all tiles that `seat` can't see; the other hands get as many of them as they had.

    They draw from the end of the bag, clockwise, the seat to act first, which gets a tile that it
    can place now. With `redeal_inference` no seat gets a tile that it certainly lacks.
    """
    state.seed = seed
    players = state.num_players
    others_turn = seat != state.seat != NONE
    first = state.seat if others_turn else (seat + 1) % players
    _collect(state, seat)
    for attempt in range(_ATTEMPTS):
        shuffle(state.bag, state.bag_size, seed, _STREAM, 2 * attempt)
        if others_turn:
            _choose_playable(state)
            shuffle(state.bag, state.bag_size - 1, seed, _STREAM, 2 * attempt + 1)
        if not state.redeal_inference or _respect(state, seat, first, others_turn):
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
    """Shuffles the bag, by type first: chance doesn't depend on the order before. Hands stay."""
    state.seed = seed
    tiles = state.bag[: state.bag_size]
    tiles.sort()
    shuffle(state.bag, state.bag_size, seed, _STREAM, 0)


@compiled
def _collect(state: Record, seat: int) -> None:
    """Puts all tiles that a seat can't see into the bag, by type; hand sizes stay as they are."""
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
    last = place = state.bag_size - 1
    while not possible & bit(state.bag[place]):
        place -= 1
    state.bag[place], state.bag[last] = state.bag[last], state.bag[place]


# Inference: tiles in hands that lack them are exchanged


@compiled
def _respect(state: Record, seat: int, first: int, chosen: bool) -> bool:
    """Exchanges tiles until no seat has one that it lacks; False if that can't be done.

    The last tile of the bag stays where it is if it was chosen.
    """
    holders = local(TILES, np.int8)  # who draws the tile at each place of the bag
    holders[:] = _BAG
    place = int(np.int64(state.bag_size))
    for step in range(state.num_players):
        other = (first + step) % state.num_players
        if other != seat:
            for _ in range(state.hand_size[other]):
                place -= 1
                holders[place] = other
    count = state.bag_size - (1 if chosen else 0)
    for wrong in range(count):
        while not _may_have(state, holders[wrong], state.bag[wrong]):
            if not _exchange(state, seat, holders, wrong, count):
                return False
    return True


@compiled
def _may_have(state: Record, holder: int, tile: int) -> bool:
    return holder == _BAG or not state.lacks[holder] & bit(tile)


@compiled
def _exchange(state: Record, seat: int, holders: NDArray[np.int8], wrong: int, count: int) -> bool:
    """Moves a tile to a holder that may have it, one of that holder's tiles to the next, and so on.

    The chain is a shortest one that ends where it began, found breadth first over the holders. A
    tile that is itself in a wrong hand may always end the chain: one tile less is wrong then too.
    """
    origin = holders[wrong]
    giver = local(_HOLDERS, np.int64)  # the place of the tile that goes to a holder
    giver[:] = NONE
    queue = local(_HOLDERS, np.int64)
    length = _offer(state, seat, wrong, giver, queue, 0)
    done = 0
    while done < length and giver[origin] == NONE:
        holder = queue[done]
        done += 1
        for place in range(count):
            if holders[place] == holder:
                length = _offer(state, seat, place, giver, queue, length)
                if giver[origin] == NONE and not _may_have(state, holder, state.bag[place]):
                    giver[origin] = place
    if giver[origin] == NONE:
        return False
    moved, place = wrong, giver[origin]
    while place != wrong:  # each tile of the chain, from its end, goes to the place before it
        state.bag[moved], state.bag[place] = state.bag[place], state.bag[moved]
        moved, place = place, giver[holders[place]]
    return True


@compiled
def _offer(
    state: Record, seat: int, place: int, giver: _Holders, queue: _Holders, length: int
) -> int:
    """Notes the holders, new to the queue, that may have the tile at a place."""
    tile = state.bag[place]
    for holder in range(_HOLDERS):
        plays = holder == _BAG or (holder < state.num_players and holder != seat)
        if plays and giver[holder] == NONE and _may_have(state, holder, tile):
            giver[holder] = place
            queue[length] = holder
            length += 1
    return length
