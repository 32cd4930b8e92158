"""The heuristic of greedy play."""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.link_o.components import KINDS, LINKOS, NONE, ONE, STRAIGHT, TURNED
from linkzoo.games.link_o.rules.placement import fitting, openings
from linkzoo.games.link_o.rules.tiles import first_in, hand_points, size_of
from linkzoo.games.link_o.state import SCORE_SCALE
from linkzoo.games.link_o.tables import BOARD

_ROUND_WORTH = 1e6  # more than any mobility
_LINKO_WORTH = 32  # placements


@compiled
def heuristic(before: Record, after: Record, seat: int) -> float:
    """Returns how good a placement was: a round won, then own mobility, then the points laid down.

    A LINK-O in the hand counts as 32 placements more than it has now: without that, greedy play
    gives LINK-Os away and wins less.
    """
    if after.seat == NONE or after.round_number != before.round_number:
        if after.last_winner == NONE:
            return 0.0
        points = float(after.last_points)
        return _ROUND_WORTH + points if after.last_winner == seat else -points
    points = hand_points(before, seat) - hand_points(after, seat)
    linkos = size_of(after.held[seat] & LINKOS) + size_of(after.twice[seat])
    return float((_mobility(after, seat) + _LINKO_WORTH * linkos) * SCORE_SCALE + points)


@compiled
def _mobility(state: Record, seat: int) -> int:
    """Returns how many placements a hand has on this board by the rules of later turns."""
    opening = openings(state, False)
    tiles, count = state.held[seat], 0
    while tiles:
        tile = first_in(tiles)
        tiles &= tiles - ONE
        circle = BOARD.circles[tile // KINDS]
        code, turned = STRAIGHT[tile % KINDS], TURNED[tile % KINDS]
        count += size_of(fitting(state, opening, code) & circle)
        if turned != code:
            count += size_of(fitting(state, opening, turned) & circle)
    return count
