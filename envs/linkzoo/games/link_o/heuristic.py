"""The heuristic of the greedy agent."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o.components import KINDS, LINKOS, NONE, ONE, STRAIGHT, TURNED
from linkzoo.games.link_o.rules.placement import fitting, openings
from linkzoo.games.link_o.rules.tiles import first_in, hand_points, size_of
from linkzoo.games.link_o.state import SCORE_SCALE
from linkzoo.games.link_o.tables import BOARD

_ROUND_VALUE = 1e6  # above any mobility
_LINKO_VALUE = 32  # in placements


@compiled
def heuristic(before: Record, after: Record, seat: int) -> float:
    """Returns a placement's value: a won round, then the seat's mobility, then the tile's points.

    A LINK-O in the hand counts as 32 more placements: otherwise the greedy agent spends LINK-Os
    early and wins less.
    """
    if after.seat == NONE or after.round_number != before.round_number:
        if after.last_winner == NONE:
            return 0.0
        points = float(after.last_points)
        if after.last_winner == seat:
            return _ROUND_VALUE + points
        return -points
    points = hand_points(before, seat) - hand_points(after, seat)
    linkos = size_of(after.held[seat] & LINKOS) + size_of(after.twice[seat])
    return float((_mobility(after, seat) + _LINKO_VALUE * linkos) * SCORE_SCALE + points)


@compiled
def _mobility(state: Record, seat: int) -> int:
    """Returns the number of placements of a hand by the rules of later turns."""
    opening = openings(state, False)
    tiles = state.held[seat]
    count = 0
    while tiles:
        tile = first_in(tiles)
        tiles &= tiles - ONE
        circle = BOARD.circles[tile // KINDS]
        code = STRAIGHT[tile % KINDS]
        turned = TURNED[tile % KINDS]
        count += size_of(fitting(state, opening, code) & circle)
        if turned != code:
            count += size_of(fitting(state, opening, turned) & circle)
    return count
