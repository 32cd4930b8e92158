"""The reduced position: what still matters of a position of Linkage.

Cells that no piece can reach any more, groups that nothing can touch any more and colours that are
used up are gone, and a colour is known by the liberties of its groups alone. So positions that
differ in what is settled or in the names of the colours are the same, for every threshold.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import EMPTY, NUM_COLOURS, ONE, PLACEMENTS
from linkzoo.games.linkage.rules import beside, component, free_cells, horizontals, verticals

_MAX_GROUPS = 6  # of a colour: it has no more pieces

_FIELDS = [
    ("key", "u8"),  # hash of all below
    ("place", "u8"),  # another of the open cells
    ("open", "u8"),  # cells that a piece can still cover
    ("usable", "u8"),  # those that the next one can (R4)
    ("liberties", "u8", (NUM_COLOURS, _MAX_GROUPS)),  # open cells beside each group
    ("colours", "u8", (NUM_COLOURS,)),  # hash of each colour's liberties and supply
    ("groups", "i8", (NUM_COLOURS,)),  # that have liberties
    ("supply", "i8", (NUM_COLOURS,)),  # but no more than open cells have room for
    ("more", "i8"),  # 1 if More is to move, else 0
]
NODE = np.dtype((np.record, _FIELDS))  # a reduced position

_EVEN = np.uint64(sum(1 << cell for cell in range(0, components.CELLS, 2)))  # r + c is even
_SALT = np.array(
    [0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7, 0xABC98388FB8FAC03], np.uint64
)


@compiled
def _mix(value: np.uint64) -> np.uint64:
    """Returns a hash of 64 bits (the finaliser of MurmurHash3)."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@compiled
def _count(cells: np.uint64) -> int:
    """Returns how many cells a set has."""
    cells -= (cells >> ONE) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    cells = (cells & pairs) + ((cells >> np.uint64(2)) & pairs)
    cells = (cells + (cells >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    cells = (cells * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(cells)  # type: ignore[return-value]  # int64


@compiled
def most_pieces(cells: np.uint64) -> int:
    """Returns a bound of the pieces that fit on some cells: each covers an even and an odd one."""
    return min(_count(cells & _EVEN), _count(cells & ~_EVEN))


@compiled
def _paired(cells: np.uint64) -> np.uint64:
    """Returns the cells that have a neighbour among them."""
    return cells & beside(cells)


@compiled
def _finish(node: Record) -> None:
    """Drops what the open cells have no room for, and sets the hashes."""
    room = _count(node.open) // 2
    node.place = _mix(node.open + _SALT[0])
    key = node.place + _mix(node.usable + _SALT[1])
    for colour in range(NUM_COLOURS):
        node.supply[colour] = min(node.supply[colour], room)
        if node.supply[colour] == 0:
            node.groups[colour] = 0
        own = np.uint64(node.supply[colour])
        for group in range(node.groups[colour]):
            own += _mix(node.liberties[colour, group] + _SALT[2])
        node.colours[colour] = _mix(own)
        key += _mix(node.colours[colour] + _SALT[3])
    node.key = _mix(key + np.uint64(node.more)) | ONE  # not 0


@compiled
def open_cells(state: Record) -> np.uint64:
    """Returns the cells of a record that a piece can still cover."""
    return _paired(free_cells(state, False))


@compiled
def reduce_position(state: Record, node: Record) -> None:
    """Fills the reduced position of a record in which a piece is to be placed."""
    node.open = open_cells(state)
    node.usable = _paired(free_cells(state, True))
    node.more = state.seat == state.more
    for colour in range(NUM_COLOURS):
        node.supply[colour] = state.supply[colour]
        count, rest = 0, state.coloured[colour]
        while rest != EMPTY:
            group = component(rest & (~rest + ONE), rest)
            rest &= ~group
            liberties = beside(group) & node.open
            if liberties != EMPTY:
                node.liberties[colour, count] = liberties
                count += 1
        node.groups[colour] = count
    _finish(node)


@compiled
def place(node: Record, action: int, after: Record) -> int:
    """Fills the position after a placement and the pass it forces; returns the groups it adds."""
    played, placement = action // PLACEMENTS, action % PLACEMENTS
    piece = components.PLACEMENT_BITS[placement]
    touching = components.TOUCHING_BITS[placement]
    still_open = _paired(node.open & ~piece)
    after.open = still_open
    after.usable = _paired(still_open & ~touching)
    after.more = 1 - node.more
    if after.usable == EMPTY:  # R6
        after.usable = still_open
        after.more = node.more
    added = 1
    for colour in range(NUM_COLOURS):
        count = 0
        for group in range(node.groups[colour]):
            liberties = node.liberties[colour, group]
            if colour == played and liberties & piece != EMPTY:
                touching |= liberties
                added -= 1
            elif liberties & still_open != EMPTY:
                after.liberties[colour, count] = liberties & still_open
                count += 1
        if colour == played and touching & still_open != EMPTY:
            after.liberties[colour, count] = touching & still_open
            count += 1
        after.groups[colour] = count
        after.supply[colour] = node.supply[colour] - (colour == played)
    _finish(after)
    return added


@compiled
def bounds(node: Record) -> tuple[int, int]:
    """Returns bounds of the further groups, whoever plays how.

    Upwards: a piece is a new group only where its colour has no liberty, and no colour ever loses
    one but to a piece. Downwards: however many pieces of a colour are placed in a connected part
    of the open cells, at best they and the m groups with liberties there end as one group, which
    adds 1 - m. Every part takes a piece, and at most as many colours as pieces.
    """
    fresh = EMPTY
    merged = 0
    for colour in range(NUM_COLOURS):
        merged += max(node.groups[colour] - 1, 0)
        if node.supply[colour] > 0:
            lone = node.open
            for group in range(node.groups[colour]):
                lone &= ~node.liberties[colour, group]
            fresh |= _paired(lone)
    low, high = 0, 0
    rest = node.open
    while rest != EMPTY:
        part = component(rest & (~rest + ONE), rest)
        rest &= ~part
        high += most_pieces(part & fresh)
        low += _min_added(node, part)
    return max(low, -merged), high


@compiled
def _min_added(node: Record, part: np.uint64) -> int:
    """Returns a lower bound of the groups that the pieces of a connected part add."""
    room = most_pieces(part)
    most, others, low = -1, 0, 0
    for colour in range(NUM_COLOURS):
        if node.supply[colour] > 0:
            here = 0
            for group in range(node.groups[colour]):
                here += node.liberties[colour, group] & part != EMPTY
            if here > 1:
                others += 1
                low += 1 - here
            most = max(most, here)
    if others <= 1 or room == 1:
        return 1 - most
    return low


@compiled
def list_actions(node: Record, actions: NDArray[np.int16]) -> int:
    """Fills the actions to try, of equal colours the first only; returns their number."""
    across, down = horizontals(node.usable), verticals(node.usable)
    count = 0
    for colour in range(NUM_COLOURS):
        again = node.supply[colour] == 0
        for other in range(colour):
            again |= node.colours[other] == node.colours[colour]
        if again:
            continue
        for placement in range(PLACEMENTS):
            piece = components.PLACEMENT_BITS[placement]
            first = (down if placement >= components.HORIZONTAL else across) & piece
            if first & (~piece + ONE) != EMPTY:
                actions[count] = colour * PLACEMENTS + placement
                count += 1
    return count


@compiled
def rank(node: Record, added: int, after: Record) -> int:
    """Returns how early to search an action; the weights were tuned on 80 positions of ply 12.

    More prefers many groups, few replies and few liberties; Fewer few groups, few replies and few
    open cells.
    """
    replies = _count(horizontals(after.usable)) + _count(verticals(after.usable))
    if node.more == 0:
        return -10 * added - replies - _count(after.open)
    liberties = 0
    for colour in range(NUM_COLOURS):
        for group in range(after.groups[colour]):
            liberties += _count(after.liberties[colour, group])
    return 4 * added - replies - liberties
