"""LINK-O: fresh worlds that a seat can't tell from the real one (section "Redeal" of RULES.md).

All that the seat can't see goes into the bag and is shuffled; the other hands are drawn from its
end again, clockwise, the seat to act first. The functions are plain: `linkzoo.games.link_o.game_with`
compiles them for a board (`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import shuffle
from linkzoo.engine.compiled import local
from linkzoo.games.link_o.pieces import MAX_PLAYERS, NONE
from linkzoo.games.link_o.table import bit, draw, first_in, hidden_from, placeable, put_in_hand

_STREAM = 2  # of chance; the index counts the shuffles
_ATTEMPTS = 64  # to respect what the others lack; each finds a world unless the first tile forbids
_BAG = MAX_PLAYERS  # who holds the tiles that stay in the bag
_HOLDERS = MAX_PLAYERS + 1  # of tiles: the seats, and the bag
_ZERO = np.uint64(0)


def redeal(state: Any, seat: Any, seed: Any) -> None:
    """Deals what `seat` can't see anew: the other hands, to the same sizes, and the bag.

    If another seat is to act, it first gets a tile that it can place now. With `redeal_inference`
    nobody gets a tile that he certainly lacks.
    """
    state.seed = seed
    players = np.int64(state.num_players)
    others_turn = seat != state.seat != NONE
    first = np.int64(state.seat) if others_turn else (np.int64(seat) + 1) % players
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


def _collect(state: Any, seat: Any) -> None:
    """Puts all that a seat can't see into the bag, by type; hand sizes stay as they are."""
    once, twice = hidden_from(state, seat)
    size = 0
    while once != _ZERO:
        tile = first_in(once)
        for _ in range(2 if twice & bit(tile) != _ZERO else 1):
            state.bag[size] = tile
            size += 1
        once &= ~bit(tile)
    state.bag_size = size
    for other in range(state.num_players):
        if other != seat:
            state.held[other] = 0
            state.twice[other] = 0


def _choose_playable(state: Any) -> None:
    """Moves a tile that the seat to act can place now to the end of the shuffled bag."""
    possible = placeable(state, state.first_turn[state.seat])
    if state.redeal_inference and state.dug[state.seat] == 0:
        possible &= ~state.lacks[state.seat]
    place = state.bag_size - 1
    while possible & bit(state.bag[place]) == _ZERO:
        place -= 1
    last = state.bag_size - 1
    state.bag[place], state.bag[last] = state.bag[last], state.bag[place]


# Inference: tiles in the hands of those who lack them are exchanged


def _respect(state: Any, seat: Any, first: Any, chosen: Any) -> Any:
    """Exchanges tiles until nobody has one that he lacks; False if that can't be done.

    The last tile of the bag stays where it is if it was chosen.
    """
    count = state.bag_size - (1 if chosen else 0)
    for place in range(count):
        while not _is_right(state, seat, first, place):
            if not _exchange(state, seat, first, place, count):
                return False
    return True


def _holder(state: Any, seat: Any, first: Any, place: Any) -> Any:
    """Who will draw the tile at a place of the bag: a seat, or _BAG."""
    depth = np.int64(state.bag_size) - 1 - place
    for step in range(state.num_players):
        other = (first + step) % np.int64(state.num_players)
        if other != seat:
            if depth < state.hand_size[other]:
                return other
            depth -= np.int64(state.hand_size[other])
    return _BAG


def _may_have(state: Any, holder: Any, tile: Any) -> Any:
    return holder == _BAG or state.lacks[holder] & bit(tile) == _ZERO


def _is_right(state: Any, seat: Any, first: Any, place: Any) -> Any:
    return _may_have(state, _holder(state, seat, first, place), state.bag[place])


def _exchange(state: Any, seat: Any, first: Any, wrong: Any, count: Any) -> Any:
    """Moves a tile to a holder that may have it, one of his tiles to the next, and so on.

    A shortest such chain that ends where it began, found breadth first over the holders. A tile
    that is itself in a wrong hand may end the chain in any case: one tile less is wrong then too.
    """
    origin = _holder(state, seat, first, wrong)
    giver = local(_HOLDERS, np.int64)  # the place of the tile that goes to a holder
    giver[:] = NONE
    queue = local(_HOLDERS, np.int64)
    length = _offer(state, seat, wrong, giver, queue, 0)
    done = 0
    while done < length and giver[origin] == NONE:
        holder = queue[done]
        done += 1
        for place in range(count):
            if _holder(state, seat, first, place) == holder:
                length = _offer(state, seat, place, giver, queue, length)
                if giver[origin] == NONE and not _may_have(state, holder, state.bag[place]):
                    giver[origin] = place
    if giver[origin] == NONE:
        return False
    holder, moved = origin, np.int64(wrong)
    place = giver[origin]
    while place != wrong:  # each tile of the chain, from its end, goes to the place before it
        holder = _holder(state, seat, first, place)
        state.bag[moved], state.bag[place] = state.bag[place], state.bag[moved]
        moved = place
        place = giver[holder]
    return True


def _offer(state: Any, seat: Any, place: Any, giver: Any, queue: Any, length: Any) -> Any:
    """Notes the holders, new to the queue, that may have the tile at a place."""
    tile = state.bag[place]
    for holder in range(_HOLDERS):
        plays = holder == _BAG or (holder < state.num_players and holder != seat)
        if plays and giver[holder] == NONE and _may_have(state, holder, tile):
            giver[holder] = place
            queue[length] = holder
            length += 1
    return length
