"""LINK-O: the compiled rules. Numbers (R1..R23) refer to RULES.md.

The functions are plain: `linkzoo.games.link_o.game_with` compiles them for a board (`compiled.bind`).
"""

from typing import Any

import numpy as np

from linkzoo.engine.rng import below, shuffle
from linkzoo.games.link_o.board import MAX_SPACES
from linkzoo.games.link_o.options import NO_SCORE, RANDOM, UNTIL_PLAYABLE, WINNER
from linkzoo.games.link_o.pieces import (
    ALL_TILES,
    CODES,
    HAND,
    KIND,
    KINDS,
    LINKOS,
    MAX_PLAYERS,
    NONE,
    OPENERS,
    STRAIGHT,
    TILES,
    TURNED,
    TYPES,
    VALUES,
    Layout,
)
from linkzoo.games.link_o.table import (
    bit,
    clear_board,
    draw,
    first_in,
    fits,
    fitting,
    hand_points,
    openings,
    place,
    placeable,
    put_in_hand,
    size_of,
    take_from_hand,
)

NOT_YET, OUT, BLOCKED = 0, 1, 2  # how a round ends
SCORE_SCALE = 64

_BAG, _STARTER = 0, 1  # streams of chance; the index is the round
_NOBODY = np.uint32(0)
_ZERO = np.uint64(0)
_ONE = np.uint64(1)
_ROUND_WORTH = 1e6  # more than any mobility
_LINKO_WORTH = 32  # placements

# What `bind` gives the board for.
BOARD: Layout


# Rounds


def new_game(state: Any, seed: Any) -> None:
    """Starts the first round of a match (R1)."""
    state.seed = seed
    state.winners = 0
    state.ply = 0
    state.scores[:] = 0
    state.round_number = 0
    state.last_how = NOT_YET
    state.last_winner = NONE
    state.last_points = 0
    _start_round(state, below(state.num_players, seed, _STARTER, 1))  # R3
    _run_on(state)


def _start_round(state: Any, starter: Any) -> None:
    """R2: all tiles go into the bag, and every seat draws 8."""
    state.round_number += 1
    state.starter = starter
    state.seat = starter
    clear_board(state)
    for drawn in range(TILES):
        state.bag[drawn] = ALL_TILES[drawn]
    state.bag_size = TILES
    shuffle(state.bag, TILES, state.seed, _BAG, state.round_number)
    for seat in range(MAX_PLAYERS):
        state.held[seat] = 0
        state.twice[seat] = 0
        state.hand_size[seat] = 0
        state.lacks[seat] = 0
        state.dug[seat] = 0
        state.passed[seat] = 0
        state.first_turn[seat] = seat < state.num_players
    for seat in range(state.num_players):
        for _ in range(HAND):
            put_in_hand(state, seat, draw(state))


def _next_starter(state: Any) -> Any:
    """R3: who starts the round after this one."""
    if state.next_starter == RANDOM:
        return below(state.num_players, state.seed, _STARTER, state.round_number + 1)
    if state.next_starter == WINNER and state.last_winner != NONE:
        return np.int64(state.last_winner)
    return (np.int64(state.starter) + 1) % np.int64(state.num_players)


def round_winners(state: Any) -> Any:
    """R17: who has no tile left; R18: else the lowest hands; R19: all who tie, or nobody."""
    lowest = hand_points(state, 0)
    for seat in range(1, state.num_players):
        lowest = min(lowest, hand_points(state, seat))
    winners = _NOBODY
    for seat in range(state.num_players):
        if state.hand_size[seat] == 0:
            return _only(seat)
        if hand_points(state, seat) == lowest:
            winners |= _only(seat)
    if state.blocked_tie == NO_SCORE and _count(winners) > 1:
        winners = _NOBODY
    return winners


def _end_round(state: Any, how: Any) -> None:
    """R17, R18: the winners score what the others hold; then the next round, or the end."""
    winners = round_winners(state)
    points: Any = 0
    state.last_winner = NONE
    for seat in range(state.num_players):
        if winners & _only(seat) == _NOBODY:
            points += hand_points(state, seat)
        elif _count(winners) == 1:
            state.last_winner = seat
    points = points // _count(winners) if winners != _NOBODY else 0
    for seat in range(state.num_players):
        if winners & _only(seat) != _NOBODY:
            state.scores[seat] += points
    state.last_how = how
    state.last_points = points
    end_match(state)
    if state.winners == _NOBODY:
        _start_round(state, _next_starter(state))
    else:
        state.seat = NONE


def end_match(state: Any) -> None:
    """R20, R21: sets the winners if the round that has ended was the last one."""
    everyone = _NOBODY
    for seat in range(state.num_players):
        everyone |= _only(seat)
    best, leaders = _lead(state)
    if state.target == 0:
        winners = round_winners(state)
        state.winners = everyone if winners == _NOBODY else winners
    elif state.round_number == state.max_rounds or (best >= state.target and _count(leaders) == 1):
        state.winners = leaders  # R20, R21


def _lead(state: Any) -> Any:
    """The highest total, and the seats that have it."""
    leaders, best = _NOBODY, state.scores[0]
    for seat in range(state.num_players):
        best = max(best, state.scores[seat])
    for seat in range(state.num_players):
        if state.scores[seat] == best:
            leaders |= _only(seat)
    return best, leaders


def _only(seat: Any) -> Any:
    """The set of one seat."""
    return np.uint32(1) << np.uint32(seat)


def _count(seats: Any) -> Any:
    """How many seats a set has."""
    return size_of(np.uint64(seats))


# Turns


def legal_actions(state: Any, mask: Any) -> None:
    """Fills int8 `mask[26 * spaces]` (R5, R6, R9..R15)."""
    mask[:] = 0
    if state.seat == NONE:
        return
    first = state.first_turn[state.seat]
    tiles = state.held[state.seat] & OPENERS if first else state.held[state.seat]
    opening = openings(state, first)
    while tiles != _ZERO:
        tile = first_in(tiles)
        tiles &= tiles - _ONE
        circle = BOARD.circles[tile // KINDS]  # R9
        code, turned = STRAIGHT[tile % KINDS], TURNED[tile % KINDS]
        _mark(mask, fitting(state, opening, code) & circle, code)
        if turned != code:
            _mark(mask, fitting(state, opening, turned) & circle, turned)


def _mark(mask: Any, spaces: Any, code: Any) -> None:
    while spaces != _ZERO:
        mask[first_in(spaces) * CODES + code] = 1
        spaces &= spaces - _ONE


def apply(state: Any, action: Any) -> None:
    """Places a tile, and goes on to the next decision."""
    seat = np.int64(state.seat)
    space, code = action // CODES, action % CODES
    state.ply += 1
    state.first_turn[seat] = 0
    take_from_hand(state, seat, BOARD.circle[space] * KINDS + KIND[code])
    place(state, space, code, seat)
    circle = BOARD.circles[BOARD.circle[space]]
    if state.occupied & circle == circle:
        state.scores[seat] += state.circle_bonus  # R23
    if state.hand_size[seat] == 0:
        _end_round(state, OUT)  # R17
    else:
        _pass_turn(state)
    _run_on(state)


def _run_on(state: Any) -> None:
    """Takes the turns that leave nothing to decide, up to a seat that can place or to the end."""
    passes = 0  # in succession
    while state.seat != NONE:
        first = state.first_turn[state.seat]
        if _dig(state):
            return
        passes = 0 if first else passes + 1
        if state.bag_size == 0 and passes >= state.num_players:
            _end_round(state, BLOCKED)
            passes = 0
        else:
            _pass_turn(state)


def _pass_turn(state: Any) -> None:
    """R4: clockwise."""
    state.seat = (np.int64(state.seat) + 1) % np.int64(state.num_players)


def _dig(state: Any) -> Any:
    """R7, R8, R16: the seat to act draws if it has to; says whether it can place a tile now."""
    seat = state.seat
    state.dug[seat] = 0
    state.passed[seat] = 0
    possible = placeable(state, state.first_turn[seat])
    able = state.held[seat] & possible != _ZERO
    if able:
        return True
    while not able and state.bag_size > 0 and (state.dig == UNTIL_PLAYABLE or state.dug[seat] == 0):
        tile = draw(state)
        put_in_hand(state, seat, tile)
        state.dug[seat] += 1
        able = possible & bit(tile) != _ZERO
    kept = state.dug[seat] - (1 if able else 0)
    state.lacks[seat] = possible if kept > 0 else state.lacks[seat] | possible
    if not able:
        state.passed[seat] = 1
        state.first_turn[seat] = 0  # R7: the restriction binds the first turn only
    return able


# Results


def scores(state: Any, out: Any) -> None:
    """Those of the match so far."""
    for seat in range(state.num_players):
        out[seat] = state.scores[seat]


def appraise(before: Any, after: Any, seat: Any) -> Any:
    """How good a placement was: a round won, then own mobility, then the points laid down.

    A LINK-O in the hand counts as 32 placements beside those that it has now: without that, greedy
    play gives LINK-Os away and wins less.
    """
    if after.seat == NONE or after.round_number != before.round_number:
        if after.last_winner == NONE:
            return 0.0
        points = float(after.last_points)
        return _ROUND_WORTH + points if after.last_winner == seat else -points
    points = hand_points(before, seat) - hand_points(after, seat)
    linkos = size_of(after.held[seat] & LINKOS) + size_of(after.twice[seat])
    return float((_mobility(after, seat) + _LINKO_WORTH * linkos) * SCORE_SCALE + points)


def _mobility(state: Any, seat: Any) -> Any:
    """The placements that a hand has on the board as it is, later turns' rules."""
    opening = openings(state, False)
    tiles, count = state.held[seat], 0
    while tiles != _ZERO:
        tile = first_in(tiles)
        tiles &= tiles - _ONE
        circle = BOARD.circles[tile // KINDS]
        code, turned = STRAIGHT[tile % KINDS], TURNED[tile % KINDS]
        count += size_of(fitting(state, opening, code) & circle)
        if turned != code:
            count += size_of(fitting(state, opening, turned) & circle)
    return count


# Positions from elsewhere


def flaw(state: Any, scratch: Any) -> Any:
    """What is wrong with a position, or ""."""
    return (
        _flaw_of_seats(state)
        or _flaw_of_tiles(state)
        or _flaw_of_board(state, scratch)
        or _flaw_of_match(state, scratch)
        or _flaw_of_turn(state)
    )


def _flaw_of_seats(state: Any) -> Any:
    in_bag = TILES - HAND * np.int64(state.num_players)  # when a round begins
    if state.bag_size > in_bag:
        return "bag_size: more than a round begins with"
    for seat in range(MAX_PLAYERS):
        held, twice = state.held[seat], state.twice[seat]
        if twice & ~(held & LINKOS) != _ZERO:
            return "twice: types that the seat doesn't hold, or that are no LINK-Os"
        if state.hand_size[seat] != size_of(held) + size_of(twice):
            return "hand_size: not what the seat holds"
        if state.dug[seat] > in_bag or state.hand_size[seat] > HAND + in_bag:
            return "dug, hand_size: more than the bag had"
        if seat >= state.num_players and (
            held != _ZERO
            or state.lacks[seat] != _ZERO
            or state.scores[seat] != 0
            or state.first_turn[seat] != 0
            or state.dug[seat] != 0
            or state.passed[seat] != 0
        ):
            return "held, lacks, scores: of more seats than there are players"
    return ""


def _flaw_of_tiles(state: Any) -> Any:
    """Every tile is in one place."""
    left = np.zeros(TYPES, np.int64)
    for tile in ALL_TILES:
        left[tile] += 1
    for drawn in range(TILES):
        tile = np.int64(state.bag[drawn])
        if (tile == NONE) != (drawn >= state.bag_size):
            return "bag: not as many tiles as bag_size says"
        if tile != NONE:
            left[tile] -= 1
    for seat in range(state.num_players):
        for word in (state.held[seat], state.twice[seat]):
            tiles = word
            while tiles != _ZERO:
                left[first_in(tiles)] -= 1
                tiles &= tiles - _ONE
    for space in range(MAX_SPACES):
        code, owner = np.int64(state.code[space]), np.int64(state.owner[space])
        if (code == NONE) != (owner == NONE) or owner >= state.num_players:
            return "owner: not a seat for each tile on the board"
        if code != NONE:
            if space >= BOARD.size:
                return "code: a tile off the board"
            left[BOARD.circle[space] * KINDS + KIND[code]] -= 1
    for kind in range(TYPES):
        if left[kind] != 0:
            return "held, bag, code: a tile is missing or there twice"
    return ""


def _flaw_of_board(state: Any, scratch: Any) -> Any:
    """Lays the tiles again on an empty board."""
    clear_board(scratch)
    for space in range(BOARD.size):
        code = np.int64(state.code[space])
        if code != NONE:
            if not fits(scratch, space, code):
                return "code: a tile that doesn't fit"
            place(scratch, space, code, np.int64(state.owner[space]))
    if state.occupied != scratch.occupied or state.adjacent != scratch.adjacent:
        return "occupied, adjacent: not what lies on the board"
    for space in range(MAX_SPACES):
        if state.value[space] != scratch.value[space]:
            return "value: not what lies on the board"
    for side in range(3):
        for value in range(VALUES):
            if state.shows[side, value] != scratch.shows[side, value]:
                return "shows: not what lies on the board"
    return ""


def _flaw_of_match(state: Any, scratch: Any) -> Any:
    """Rounds, and who has won."""
    if state.round_number > state.max_rounds:
        return "round_number: more than max_rounds"
    if state.starter >= state.num_players or state.last_winner >= state.num_players:
        return "starter, last_winner: no seats of the game"
    if (state.last_how == NOT_YET) != (state.round_number == 1 and state.seat != NONE):
        return "last_how: not what round_number and seat say"
    if (state.last_how == OUT and state.last_winner == NONE) or (
        state.last_how == NOT_YET and (state.last_winner != NONE or state.last_points != 0)
    ):
        return "last_winner, last_points: not what last_how says"
    if state.seat == NONE:
        scratch.winners = _NOBODY
        end_match(scratch)
        if scratch.winners == _NOBODY:
            return "seat: nobody is to act, but the match is not over"
        if scratch.winners != state.winners:
            return "winners: not what the scores say"
    elif _is_decided(state):
        return "scores: with these the match is over"
    return ""


def _is_decided(state: Any) -> Any:
    """R20: totals between rounds. A bonus counts at the end of its round, so then all may be."""
    best, leaders = _lead(state)
    decided = _count(leaders) == 1 if state.target > 0 else best > 0
    return decided and best >= state.target and state.circle_bonus == 0


def _flaw_of_turn(state: Any) -> Any:
    if state.seat == NONE:
        return ""
    for seat in range(state.num_players):
        if state.hand_size[seat] == 0:
            return "hand_size: 0, but the round is not over"
    seat = state.seat
    possible = placeable(state, state.first_turn[seat])
    if state.dug[seat] > 0 and possible & ~state.lacks[seat] != _ZERO:
        return "lacks: not all that the seat could place when it dug"
    possible &= state.held[seat]
    if possible == _ZERO:
        return "seat: it can't place any tile of its hand"
    # Worlds without inference give seats what they lack; with it, the seat needs a tile to place.
    if state.redeal_inference and state.dug[seat] == 0 and possible & ~state.lacks[seat] == _ZERO:
        return "lacks: all that the seat can place"
    return ""
