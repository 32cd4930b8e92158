"""Validation of positions. Messages name the JSON fields, then those of the record."""

import numpy as np

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o import components, options
from linkzoo.games.link_o.board import MAX_SPACES, TILES
from linkzoo.games.link_o.components import LINKOS, MAX_PLAYERS, NONE, TYPES
from linkzoo.games.link_o.rules import placement
from linkzoo.games.link_o.rules.tiles import bit, size_of
from linkzoo.games.link_o.rules.turns import end_match, leaders_of
from linkzoo.games.link_o.state import NOT_YET, OUT
from linkzoo.games.link_o.tables import BOARD


@compiled
def validate(state: Record, scratch: Record) -> str:
    """Returns the error of a position, or ""."""
    return (
        _check_seats(state)
        or _check_tiles(state)
        or _check_board(state, scratch)
        or _check_match(state, scratch)
        or _check_turn(state)
    )


@compiled
def _check_seats(state: Record) -> str:
    in_bag = len(BOARD.tiles) - BOARD.hand * state.num_players  # when a round begins
    if state.bag_size > in_bag:
        return "bag (bag_size): more tiles than a round begins with"
    for seat in range(MAX_PLAYERS):
        held = state.held[seat]
        twice = state.twice[seat]
        if twice & ~(held & LINKOS):
            return "hands (twice): a tile held twice that isn't a LINK-O"
        if state.hand_size[seat] != size_of(held) + size_of(twice):
            return "hands (hand_size): not the number of tiles held"
        if state.dug[seat] > in_bag or state.hand_size[seat] > BOARD.hand + in_bag:
            return "dug, hands (hand_size): more than the bag had"
        if state.lacks[seat] & ~BOARD.types:
            return "lacks: a type that isn't among the tiles"
        turn = state.first_turn[seat] or state.dug[seat] or state.passed[seat]
        if seat >= state.num_players and (held or state.lacks[seat] or state.scores[seat] or turn):
            return "num_players: held, lacks or other fields of more seats than there are players"
    return ""


@compiled
def _check_tiles(state: Record) -> str:
    """Checks that every tile is in exactly one place."""
    missing = np.copy(BOARD.copies)  # by type
    for drawn in range(TILES):
        tile = state.bag[drawn]
        if (tile == NONE) != (drawn >= state.bag_size):
            return "bag: the number of tiles isn't bag_size"
        if tile != NONE:
            missing[tile] -= 1
    for seat in range(state.num_players):
        for types in (state.held[seat], state.twice[seat]):
            for tile in range(TYPES):
                if types & bit(tile):
                    missing[tile] -= 1
    for space in range(MAX_SPACES):
        code = state.code[space]
        owner = state.owner[space]
        if (code == NONE) != (owner == NONE) or owner >= state.num_players:
            return "board (owner): not a seat for each tile"
        if code != NONE:
            if space >= BOARD.size:
                return "board (code): a tile off the board"
            missing[BOARD.circle[space] * components.KINDS + components.KIND[code]] -= 1
    for tile in range(TYPES):
        if missing[tile] != 0:
            return "hands, bag, board (held, bag, code): a tile is missing or duplicated"
    return ""


@compiled
def _check_board(state: Record, scratch: Record) -> str:
    """Places all tiles anew on an empty board, and compares."""
    placement.clear_board(scratch)
    for space in range(BOARD.size):
        code = int(np.int64(state.code[space]))
        owner = int(np.int64(state.owner[space]))
        if code != NONE:
            empty = BOARD.spaces & ~scratch.occupied  # adjacent to another tile or not (R11, R12)
            opening = placement.open_in(scratch, empty, empty)
            if not placement.fitting(scratch, opening, code) & bit(space):
                return "board (code): a tile that doesn't fit"
            placement.place(scratch, space, code, owner)
    if state.occupied != scratch.occupied or state.adjacent != scratch.adjacent:
        return "board (occupied, adjacent): don't match the tiles"
    for space in range(MAX_SPACES):
        if state.value[space] != scratch.value[space]:
            return "board (value): doesn't match the tiles"
    for side in range(3):
        for value in range(components.VALUES):
            if state.shows[side, value] != scratch.shows[side, value]:
                return "board (shows): doesn't match the tiles"
    return ""


@compiled
def _check_match(state: Record, scratch: Record) -> str:
    """Checks the rounds and the winners."""
    if state.round_number > state.max_rounds:
        return "round (round_number): more than max_rounds"
    if state.starter >= state.num_players or state.last_winner >= state.num_players:
        return "starter, last_round (last_winner): not a seat of the game"
    if state.next_starter == options.FIRST_SEAT and state.starter != 0:
        return "starter: not the first seat"
    if (state.last_how == NOT_YET) != (state.round_number == 1 and state.seat != NONE):
        return "last_round (last_how): doesn't match the round and the seat"
    if (state.last_how == OUT and state.last_winner == NONE) or (
        state.last_how == NOT_YET and (state.last_winner != NONE or state.last_points != 0)
    ):
        return "last_round (last_winner, last_points): doesn't match last_how"
    if state.seat == NONE:
        scratch.winners = 0
        end_match(scratch)
        if not scratch.winners:
            return "seat: nobody is to act, but the match is not over"
        if scratch.winners != state.winners:
            return "winners: doesn't match the scores"
    elif _is_decided(state):
        return "scores: with these the match is over"
    return ""


@compiled
def _is_decided(state: Record) -> bool:
    """Returns whether the match would have ended before this round, with these totals (R20).

    With bonuses the totals may grow within the round, so that they show nothing.
    """
    if state.circle_bonus != 0:
        return False
    best, leaders = leaders_of(state)
    if state.target == 0:
        return best > 0
    return best >= state.target and size_of(leaders) == 1


@compiled
def _check_turn(state: Record) -> str:
    """Checks the hands and the known missing types against the seat to act."""
    if state.seat == NONE:
        return ""
    for seat in range(state.num_players):
        if state.hand_size[seat] == 0:
            return "hands (hand_size): a hand is empty, but the round is not over"
    seat = state.seat
    possible = placement.placeable(state, state.first_turn[seat])
    if state.dug[seat] > 0 and possible & ~state.lacks[seat]:
        return "lacks: a type that the seat could place when it dug is missing"
    possible &= state.held[seat]
    if not possible:
        return "seat: it can't place any tile of its hand"
    # Without inference a sampled world may give a seat types that it lacks.
    if state.redeal_inference and state.dug[seat] == 0 and not possible & ~state.lacks[seat]:
        return "lacks: every type that the seat can place"
    return ""
