"""Features of legal actions: the consequences of a placement before links are drawn."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links import components
from linkzoo.games.love_links.components import HAND_PLACES, SLOTS, TOTAL
from linkzoo.games.love_links.rules import closing_value, place
from linkzoo.games.love_links.state import side_of, slots_end
from linkzoo.games.love_links.tables import LINKS
from linkzoo.games.love_links.turn_points import legal_close_points, most_turn_points

_MAX_SHOWN = 127  # points; higher numbers look the same
_MAX_JOINS = HAND_PLACES * SLOTS * 2


def _feature(
    name: str, high: int, meaning: str, broadcast: bool = False, low: int = 0
) -> ObservationPart:
    return ObservationPart(name, (1,), low, min(high, _MAX_SHOWN), meaning, broadcast)


_FEATURES = (
    _feature("points", _MAX_SHOWN, "points of the action (R15, R16)"),
    _feature("close", 1, "1 if it closes a bracelet"),
    _feature("start", 1, "1 if it starts a bracelet"),
    _feature("match", 1, "1 if it is a match (R15)"),
    _feature("link_metal", 3, "metal points of the link"),
    _feature("link_stone", 10, "stone points of the link"),
    _feature("master", 1, "1 for the lock M"),
    # The bracelet that the link lies in; 0 if it was closed.
    _feature("length", TOTAL, "links of the bracelet"),
    _feature("value", _MAX_SHOWN, "what closing it is worth to the own side"),
    _feature("next_value", _MAX_SHOWN, "what closing it is worth to the next seat's side"),
    _feature("own_close_here", _MAX_SHOWN, "most points of closing it with the hand; 0: none"),
    _feature("next_close_here", _MAX_SHOWN, "most points of the next seat's closing it"),
    _feature("other_close_here", _MAX_SHOWN, "most points of another opponent's closing it"),
    _feature("supply_joins", TOTAL, "links in the round's supply that join it"),
    _feature("supply_closers", TOTAL, "links in the round's supply that fit both its ends"),
    # All bracelets.
    _feature("own_close", _MAX_SHOWN, "most points of closing a bracelet with the hand"),
    _feature("own_closes", HAND_PLACES, "links of the hand that close a bracelet"),
    _feature("next_close", _MAX_SHOWN, "most points of the next seat's closing a bracelet"),
    _feature("next_closes", HAND_PLACES, "links of the next seat's hand that close a bracelet"),
    _feature("other_close", _MAX_SHOWN, "most points of another opponent's closing a bracelet"),
    _feature("partner_close", _MAX_SHOWN, "most points of the partner's closing a bracelet"),
    _feature("next_turn", _MAX_SHOWN, "most points of the next seat's turn, if it came now"),
    _feature("other_turn", _MAX_SHOWN, "most points of another opponent's turn"),
    _feature("partner_turn", _MAX_SHOWN, "most points of the partner's turn"),
    _feature("own_matches", _MAX_JOINS, "matches that the hand has (R15)"),
    _feature("next_matches", _MAX_JOINS, "matches that the next seat's hand has"),
    _feature("own_joins", _MAX_JOINS, "joins that the hand has (R10)"),
    _feature("next_joins", _MAX_JOINS, "joins that the next seat's hand has"),
    _feature("hand_points", _MAX_SHOWN, "metal and stone points left in the hand"),
    # The same for all actions of a position.
    _feature("second_move", 1, "1 on the second move of a turn (R8)", True),
    _feature("round", 2, "0 bronze, 1 silver, 2 gold", True),
    _feature("supply", TOTAL, "links in the round's supply", True),
    _feature("hand", HAND_PLACES, "links in the hand before the action", True),
    _feature("lead", _MAX_SHOWN, "points ahead of the best other side", True, -_MAX_SHOWN),
    _feature("num_players", components.MAX_PLAYERS, "players", True),
)
ACTION_SPEC = ObservationSpec(_FEATURES)
_AT = ACTION_SPEC.starts()


@compiled
def action_features(state: Record, action: int, scratch: Record, out: NDArray[np.int8]) -> None:
    """Fills the features of an action (`ACTION_SPEC`); `scratch` is a copy of the position."""
    seat = int(state.seat)
    players = int(state.num_players)
    side = side_of(state, seat)
    out[:] = 0
    link = _link_of(state, action)
    after = scratch
    slot = place(after, action)
    closed = after.completed > state.completed
    points = int(after.scores[side]) - int(state.scores[side])
    out[_AT.points] = min(points, _MAX_SHOWN)
    out[_AT.close] = closed
    out[_AT.start] = action >= components.NEW
    out[_AT.match] = points > 0 and not closed
    out[_AT.link_metal] = LINKS.metal_points[link]
    out[_AT.link_stone] = LINKS.stone_points[link]
    out[_AT.master] = LINKS.lock[link] == components.MASTER
    following = (seat + 1) % players
    if not closed and slot != components.SET_ASIDE:
        _describe_bracelet(after, slot, seat, following, out)
    _describe_hand(after, seat, _AT.own_close, _AT.own_closes, _AT.own_matches, _AT.own_joins, out)
    _describe_hand(
        after, following, _AT.next_close, _AT.next_closes, _AT.next_matches, _AT.next_joins, out
    )
    _describe_turns(after, seat, out)
    hand_points = 0
    for number in range(after.hand_size[seat]):
        held = after.hands[seat, number]
        hand_points += LINKS.metal_points[held] + LINKS.stone_points[held]
    out[_AT.hand_points] = min(hand_points, _MAX_SHOWN)
    _describe_position(state, side, out)


@compiled
def _link_of(state: Record, action: int) -> int:
    """Returns the link that an action places."""
    number = action - components.NEW
    if number < 0:
        number = action // (SLOTS * components.MODES)
    return int(state.hands[state.seat, number])


@compiled
def _describe_bracelet(
    after: Record, slot: int, seat: int, following: int, out: NDArray[np.int8]
) -> None:
    """Describes the bracelet that the link is in."""
    players = int(after.num_players)
    side = side_of(after, seat)
    out[_AT.length] = after.length[slot]
    out[_AT.value] = min(max(closing_value(after, slot, side), 0), _MAX_SHOWN)
    next_value = closing_value(after, slot, side_of(after, following))
    out[_AT.next_value] = min(max(next_value, 0), _MAX_SHOWN)
    out[_AT.own_close_here] = _best_close(after, seat, slot)
    out[_AT.next_close_here] = _best_close(after, following, slot)
    for step in range(2, players):
        other = (seat + step) % players
        if side_of(after, other) != side:
            best = max(int(out[_AT.other_close_here]), _best_close(after, other, slot))
            out[_AT.other_close_here] = best
    metal = after.round_number
    for kind in range(LINKS.first_type[metal], LINKS.first_type[metal + 1]):
        at_key = LINKS.fits[after.key[slot], LINKS.lock[kind]]
        at_lock = LINKS.fits[LINKS.key[kind], after.lock[slot]]
        if at_key or at_lock:
            out[_AT.supply_joins] += after.left[kind]
        if at_key and at_lock:
            out[_AT.supply_closers] += after.left[kind]


@compiled
def _best_close(after: Record, seat: int, slot: int) -> int:
    """Returns the most points of a seat's closing a bracelet now, at most 127; 0 if it can't."""
    side = side_of(after, seat)
    best = 0
    for number in range(after.hand_size[seat]):
        link = int(after.hands[seat, number])
        best = max(best, legal_close_points(after, slot, link, side))
    return min(best, _MAX_SHOWN)


@compiled
def _describe_turns(after: Record, seat: int, out: NDArray[np.int8]) -> None:
    """Describes the turns of the other seats, and closing by those after the next seat."""
    players = int(after.num_players)
    side = side_of(after, seat)
    end = slots_end(after)
    for step in range(1, players):
        other = (seat + step) % players
        turn = min(most_turn_points(after, other), _MAX_SHOWN)
        if step == 1:
            out[_AT.next_turn] = turn
            continue
        close = 0
        for slot in range(end):
            close = max(close, _best_close(after, other, slot))
        if side_of(after, other) == side:
            out[_AT.partner_close] = close
            out[_AT.partner_turn] = turn
        else:
            out[_AT.other_close] = max(int(out[_AT.other_close]), close)
            out[_AT.other_turn] = max(int(out[_AT.other_turn]), turn)


@compiled
def _describe_hand(
    after: Record,
    seat: int,
    close: int,
    closes: int,
    matches: int,
    joins: int,
    out: NDArray[np.int8],
) -> None:
    """Describes the possible moves of a hand; the features are at these elements of `out`."""
    side = side_of(after, seat)
    end = slots_end(after)
    best = 0
    for number in range(after.hand_size[seat]):
        link = int(after.hands[seat, number])
        closing = 0
        for slot in range(end):
            if after.length[slot] == 0:
                continue
            at_key = LINKS.fits[after.key[slot], LINKS.lock[link]]
            at_lock = LINKS.fits[LINKS.key[link], after.lock[slot]]
            out[joins] += at_key + at_lock
            if at_key and after.key[slot] == LINKS.lock[link]:
                out[matches] += 1
            if at_lock and after.lock[slot] == LINKS.key[link]:
                out[matches] += 1
            closing = max(closing, legal_close_points(after, slot, link, side))
        best = max(best, closing)
        out[closes] += closing > 0
    out[close] = min(best, _MAX_SHOWN)


@compiled
def _describe_position(state: Record, side: int, out: NDArray[np.int8]) -> None:
    """Describes the position before the action."""
    best = -_MAX_SHOWN
    for other in range(components.NUM_SIDES[state.num_players]):
        if other != side:
            best = max(best, int(state.scores[other]))
    lead = int(state.scores[side]) - best
    out[_AT.second_move] = state.move == 2
    out[_AT.round] = state.round_number
    out[_AT.supply] = state.supply_size[state.round_number]
    out[_AT.hand] = state.hand_size[state.seat]
    out[_AT.lead] = min(max(lead, -_MAX_SHOWN), _MAX_SHOWN)
    out[_AT.num_players] = state.num_players
