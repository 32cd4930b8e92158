"""Reduced positions of Linkage: only the features that affect the rest of the game.

A reduced position has no cells out of reach of any piece, no groups that nothing can touch and no
colours without supply, and a colour is only the liberties of its groups. So positions that differ
in settled features or in the names of the colours are equal, for every threshold.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage import components
from linkzoo.games.linkage.components import BOARD, EMPTY, NUM_COLOURS, ONE, PLACEMENTS
from linkzoo.games.linkage.rules import beside, component, free_cells, horizontals, verticals

_MAX_GROUPS = 6  # of a colour: it has no more pieces

_FIELDS = [
    ("key", "u8"),  # hash of all fields below
    ("place", "u8"),  # another hash, of the open cells
    ("open", "u8"),  # cells that a piece can still cover
    ("usable", "u8"),  # cells that the next piece can cover (R4)
    ("liberties", "u8", (NUM_COLOURS, _MAX_GROUPS)),  # open cells beside each group
    ("colours", "u8", (NUM_COLOURS,)),  # hash of each colour's liberties and supply
    ("groups", "i8", (NUM_COLOURS,)),  # number of groups with liberties
    ("supply", "i8", (NUM_COLOURS,)),  # at most the pieces that the open cells have room for
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
    """Returns the number of cells of a set."""
    cells -= (cells >> ONE) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    cells = (cells & pairs) + ((cells >> np.uint64(2)) & pairs)
    cells = (cells + (cells >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    cells = (cells * np.uint64(0x0101010101010101)) >> np.uint64(56)
    return np.int64(cells)  # type: ignore[return-value]  # int64


@compiled
def most_pieces(cells: np.uint64) -> int:
    """Returns an upper bound of the pieces on some cells: each covers an even and an odd cell."""
    return min(_count(cells & _EVEN), _count(cells & ~_EVEN))


@compiled
def _paired(cells: np.uint64) -> np.uint64:
    """Returns the cells that have a neighbour among them."""
    return cells & beside(cells)


@compiled
def _finish(node: Record) -> None:
    """Limits the supplies to the room of the open cells, and sets the hashes."""
    room = _count(node.open) // 2
    node.place = _mix(node.open + _SALT[0])
    key = node.place + _mix(node.usable + _SALT[1])
    for colour in range(NUM_COLOURS):
        node.supply[colour] = min(node.supply[colour], room)
        if node.supply[colour] == 0:
            node.groups[colour] = 0
        colour_hash = np.uint64(node.supply[colour])
        for group in range(node.groups[colour]):
            colour_hash += _mix(node.liberties[colour, group] + _SALT[2])
        node.colours[colour] = _mix(colour_hash)
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
        count = 0
        rest = state.coloured[colour]
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
    """Fills the position after a placement and any forced pass; returns the groups it adds."""
    played = action // PLACEMENTS  # colour
    placement = action % PLACEMENTS
    piece = BOARD.covered[placement]
    touching = BOARD.touching[placement]
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
    """Returns bounds of the further groups under any play.

    Upper bound: a piece is a new group only where its colour has no liberty, and a colour loses a
    liberty only to a piece. Lower bound: however many pieces of a colour are placed in a connected
    part of the open cells, at best they and the m groups with liberties there end as one group,
    which adds 1 - m. Every part takes a piece, and at most as many colours as pieces.
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
    low = 0
    high = 0
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
    most = -1  # groups of a colour with liberties in the part
    merging = 0  # colours that can merge groups there
    low = 0
    for colour in range(NUM_COLOURS):
        if node.supply[colour] > 0:
            groups = 0
            for group in range(node.groups[colour]):
                groups += node.liberties[colour, group] & part != EMPTY
            if groups > 1:
                merging += 1
                low += 1 - groups
            most = max(most, groups)
    if merging <= 1 or room == 1:
        return 1 - most
    return low


@compiled
def list_actions(node: Record, actions: NDArray[np.int16]) -> int:
    """Fills the actions to try, of equal colours only the first's; returns their number."""
    across = horizontals(node.usable)
    down = verticals(node.usable)
    count = 0
    for colour in range(NUM_COLOURS):
        skipped = node.supply[colour] == 0
        for other in range(colour):
            skipped |= node.colours[other] == node.colours[colour]
        if skipped:
            continue
        for placement in range(PLACEMENTS):
            piece = BOARD.covered[placement]
            first_cell = piece & (~piece + ONE)
            possible = across if placement < components.HORIZONTAL else down
            if possible & first_cell != EMPTY:
                actions[count] = colour * PLACEMENTS + placement
                count += 1
    return count


@compiled
def rank(node: Record, added: int, after: Record) -> int:
    """Returns an action's priority in the search; weights were tuned on 80 positions of ply 12.

    More prefers many groups, few replies and few liberties; Fewer prefers few groups, few replies
    and few open cells.
    """
    replies = _count(horizontals(after.usable)) + _count(verticals(after.usable))
    if node.more == 0:
        return -10 * added - replies - _count(after.open)
    liberties = 0
    for colour in range(NUM_COLOURS):
        for group in range(after.groups[colour]):
            liberties += _count(after.liberties[colour, group])
    return 4 * added - replies - liberties
