"""Features of legal actions: the consequences of a placement that the seat to act can know.

Unseen tiles are in the other hands and the bag; a seat knows their types, not their holders.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.observation import ObservationPart, ObservationSpec
from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled, local
from linkzoo.games.link_o import components
from linkzoo.games.link_o.board import BAG, CIRCLES, HAND, MAX_SPACES
from linkzoo.games.link_o.components import EMPTY, KIND, KINDS, LINKO, LINKOS, MAX_PLAYERS, ONE
from linkzoo.games.link_o.rules import placement, tiles
from linkzoo.games.link_o.rules.tiles import bit, first_in, hand_points, size_of
from linkzoo.games.link_o.tables import BOARD

_PERCENT = 100
_MAX_SHOWN = 127  # points and placements; higher numbers look the same
_MAX_HAND = HAND + BAG


def _feature(name: str, high: int, meaning: str, broadcast: bool = False) -> ObservationPart:
    return ObservationPart(name, (1,), 0, high, meaning, broadcast)


_FEATURES = (
    _feature("points", components.LINKO_POINTS, "points of the tile placed (R17)"),
    _feature("linko", 1, "1 for a LINK-O"),
    _feature("connector", 1, "1 on a connector"),
    _feature("neighbours", 3, "occupied neighbours of the space"),
    _feature("circle_done", 1, "1 if the circle is complete (R23)"),
    _feature("goes_out", 1, "1 if the hand is empty (R17)"),
    _feature("hand_points", _MAX_SHOWN, "points left in the hand"),
    _feature("hand_types", _MAX_HAND, "types left in the hand"),
    _feature("hand_linkos", 2 * CIRCLES, "LINK-Os left in the hand"),
    _feature("stuck_points", _MAX_SHOWN, "points of the hand's tiles that fit nowhere"),
    _feature("fitting", _MAX_HAND, "tiles of the hand that fit somewhere"),
    _feature("flexible", _MAX_HAND, "tiles of the hand that fit on several spaces"),
    _feature("secure", _MAX_HAND, "tiles of the hand that fit where no unseen tile does"),
    _feature("placements", _MAX_SHOWN, "placements that the hand has"),
    _feature("unseen_share", _PERCENT, "percent of the unseen tiles that fit somewhere"),
    _feature("unseen_types", components.TYPES, "types of unseen tiles that fit somewhere"),
    _feature("unseen_linkos", 2 * CIRCLES, "unseen LINK-Os"),
    _feature("own_spaces", MAX_SPACES, "spaces that only the hand fits"),
    _feature("linko_spaces", MAX_SPACES, "spaces that only LINK-Os of the hand fit"),
    _feature("other_spaces", MAX_SPACES, "spaces that only unseen tiles fit"),
    _feature("shared_spaces", MAX_SPACES, "spaces that both fit"),
    _feature("dead_spaces", MAX_SPACES, "spaces beside tiles that nothing left fits"),
    _feature("circle_spaces", MAX_SPACES, "spaces of the tile's circle that something fits"),
    _feature("blocked", MAX_SPACES, "empty connectors that meet two values (R12)"),
    _feature("next_stuck", _PERCENT, "chance in percent that the next seat has no placement"),
    _feature("second_stuck", _PERCENT, "the same of the seat after it; 0 without one"),
    _feature("all_stuck", _PERCENT, "chance in percent that no other seat has a placement"),
    # The same for all actions of a position.
    _feature("bag_size", BAG, "tiles in the bag", True),
    _feature("own_hand", _MAX_HAND, "tiles in the hand before the action", True),
    _feature("next_hand", _MAX_HAND, "tiles in the next seat's hand", True),
    _feature("smallest_hand", _MAX_HAND, "tiles in the smallest other hand", True),
    _feature("num_players", MAX_PLAYERS, "players", True),
    _feature("not_begun", MAX_PLAYERS, "others whose first turn is to come (R6)", True),
)
ACTION_SPEC = ObservationSpec(_FEATURES)
_AT = ACTION_SPEC.starts()


@compiled
def action_features(state: Record, action: int, scratch: Record, out: NDArray[np.int8]) -> None:
    """Fills the features of an action (`ACTION_SPEC`); `scratch` is a copy of the position."""
    seat = int(np.int64(state.seat))  # int64 in all calls of `place`, which is compiled once
    space = action // components.CODES
    code = action % components.CODES
    tiles.take_from_hand(scratch, seat, BOARD.circle[space] * KINDS + KIND[code])
    placement.place(scratch, space, code, seat)
    out[:] = 0
    _describe_move(state, scratch, space, KIND[code], out)
    once, twice = tiles.hidden_from(state, seat)
    fitting = _describe_spaces(scratch, seat, BOARD.circles[BOARD.circle[space]], once, twice, out)
    _describe_others(state, scratch, fitting, once, twice, out)


@compiled
def _describe_move(
    state: Record, after: Record, space: int, kind: int, out: NDArray[np.int8]
) -> None:
    """Describes the tile and the space, and the hand after the move."""
    seat = state.seat
    near = bit(BOARD.prev[space]) | bit(BOARD.next[space])
    if BOARD.partner[space] != components.NONE:
        near |= bit(BOARD.partner[space])
        out[_AT.connector] = 1
    circle = BOARD.circles[BOARD.circle[space]]
    out[_AT.points] = components.POINTS[kind]
    out[_AT.linko] = kind == LINKO
    out[_AT.neighbours] = size_of(near & state.occupied)
    out[_AT.circle_done] = after.occupied & circle == circle
    out[_AT.goes_out] = after.hand_size[seat] == 0
    out[_AT.hand_points] = min(hand_points(after, seat), _MAX_SHOWN)
    out[_AT.hand_types] = size_of(after.held[seat])
    out[_AT.hand_linkos] = size_of(after.held[seat] & LINKOS) + size_of(after.twice[seat])


@compiled
def _describe_spaces(
    after: Record,
    seat: int,
    circle: np.uint64,
    once: np.uint64,
    twice: np.uint64,
    out: NDArray[np.int8],
) -> np.uint64:
    """Describes where hand and unseen tiles fit; returns the types that fit somewhere."""
    opening = placement.openings(after, False)
    everywhere = local(KINDS, np.uint64)  # the spaces of any colour that a kind fits
    for kind in range(KINDS):
        everywhere[kind] = placement.fitting_kind(after, opening, kind)
    own_but_linkos, own_linkos, others, fitting = _fits(everywhere, after.held[seat], once)
    _describe_hand(after, seat, everywhere, others, out)
    own = own_but_linkos | own_linkos
    empty = BOARD.spaces & ~after.occupied
    unseen = size_of(once) + size_of(twice)
    unseen_fitting = size_of(once & fitting) + size_of(twice & fitting)
    out[_AT.unseen_share] = _PERCENT * unseen_fitting // max(unseen, 1)
    out[_AT.unseen_types] = size_of(once & fitting)
    out[_AT.unseen_linkos] = size_of(once & LINKOS) + size_of(twice)
    out[_AT.own_spaces] = size_of(own & ~others)
    out[_AT.linko_spaces] = size_of(own & ~own_but_linkos & ~others)
    out[_AT.other_spaces] = size_of(others & ~own)
    out[_AT.shared_spaces] = size_of(own & others)
    out[_AT.dead_spaces] = size_of(empty & after.adjacent & ~(own | others))
    out[_AT.circle_spaces] = size_of((own | others) & circle)
    out[_AT.blocked] = size_of(_meeting_several(after) & empty & BOARD.connectors)
    return fitting


@compiled
def _fits(
    everywhere: NDArray[np.uint64], held: np.uint64, hidden: np.uint64
) -> tuple[np.uint64, np.uint64, np.uint64, np.uint64]:
    """Returns where tiles fit, and the types that fit somewhere.

    The spaces are those of the hand's pairs, of the hand's LINK-Os, and of the hidden tiles.
    """
    pairs = EMPTY
    linkos = EMPTY
    others = EMPTY
    fitting = EMPTY
    for colour in range(CIRCLES):
        first = np.uint64(KINDS * colour)
        hidden_kinds = hidden >> first
        held_kinds = held >> first
        kinds = EMPTY
        for kind in range(KINDS):  # `_if_any` selects values: branches would take most of the time
            spaces = everywhere[kind] & BOARD.circles[colour]
            kinds |= _if_any(spaces, bit(kind))
            others |= _if_any(hidden_kinds & bit(kind), spaces)
            if kind != LINKO:
                pairs |= _if_any(held_kinds & bit(kind), spaces)
        linkos |= _if_any(held_kinds & bit(LINKO), everywhere[LINKO] & BOARD.circles[colour])
        fitting |= kinds << first
    return pairs, linkos, others, fitting


@compiled
def _if_any(condition: np.uint64, members: np.uint64) -> np.uint64:
    """Returns the members if the first set isn't empty, else the empty set."""
    return members if condition else EMPTY


@compiled
def _describe_hand(
    after: Record,
    seat: int,
    everywhere: NDArray[np.uint64],
    others: np.uint64,
    out: NDArray[np.int8],
) -> None:
    """Describes how the tiles of the hand fit; `others` are the spaces that unseen tiles fit."""
    stuck_points = 0
    placements = 0
    fitting = 0
    flexible = 0
    secure = 0
    rest = after.held[seat]
    while rest:
        tile = first_in(rest)
        rest &= rest - ONE
        spaces = everywhere[tile % KINDS] & BOARD.circles[tile // KINDS]
        copies = 1
        if after.twice[seat] & bit(tile):
            copies = 2
        if not spaces:
            stuck_points += copies * components.POINTS[tile % KINDS]
            continue
        placements += size_of(spaces)
        fitting += copies
        if spaces & (spaces - ONE):  # several spaces
            flexible += copies
        if spaces & ~others:
            secure += copies
    out[_AT.stuck_points] = min(stuck_points, _MAX_SHOWN)
    out[_AT.placements] = min(placements, _MAX_SHOWN)
    out[_AT.fitting] = fitting
    out[_AT.flexible] = flexible
    out[_AT.secure] = secure


@compiled
def _meeting_several(state: Record) -> np.uint64:
    """Returns the spaces that meet two or more values (R12)."""
    met = EMPTY
    several = EMPTY
    for value in range(components.VALUES):
        meeting = placement.spaces_meeting(state, value)
        several |= met & meeting
        met |= meeting
    return several


@compiled
def _describe_others(
    state: Record,
    after: Record,
    fitting: np.uint64,
    once: np.uint64,
    twice: np.uint64,
    out: NDArray[np.int8],
) -> None:
    """Describes the other seats: hands, and the chances that no tile of a hand fits."""
    players = state.num_players
    smallest = _MAX_HAND
    all_stuck = 1.0
    first_fitting = _fitting_at_first(state, after)
    for step in range(1, players):
        other = (state.seat + step) % players
        types = fitting
        if state.first_turn[other]:
            types = first_fitting
            out[_AT.not_begun] += 1
        single = once & ~state.lacks[other]
        double = twice & ~state.lacks[other]
        count = size_of(single) + size_of(double)
        fit = size_of(single & types) + size_of(double & types)
        stuck = _none_fits(count, fit, state.hand_size[other])
        all_stuck *= stuck
        smallest = min(smallest, int(np.int64(state.hand_size[other])))
        if step == 1:
            out[_AT.next_hand] = state.hand_size[other]
            out[_AT.next_stuck] = int(_PERCENT * stuck)
        elif step == 2:
            out[_AT.second_stuck] = int(_PERCENT * stuck)
    out[_AT.all_stuck] = int(_PERCENT * all_stuck)
    out[_AT.bag_size] = state.bag_size
    out[_AT.own_hand] = state.hand_size[state.seat]
    out[_AT.smallest_hand] = smallest
    out[_AT.num_players] = players


@compiled
def _fitting_at_first(state: Record, after: Record) -> np.uint64:
    """Returns the types that fit on a first turn (R6); none if no other seat's is to come."""
    for step in range(1, state.num_players):
        if state.first_turn[(state.seat + step) % state.num_players]:
            return placement.placeable(after, True)
    return EMPTY


@compiled
def _none_fits(count: int, fit: int, drawn: int) -> float:
    """Returns the chance that no tile fits of `drawn` from `count` tiles, of which `fit` fit."""
    chance = 1.0
    for i in range(drawn):
        chance *= max(count - fit - i, 0) / max(count - i, 1)
    return chance
