"""The most points that a hand makes in a turn. R8 to R16 refer to RULES.md.

A turn has two moves (R8): two links of the hand are joined to two bracelets, or to one. The hand is
refilled after the turn, so nothing unknown matters.
"""

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.love_links.rules import closing_link_points, closing_points, closing_value
from linkzoo.games.love_links.state import side_of, slots_end
from linkzoo.games.love_links.tables import LINKS

_TWO_MATCHES = 1 + 3  # points (R15)
_LONGER = 2  # points for one more link of a completed bracelet (R16)
_MOST_OF_TWO_LINKS = 2 * (3 + 10) + 2 * 4 + 1  # points: metals, stones, both ends, one match


@compiled
def most_turn_points(state: Record, seat: int) -> int:
    """Returns the most points of a seat's turn, were it the seat's turn now.

    Bracelets that the turn itself starts (R11, R12) aren't joined in it: that would be worth a
    point at most.
    """
    end = slots_end(state)
    best = 0
    for place in range(state.hand_size[seat]):
        for slot in range(end):
            if state.length[slot] > 0:
                best = max(best, _with_another(state, seat, place, slot, end))
    for slot in range(end):
        if state.length[slot] > 0:
            completed = _completed_value(state, seat, slot)
            bound = _TWO_MATCHES if completed == 0 else completed + _MOST_OF_TWO_LINKS
            if bound > best:
                best = max(best, _in_one_bracelet(state, seat, slot, completed))
    return best


@compiled
def _with_another(state: Record, seat: int, place: int, slot: int, end: int) -> int:
    """Returns the most points of a link here, with an earlier link of the hand elsewhere or alone.

    0 if the link itself makes none here.
    """
    side = side_of(state, seat)
    link = int(state.hands[seat, place])
    match = _match(state, slot, link)
    close = legal_close_points(state, slot, link, side)
    best = max(match, close)
    if best == 0:
        return 0
    # A move that closes starts a bracelet, too, with a third link (R12).
    may_close_both = state.hand_size[seat] > 2
    for other in range(place):
        other_link = int(state.hands[seat, other])
        for other_slot in range(end):
            if other_slot == slot or state.length[other_slot] == 0:
                continue
            other_match = _match(state, other_slot, other_link)
            other_close = legal_close_points(state, other_slot, other_link, side)
            if match and other_match:
                best = max(best, _TWO_MATCHES)
            best = max(best, match + other_close, close + other_match)
            if may_close_both:
                best = max(best, close + other_close)
    return best


@compiled
def _completed_value(state: Record, seat: int, slot: int) -> int:
    """Returns the points of a bracelet that two links complete, without theirs; 0 if they don't."""
    if state.length[slot] + 2 < LINKS.closed_length:
        return 0
    return int(closing_value(state, slot, side_of(state, seat)) + _LONGER)


@compiled
def _in_one_bracelet(state: Record, seat: int, slot: int, completed: int) -> int:
    """Returns the most points of joining two links of a hand to one bracelet."""
    key = int(state.key[slot])
    lock = int(state.lock[slot])
    best = 0
    for place in range(state.hand_size[seat]):
        link = int(state.hands[seat, place])
        if LINKS.fits[key, LINKS.lock[link]]:
            match = int(LINKS.lock[link] == key)
            points = _of_second_link(state, seat, place, LINKS.key[link], lock, match, completed)
            best = max(best, match + points)
        if LINKS.fits[LINKS.key[link], lock]:
            match = int(LINKS.key[link] == lock)
            points = _of_second_link(state, seat, place, key, LINKS.lock[link], match, completed)
            best = max(best, match + points)
    return best


@compiled
def _of_second_link(
    state: Record, seat: int, first: int, key: int, lock: int, matched: int, completed: int
) -> int:
    """Returns the most points of a turn's second move on the bracelet that the first has joined.

    `key` and `lock` are the bracelet's ends after the first move.
    """
    link = state.hands[seat, first]
    first_points = LINKS.metal_points[link] + LINKS.stone_points[link]
    best = 0
    for place in range(state.hand_size[seat]):
        if place == first:
            continue
        second = int(state.hands[seat, place])
        if LINKS.lock[second] == key or LINKS.key[second] == lock:
            best = max(best, 3 if matched else 1)
        fits = LINKS.fits[key, LINKS.lock[second]] and LINKS.fits[LINKS.key[second], lock]
        if fits and completed > 0:
            best = max(best, completed + first_points + closing_link_points(second, key, lock))
    return best


@compiled
def _match(state: Record, slot: int, link: int) -> int:
    """Returns 1 if a link matches a bracelet, else 0: its points as a turn's first match (R15)."""
    return int(LINKS.lock[link] == state.key[slot] or LINKS.key[link] == state.lock[slot])


@compiled
def legal_close_points(state: Record, slot: int, link: int, side: int) -> int:
    """Returns the points of closing a bracelet with a link; 0 if that is illegal (R10)."""
    if state.length[slot] + 1 < LINKS.closed_length:
        return 0
    key = int(state.key[slot])
    lock = int(state.lock[slot])
    if LINKS.fits[key, LINKS.lock[link]] and LINKS.fits[LINKS.key[link], lock]:
        return int(closing_points(state, slot, link, side))
    return 0
