"""The search: can More bring about at least so many further groups?

A depth-first search with a transposition table, after Knuth and Moore, "An analysis of alpha-beta
pruning", 1975, with windows of one. Three things make it fast:

- It searches reduced positions, so that the table recognises positions that differ in what is
  settled, and holds for every threshold.
- Bounds from the connected parts of the open cells (`bounds`) decide most positions at once.
- All actions are looked at, in the bounds and in the table, before the first is searched.

The table takes two positions for one if 63 bits of their hashes agree and, where their open cells
differ, 21 bits of another hash: in a search of a million positions that happens with a probability
below one in a million.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage.components import HOLE_ACTION
from linkzoo.games.linkage.solver.reduced_position import bounds, list_actions, place, rank
from linkzoo.games.linkage.state import NONE

# Bounds on the further groups that More can bring about.
_ENTRY_FIELDS = [
    ("key", "u8"),  # 0: empty
    ("work", "u4"),  # positions searched for it
    ("action", "i2"),  # that decided it last, or NONE
    ("low", "i1"),
    ("high", "i1"),
]
ENTRY = np.dtype((np.record, _ENTRY_FIELDS))

# How far the search of a position is.
_FRAME_FIELDS = [
    ("need", "i8"),  # further groups that More has to bring about
    ("before", "i8"),  # positions searched before it
    ("hint", "i8"),  # the action that the table has, or NONE
    ("count", "i8"),
    ("index", "i8"),  # of the action that is being searched
    ("ranks", "i8", (HOLE_ACTION,)),
    ("actions", "i2", (HOLE_ACTION,)),
]
FRAME = np.dtype((np.record, _FRAME_FIELDS))

Budget = NDArray[np.int64]  # [2]: positions visited, and the most to visit
VISITED, BUDGET_LIMIT = 0, 1

UNKNOWN, _OPEN = -1, -2  # no result: the search is given up, or it isn't over
_FIRST, _LAST = 2**30, -(2**30)  # ranks of the table's action, and of one that is refuted
_MIN_GROUPS, _MAX_GROUPS = -100, 100  # groups


@compiled
def _first_place(table: Records, node: Record) -> int:
    """Returns the first of the two neighbouring places that a position has in the table."""
    pairs = np.uint64(table.shape[0] // 2)
    pair = (((node.key ^ node.place) >> np.uint64(32)) * pairs) >> np.uint64(32)
    return 2 * np.int64(pair)  # type: ignore[return-value]  # int64


@compiled
def _find(table: Records, node: Record) -> int:
    """Returns where the table knows a position, or NONE."""
    first = _first_place(table, node)
    if table[first].key == node.key:
        return first
    return first + 1 if table[first + 1].key == node.key else NONE


@compiled
def _store(table: Records, node: Record, need: int, result: int, action: int, work: int) -> None:
    """Writes a result to the table.

    Of the two places the first is for the position that took more work, the second for the latest
    other.
    """
    found = _find(table, node)
    if found == NONE:
        found = _first_place(table, node)
        if work < table[found].work:
            found += 1
        else:
            table[found + 1] = table[found]
        table[found].key = node.key
        table[found].work = 0
        table[found].low = _MIN_GROUPS
        table[found].high = _MAX_GROUPS
    if result == 1:
        table[found].low = max(table[found].low, need)
    else:
        table[found].high = min(table[found].high, need - 1)
    table[found].work = min(table[found].work + work, 2**32 - 1)
    table[found].action = action


@compiled
def _look_ahead(node: Record, after: Record, table: Records, frame: Record) -> int:
    """Returns the index of an action that decides at once, or NONE; ranks the actions."""
    need, actions, ranks = frame.need, frame.actions, frame.ranks
    for index in range(frame.count):
        added = place(node, actions[index], after)
        low, high = bounds(after)
        found = _find(table, after)
        if found != NONE:
            low, high = max(low, table[found].low), min(high, table[found].high)
        more_wins, fewer_wins = need - added <= low, need - added > high
        if more_wins if node.more == 1 else fewer_wins:
            return index
        if more_wins or fewer_wins:
            ranks[index] = _LAST
        else:
            ranks[index] = _FIRST if actions[index] == frame.hint else rank(node, added, after)
    return NONE


@compiled
def _bring_forward(frame: Record) -> None:
    """Swaps the action of the highest rank among those from `frame.index` on to that place."""
    actions, ranks, index = frame.actions, frame.ranks, frame.index
    best = index
    for other in range(index + 1, frame.count):
        if ranks[other] > ranks[best]:
            best = other
    actions[index], actions[best] = actions[best], actions[index]
    ranks[index], ranks[best] = ranks[best], ranks[index]


@compiled
def _enter(nodes: Records, frames: Records, table: Records, budget: Budget, depth: int) -> int:
    """Begins the search of `nodes[depth]`; returns the result if there is one at once, or _OPEN."""
    node, after, frame = nodes[depth], nodes[depth + 1], frames[depth]
    need = frame.need
    if node.open == 0:
        return int(need <= 0)
    frame.hint = NONE
    found = _find(table, node)
    if found != NONE:
        if need <= table[found].low:
            return 1
        if need > table[found].high:
            return 0
        frame.hint = table[found].action
    if budget[VISITED] == budget[BUDGET_LIMIT]:
        return UNKNOWN
    frame.before = budget[VISITED]
    budget[VISITED] += 1
    frame.count = list_actions(node, frame.actions)
    best = _look_ahead(node, after, table, frame)
    if best != NONE:
        _store(table, node, need, node.more, frame.actions[best], 1)
        return int(node.more)
    frame.index = 0
    return _OPEN


@compiled
def search(
    nodes: Records, frames: Records, table: Records, budget: Budget, start: int, need: int
) -> int:
    """Returns 1 if More can bring about `need` further groups from `nodes[start]`, 0 if not.

    UNKNOWN where it would visit more than `budget` allows. `nodes` and `frames` are the stack.
    """
    depth = start
    frames[depth].need = need
    result = _enter(nodes, frames, table, budget, depth)
    while True:
        node, frame = nodes[depth], frames[depth]
        if result == _OPEN:
            if frame.index < frame.count:
                _bring_forward(frame)
            if frame.index < frame.count and frame.ranks[frame.index] != _LAST:
                added = place(node, frame.actions[frame.index], nodes[depth + 1])
                frames[depth + 1].need = frame.need - added
                depth += 1
                result = _enter(nodes, frames, table, budget, depth)
                continue
            result = 1 - node.more
            work = budget[VISITED] - frame.before
            _store(table, node, frame.need, result, frame.hint, work)
        if result == UNKNOWN or depth == start:
            return result
        depth -= 1
        node, frame = nodes[depth], frames[depth]
        if result == node.more:
            work = budget[VISITED] - frame.before
            _store(table, node, frame.need, result, frame.actions[frame.index], work)
        else:
            frame.index += 1
            result = _OPEN
