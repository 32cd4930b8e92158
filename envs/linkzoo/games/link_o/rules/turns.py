"""Turns, rounds and the match. Numbers (R1..R23) refer to RULES.md."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import below, shuffle
from linkzoo.games.link_o import components, options
from linkzoo.games.link_o.components import EMPTY, KINDS, MAX_PLAYERS, NONE, ONE
from linkzoo.games.link_o.rules import tiles
from linkzoo.games.link_o.rules.placement import clear_board, fitting, openings, place, placeable
from linkzoo.games.link_o.rules.tiles import bit, first_in, hand_points, put_in_hand, size_of
from linkzoo.games.link_o.state import BLOCKED, NOT_YET, OUT
from linkzoo.games.link_o.tables import BOARD

# Streams of random numbers; the index is the number of the round.
_BAG_STREAM = 0
_STARTER_STREAM = 1


@compiled
def new_game(state: Record, seed: np.uint64) -> None:
    """Starts the first round of a match (R1)."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.scores[:] = 0
    state.round_number = 0
    state.last_how = NOT_YET
    state.last_winner = NONE
    state.last_points = 0
    _start_round(state, _first_starter(state))
    _run_on(state)


@compiled
def legal_actions(state: Record, mask: Mask) -> None:
    """Fills int8 `mask[26 * spaces]` (R5, R6, R9..R15)."""
    mask[:] = 0
    if state.seat == NONE:
        return
    first = state.first_turn[state.seat]
    hand = state.held[state.seat]
    if first:
        hand &= components.OPENERS  # R6
    opening = openings(state, first)
    while hand:
        tile = first_in(hand)
        hand &= hand - ONE
        circle = BOARD.circles[tile // KINDS]  # R9
        code = components.STRAIGHT[tile % KINDS]
        turned = components.TURNED[tile % KINDS]
        _mark(mask, fitting(state, opening, code) & circle, code)
        if turned != code:
            _mark(mask, fitting(state, opening, turned) & circle, turned)


@compiled
def _mark(mask: Mask, spaces: np.uint64, code: int) -> None:
    """Marks the placements of a tile, laid as `code`, on each of the spaces."""
    while spaces:
        mask[first_in(spaces) * components.CODES + code] = 1
        spaces &= spaces - ONE


@compiled
def apply(state: Record, action: int) -> None:
    """Places a tile, scores, and goes on to the next decision."""
    seat = int(np.int64(state.seat))  # int64 in all calls of `place`, which is compiled once
    lay(state, action)
    if state.hand_size[seat] == 0:
        _end_round(state, OUT)  # R17: the seat has placed its last tile
    else:
        state.seat = (seat + 1) % state.num_players  # R4
    _run_on(state)


@compiled
def lay(state: Record, action: int) -> None:
    """Places a tile (R9) and scores a full circle; whatever follows depends on hands and bag."""
    seat = int(np.int64(state.seat))
    space = action // components.CODES
    code = action % components.CODES
    state.ply += 1
    state.first_turn[seat] = 0
    tiles.take_from_hand(state, seat, BOARD.circle[space] * KINDS + components.KIND[code])
    place(state, space, code, seat)
    circle = BOARD.circles[BOARD.circle[space]]
    if state.occupied & circle == circle:
        state.scores[seat] += state.circle_bonus  # R23


@compiled
def _run_on(state: Record) -> None:
    """Takes the turns that leave nothing to decide, up to a seat that can place or to the end."""
    passes = 0  # in succession
    while state.seat != NONE:
        first = state.first_turn[state.seat]
        if _dig(state):
            return
        if first:
            passes = 0
        else:
            passes += 1
        if state.bag_size == 0 and passes >= state.num_players:
            _end_round(state, BLOCKED)
            passes = 0
        else:
            state.seat = (state.seat + 1) % state.num_players  # R4


@compiled
def _dig(state: Record) -> bool:
    """Draws tiles for the seat to act if it must (R7, R8, R16); returns whether it can place."""
    seat = state.seat
    state.dug[seat] = 0
    state.passed[seat] = 0
    possible = placeable(state, state.first_turn[seat])
    able = bool(state.held[seat] & possible)
    if able:
        return True
    limit = int(state.bag_size)
    if state.dig == options.ONE:
        limit = min(limit, 1)
    while not able and state.dug[seat] < limit:
        tile = tiles.draw(state)
        put_in_hand(state, seat, tile)
        state.dug[seat] += 1
        able = bool(possible & bit(tile))
    kept = int(state.dug[seat])
    if able:
        kept -= 1  # all but the last tile, which the seat will place
    if kept > 0:
        state.lacks[seat] = possible
    else:
        state.lacks[seat] |= possible
    if not able:
        state.passed[seat] = 1
        state.first_turn[seat] = 0  # R7: the restriction binds the first turn only
    return able


@compiled
def _start_round(state: Record, starter: int) -> None:
    """Puts all tiles into the bag, and deals a hand to every seat (R2)."""
    number = state.round_number + 1
    state.round_number = number
    state.starter = starter
    state.seat = starter
    clear_board(state)
    state.bag[:] = NONE
    state.bag_size = len(BOARD.tiles)
    for drawn in range(state.bag_size):
        state.bag[drawn] = BOARD.tiles[drawn]
    shuffle(state.bag, state.bag_size, state.seed, _BAG_STREAM, number)
    for seat in range(MAX_PLAYERS):
        state.held[seat] = 0
        state.twice[seat] = 0
        state.hand_size[seat] = 0
        state.lacks[seat] = 0
        state.dug[seat] = 0
        state.passed[seat] = 0
        state.first_turn[seat] = seat < state.num_players
    for seat in range(state.num_players):
        for _ in range(BOARD.hand):
            put_in_hand(state, seat, tiles.draw(state))


@compiled
def _first_starter(state: Record) -> int:
    """Returns the seat that starts the first round (R3)."""
    if state.next_starter == options.FIRST_SEAT:
        return 0
    return below(state.num_players, state.seed, _STARTER_STREAM, 1)


@compiled
def _next_starter(state: Record) -> int:
    """Returns the seat that starts the next round (R3)."""
    if state.next_starter == options.FIRST_SEAT:
        return 0
    if state.next_starter == options.RANDOM:
        return below(state.num_players, state.seed, _STARTER_STREAM, state.round_number + 1)
    if state.next_starter == options.WINNER and state.last_winner != NONE:
        return int(state.last_winner)
    return int((state.starter + 1) % state.num_players)


@compiled
def _round_winners(state: Record) -> np.uint64:
    """Returns the set of seats that win the round.

    That is the seat that went out (R17), else the seat with the lowest hand (R18). Of several
    lowest hands all win or none (R19).
    """
    lowest = hand_points(state, 0)
    for seat in range(1, state.num_players):
        lowest = min(lowest, hand_points(state, seat))
    winners = EMPTY
    for seat in range(state.num_players):
        if state.hand_size[seat] == 0:
            return bit(seat)
        if hand_points(state, seat) == lowest:
            winners |= bit(seat)
    if size_of(winners) > 1 and state.blocked_tie == options.NO_SCORE:
        return EMPTY
    return winners


@compiled
def _score_round(state: Record, how: int) -> None:
    """Gives the winners of the round the points of all other hands (R17, R18)."""
    winners = _round_winners(state)
    points = 0
    if winners:
        for seat in range(state.num_players):
            if not winners & bit(seat):
                points += hand_points(state, seat)
        points //= size_of(winners)  # R19
    for seat in range(state.num_players):
        if winners & bit(seat):
            state.scores[seat] += points
    state.last_how = how
    state.last_points = points
    state.last_winner = NONE
    if size_of(winners) == 1:
        state.last_winner = first_in(winners)


@compiled
def _end_round(state: Record, how: int) -> None:
    """Scores the round; then starts the next round, or ends the match."""
    _score_round(state, how)
    end_match(state)
    if state.winners:
        state.seat = NONE
    else:
        _start_round(state, _next_starter(state))


@compiled
def end_match(state: Record) -> None:
    """Sets the winners if the round that has ended was the last of the match (R20, R21)."""
    best, leaders = leaders_of(state)
    if state.target == 0:
        everyone = bit(state.num_players) - ONE
        state.winners = _round_winners(state) or everyone
    elif best >= state.target and size_of(leaders) == 1:
        state.winners = leaders  # R20
    elif state.round_number == state.max_rounds:
        state.winners = leaders  # R21


@compiled
def leaders_of(state: Record) -> tuple[int, np.uint64]:
    """Returns the highest total, and the set of seats that have it."""
    best = state.scores[0]
    for seat in range(state.num_players):
        best = max(best, state.scores[seat])
    leaders = EMPTY
    for seat in range(state.num_players):
        if state.scores[seat] == best:
            leaders |= bit(seat)
    return best, leaders


@compiled
def scores(state: Record, out: NDArray[np.float32]) -> None:
    """Fills the scores of the match so far."""
    for seat in range(state.num_players):
        out[seat] = state.scores[seat]
