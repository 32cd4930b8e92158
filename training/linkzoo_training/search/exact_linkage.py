"""The exact solver of Linkage: how a position ends when both sides play perfectly.

The compiled search answers one question with yes or no: can More bring about at least so many
further groups? It is a depth-first search with a transposition table, after Knuth and Moore, "An
analysis of alpha-beta pruning", 1975, with windows of one. Three things make it fast:

- It searches what is left of a position (`_NODE`), not the position: cells that no piece can reach
  any more, groups that nothing can touch any more and colours that are used up are gone, and a
  colour is known by the liberties of its groups alone. So the table recognises positions that
  differ in what is settled or in the names of the colours, and holds for every threshold.
- Bounds from the connected parts of the open cells (`_bounds`) decide most positions at once.
- All actions are looked at, in the bounds and in the table, before the first is searched.

The table takes two positions for one if 63 bits of their hashes agree and, where their open cells
differ, 21 bits of another hash: in a search of a million positions that happens with a probability
below one in a million.
"""

from typing import Any

import numpy as np

from linkzoo import get_game
from linkzoo.compiled import Record, compiled
from linkzoo.linkage.pieces import (
    CELLS,
    HOLE_ACTION,
    HORIZONTAL,
    MAX_PIECES,
    PLACEMENT_BITS,
    PLACEMENTS,
    SIZE,
    TOUCHING_BITS,
)
from linkzoo.linkage.rules import (
    NONE,
    NUM_COLOURS,
    PLAY,
    beside,
    component,
    end,
    free_cells,
    horizontals,
    verticals,
)
from linkzoo_training.search.exact import ENTRIES, LIMIT, OutOfReachError, successors

_MAX_GROUPS = 6  # of a colour: it has no more pieces

# What is left of a position.
_NODE = np.dtype(
    (
        np.record,
        [
            ("key", "u8"),  # hash of all below
            ("place", "u8"),  # another of the open cells
            ("open", "u8"),  # cells that a piece can still cover
            ("usable", "u8"),  # those that the next one can (R4)
            ("liberties", "u8", (NUM_COLOURS, _MAX_GROUPS)),  # open cells beside each group
            ("colours", "u8", (NUM_COLOURS,)),  # hash of each colour's liberties and supply
            ("groups", "i8", (NUM_COLOURS,)),  # that have liberties
            ("supply", "i8", (NUM_COLOURS,)),  # but no more than open cells have room for
            ("more", "i8"),  # 1 if More is to move, else 0
        ],
    )
)

# What is known about the further groups that More can bring about.
_ENTRY = np.dtype(
    (
        np.record,
        [
            ("key", "u8"),  # 0: empty
            ("work", "u4"),  # positions searched for it
            ("action", "i2"),  # that decided it last, or NONE
            ("low", "i1"),
            ("high", "i1"),
        ],
    )
)

_LENGTH = 2**17  # of the first search
_UNKNOWN = -1  # the answer if the search is given up
_VISITED, _LIMIT = 0, 1  # of `budget`
_FIRST, _LAST = 2**30, -(2**30)  # ranks of the table's action, and of one that is refuted
_FEWEST, _MOST = -100, 100  # groups

_ONE, _ZERO = np.uint64(1), np.uint64(0)
_EVEN = np.uint64(sum(1 << cell for cell in range(CELLS) if (cell // SIZE + cell % SIZE) % 2 == 0))
_SALT = np.array(
    [0x9E3779B97F4A7C15, 0xD1B54A32D192ED03, 0x8CB92BA72F3D8DD7, 0xABC98388FB8FAC03], np.uint64
)


@compiled
def _mix(value: Any) -> Any:
    """A hash of 64 bits (the finaliser of MurmurHash3)."""
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xFF51AFD7ED558CCD)
    value ^= value >> np.uint64(33)
    value *= np.uint64(0xC4CEB9FE1A85EC53)
    return value ^ (value >> np.uint64(33))


@compiled
def _count(cells: Any) -> Any:
    """How many cells a set has."""
    cells -= (cells >> _ONE) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    cells = (cells & pairs) + ((cells >> np.uint64(2)) & pairs)
    cells = (cells + (cells >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((cells * np.uint64(0x0101010101010101)) >> np.uint64(56))


@compiled
def _room(cells: Any) -> Any:
    """A bound of the pieces that fit on some cells: each covers an even and an odd one."""
    return min(_count(cells & _EVEN), _count(cells & ~_EVEN))


@compiled
def _paired(cells: Any) -> Any:
    """The cells that have a neighbour among them."""
    return cells & beside(cells)


@compiled
def _finish(node: Any) -> None:
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
    node.key = _mix(key + np.uint64(node.more)) | _ONE  # not 0


@compiled
def _read(state: Any, node: Any) -> None:
    """What is left of the position of a record in which a piece is to be placed."""
    node.open = _paired(free_cells(state, False))
    node.usable = _paired(free_cells(state, True))
    node.more = state.seat == state.more
    for colour in range(NUM_COLOURS):
        node.supply[colour] = state.supply[colour]
        count, rest = 0, state.coloured[colour]
        while rest != _ZERO:
            group = component(rest & (~rest + _ONE), rest)
            rest &= ~group
            liberties = beside(group) & node.open
            if liberties != _ZERO:
                node.liberties[colour, count] = liberties
                count += 1
        node.groups[colour] = count
    _finish(node)


@compiled
def _place(node: Any, action: Any, after: Any) -> Any:
    """Fills what is left after a placement, and the pass it forces; returns the groups it adds."""
    played, placement = action // PLACEMENTS, action % PLACEMENTS
    piece, touching = PLACEMENT_BITS[placement], TOUCHING_BITS[placement]
    still_open = _paired(node.open & ~piece)
    after.open = still_open
    after.usable = _paired(still_open & ~touching)
    after.more = 1 - node.more
    if after.usable == _ZERO:  # R6
        after.usable = still_open
        after.more = node.more
    added = 1
    for colour in range(NUM_COLOURS):
        count = 0
        for group in range(node.groups[colour]):
            liberties = node.liberties[colour, group]
            if colour == played and liberties & piece != _ZERO:
                touching |= liberties
                added -= 1
            elif liberties & still_open != _ZERO:
                after.liberties[colour, count] = liberties & still_open
                count += 1
        if colour == played and touching & still_open != _ZERO:
            after.liberties[colour, count] = touching & still_open
            count += 1
        after.groups[colour] = count
        after.supply[colour] = node.supply[colour] - (colour == played)
    _finish(after)
    return added


@compiled
def _bounds(node: Any) -> Any:
    """Bounds of the further groups, whoever plays how.

    Upwards: a piece is a new group only where its colour has no liberty, and no colour ever loses
    one but to a piece. Downwards: however many pieces of a colour are placed in a connected part
    of the open cells, at best they and the m groups with liberties there end as one group, which
    adds 1 - m. Every part takes a piece, and at most as many colours as pieces.
    """
    fresh = _ZERO
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
    while rest != _ZERO:
        part = component(rest & (~rest + _ONE), rest)
        rest &= ~part
        high += _room(part & fresh)
        low += _least(node, part)
    return max(low, -merged), high


@compiled
def _least(node: Any, part: Any) -> Any:
    """A lower bound of the groups that the pieces of a connected part add."""
    room = _room(part)
    most, others, low = -1, 0, 0
    for colour in range(NUM_COLOURS):
        if node.supply[colour] > 0:
            here = 0
            for group in range(node.groups[colour]):
                here += node.liberties[colour, group] & part != _ZERO
            if here > 1:
                others += 1
                low += 1 - here
            most = max(most, here)
    if others <= 1 or room == 1:
        return 1 - most
    return low


@compiled
def _actions(node: Any, actions: Any) -> Any:
    """Fills the actions to try: those of one of several colours alike stand for all of them."""
    across, down = horizontals(node.usable), verticals(node.usable)
    count = 0
    for colour in range(NUM_COLOURS):
        again = node.supply[colour] == 0
        for other in range(colour):
            again |= node.colours[other] == node.colours[colour]
        if again:
            continue
        for placement in range(PLACEMENTS):
            piece = PLACEMENT_BITS[placement]
            first = (down if placement >= HORIZONTAL else across) & piece
            if first & (~piece + _ONE) != _ZERO:
                actions[count] = colour * PLACEMENTS + placement
                count += 1
    return count


@compiled
def _rank(node: Any, added: Any, after: Any) -> Any:
    """How early an action is searched; the weights were tuned on 80 positions of ply 12.

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


@compiled
def _places(table: Any, node: Any) -> Any:
    """The first of the two neighbouring places that a position has in the table."""
    pairs = np.uint64(table.shape[0] // 2)
    return 2 * np.int64((((node.key ^ node.place) >> np.uint64(32)) * pairs) >> np.uint64(32))


@compiled
def _find(table: Any, node: Any) -> Any:
    """Where the table knows a position, or NONE."""
    first = _places(table, node)
    if table[first].key == node.key:
        return first
    return first + 1 if table[first + 1].key == node.key else NONE


@compiled
def _learn(table: Any, node: Any, need: Any, answer: Any, action: Any, work: Any) -> None:
    """Writes an answer to the table.

    Of the two places the first is for the position that took more work, the second for the latest
    other.
    """
    found = _find(table, node)
    if found == NONE:
        found = _places(table, node)
        if work < table[found].work:
            found += 1
        else:
            table[found + 1] = table[found]
        table[found].key = node.key
        table[found].work = 0
        table[found].low = _FEWEST
        table[found].high = _MOST
    if answer == 1:
        table[found].low = max(table[found].low, need)
    else:
        table[found].high = min(table[found].high, need - 1)
    table[found].work = min(table[found].work + work, 2**32 - 1)
    table[found].action = action


@compiled
def _look(
    node: Any, after: Any, table: Any, need: Any, hint: Any, actions: Any, ranks: Any, count: Any
) -> Any:
    """The index of an action that settles the question at once, or NONE; ranks the actions."""
    for index in range(count):
        added = _place(node, actions[index], after)
        low, high = _bounds(after)
        found = _find(table, after)
        if found != NONE:
            low, high = max(low, table[found].low), min(high, table[found].high)
        more_wins, fewer_wins = need - added <= low, need - added > high
        if more_wins if node.more == 1 else fewer_wins:
            return index
        if more_wins or fewer_wins:
            ranks[index] = _LAST
        else:
            ranks[index] = _FIRST if actions[index] == hint else _rank(node, added, after)
    return NONE


@compiled
def _bring_forward(actions: Any, ranks: Any, index: Any, count: Any) -> None:
    """Swaps the action of the highest rank among those from `index` on to that place."""
    best = index
    for other in range(index + 1, count):
        if ranks[other] > ranks[best]:
            best = other
    actions[index], actions[best] = actions[best], actions[index]
    ranks[index], ranks[best] = ranks[best], ranks[index]


@compiled
def _search(
    nodes: Any, actions: Any, ranks: Any, table: Any, budget: Any, depth: Any, need: Any
) -> Any:
    """Whether More can bring about `need` further groups from `nodes[depth]`: 1, 0 or _UNKNOWN."""
    node, after = nodes[depth], nodes[depth + 1]
    if node.open == _ZERO:
        return np.int64(need <= 0)
    hint = np.int64(NONE)
    found = _find(table, node)
    if found != NONE:
        if need <= table[found].low:
            return np.int64(1)
        if need > table[found].high:
            return np.int64(0)
        hint = np.int64(table[found].action)
    if budget[_VISITED] == budget[_LIMIT]:
        return np.int64(_UNKNOWN)
    budget[_VISITED] += 1
    before = budget[_VISITED]
    own, rank = actions[depth], ranks[depth]
    count = _actions(node, own)
    best = _look(node, after, table, need, hint, own, rank, count)
    if best == NONE:
        for index in range(count):
            _bring_forward(own, rank, index, count)
            if rank[index] == _LAST:
                break
            added = _place(node, own[index], after)
            answer = _search(nodes, actions, ranks, table, budget, depth + 1, need - added)
            if answer == _UNKNOWN:
                return answer
            if answer == node.more:
                best = index
                break
    answer = 1 - node.more if best == NONE else node.more
    action = hint if best == NONE else np.int64(own[best])
    _learn(table, node, need, answer, action, budget[_VISITED] - before + 1)
    return answer


@compiled
def _begin(states: Any, nodes: Any) -> Any:
    """Makes the position of the first record the root; returns the bounds of its further groups."""
    _read(states[0], nodes[0])
    return _bounds(nodes[0])


class Solver:
    """Solves positions of Linkage, of any board and threshold; remembers what it has found.

    `entries`, an even number of 16 bytes each, are its memory. Not for several threads at once.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._game, self._entries = get_game("linkage"), entries
        self.forget()
        self._nodes = np.zeros(MAX_PIECES + 2, _NODE)
        self._actions = np.zeros((MAX_PIECES + 2, HOLE_ACTION), np.int16)
        self._ranks = np.zeros((MAX_PIECES + 2, HOLE_ACTION), np.int64)
        self._budget = np.zeros(2, np.int64)
        self.searched = 0  # positions, since it was made

    def forget(self) -> None:
        """Empties the memory."""
        self._table = np.zeros(self._entries, _ENTRY)

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """The seat that wins if both play perfectly, also before the hole and the roles are chosen.

        OutOfReachError if that takes a search of more than about `limit` positions.
        """
        if state.seat == NONE:
            return int(state.winners).bit_length() - 1
        if state.phase != PLAY:
            seat, other = int(state.seat), 1 - int(state.seat)
            after = successors(self._game, state).values()
            return seat if any(self.winner(one, limit) == seat for one in after) else other
        self._begin(state)
        wins = self._ask(int(state.threshold) - int(state.groups), limit)
        return int(state.more) if wins else 1 - int(state.more)

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """The groups at the end if More plays for as many as possible and Fewer for as few.

        None before the roles are chosen. OutOfReachError as `winner`.
        """
        if state.phase != PLAY:
            return None
        low, high = self._begin(state)
        while low < high:
            middle = (low + high + 1) // 2
            if self._ask(middle, limit):
                low = middle
            else:
                high = middle - 1
        return int(state.groups) + low

    def end(self, state: Record, limit: int = LIMIT) -> Record | None:
        """A record that ended with as many groups as `score` says; None before roles are chosen."""
        groups = self.score(state, limit)
        if groups is None:
            return None
        ended = state.copy()
        ended.groups = groups
        end(ended)
        return ended

    def _begin(self, state: Record) -> tuple[int, int]:
        states = np.frombuffer(state.tobytes(), self._game.state)
        with np.errstate(over="ignore"):  # in the interpreter
            low, high = _begin(states, self._nodes)
        return int(low), int(high)

    def _ask(self, need: int, limit: int) -> bool:
        """Whether More can bring about `need` further groups from the root.

        Ever longer searches, so that Ctrl-C is heard; what one has found stands in the table.
        """
        length = min(limit, _LENGTH)
        while True:
            self._budget[:] = 0, length
            with np.errstate(over="ignore"):  # in the interpreter
                answer = _search(
                    self._nodes, self._actions, self._ranks, self._table, self._budget, 0, need
                )
            self.searched += int(self._budget[_VISITED])
            if answer != _UNKNOWN:
                return bool(answer)
            if length == limit:
                raise OutOfReachError(f"not solved by a search of {limit:,} positions")
            length = min(limit, 2 * length)
