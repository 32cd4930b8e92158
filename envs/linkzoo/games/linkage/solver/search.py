"""The search: can More reach at least a given number of further groups?

A depth-first search with a transposition table, after Knuth and Moore, "An analysis of alpha-beta
pruning", 1975, with null windows. Three properties make it fast:

- It searches reduced positions, so that the table recognises positions that differ in settled
  features, and holds for every threshold.
- Bounds from the connected parts of the open cells (`bounds`) decide most positions at once.
- Bounds and table are consulted for all actions before the first action is searched.

The table confuses two positions if 63 bits of their hashes agree and, if their open cells differ,
21 bits of another hash: in a search of a million positions the probability is below one in a
million.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage.components import HOLE_ACTION
from linkzoo.games.linkage.solver.reduced_position import bounds, list_actions, place, rank
from linkzoo.games.linkage.state import NONE

# Bounds on the further groups that More can reach.
_ENTRY_FIELDS = [
    ("key", "u8"),  # 0: empty
    ("work", "u4"),  # positions searched for it
    ("action", "i2"),  # the action that decided it last, or NONE
    ("low", "i1"),
    ("high", "i1"),
]
ENTRY = np.dtype((np.record, _ENTRY_FIELDS))

# The progress of the search of a position.
_FRAME_FIELDS = [
    ("need", "i8"),  # further groups that More has to reach
    ("before", "i8"),  # positions searched before it
    ("hint", "i8"),  # the action in the table, or NONE
    ("count", "i8"),  # number of actions
    ("index", "i8"),  # of the action that is being searched
    ("ranks", "i8", (HOLE_ACTION,)),
    ("actions", "i2", (HOLE_ACTION,)),
]
FRAME = np.dtype((np.record, _FRAME_FIELDS))

Budget = NDArray[np.int64]  # [2], with these elements:
VISITED = 0  # number of positions visited
BUDGET_LIMIT = 1  # number of positions to visit at most

# Instead of a result.
UNKNOWN = -1  # the budget was too small
_OPEN = -2  # the search isn't over

# Ranks.
_FIRST = 2**30  # the table's action
_LAST = -(2**30)  # refuted actions

# Trivial bounds.
_MIN_GROUPS = -100
_MAX_GROUPS = 100


@compiled
def _first_entry(table: Records, node: Record) -> int:
    """Returns the first of the two adjacent entries that a position may have in the table."""
    pairs = np.uint64(table.shape[0] // 2)
    pair = (((node.key ^ node.place) >> np.uint64(32)) * pairs) >> np.uint64(32)
    return 2 * np.int64(pair)  # type: ignore[return-value]  # int64


@compiled
def _find(table: Records, node: Record) -> int:
    """Returns the entry of a position in the table, or NONE."""
    first = _first_entry(table, node)
    for entry in range(first, first + 2):
        if table[entry].key == node.key:
            return entry
    return NONE


@compiled
def _store(table: Records, node: Record, need: int, result: int, action: int, work: int) -> None:
    """Writes a result to the table.

    Of two entries the first is for the position that took more work, the second for the latest
    other position.
    """
    entry = _find(table, node)
    if entry == NONE:
        entry = _first_entry(table, node)
        if work < table[entry].work:
            entry += 1
        else:
            table[entry + 1] = table[entry]
        table[entry].key = node.key
        table[entry].work = 0
        table[entry].low = _MIN_GROUPS
        table[entry].high = _MAX_GROUPS
    if result == 1:
        table[entry].low = max(table[entry].low, need)
    else:
        table[entry].high = min(table[entry].high, need - 1)
    table[entry].work = min(table[entry].work + work, 2**32 - 1)
    table[entry].action = action


@compiled
def _look_ahead(node: Record, after: Record, table: Records, frame: Record) -> int:
    """Returns the index of an action that decides at once, or NONE; ranks the actions."""
    actions = frame.actions
    ranks = frame.ranks
    for index in range(frame.count):
        action = actions[index]
        added = place(node, action, after)
        need = frame.need - added
        low, high = bounds(after)
        entry = _find(table, after)
        if entry != NONE:
            low = max(low, table[entry].low)
            high = min(high, table[entry].high)
        more_wins = need <= low
        fewer_wins = need > high
        if more_wins or fewer_wins:
            if more_wins == (node.more == 1):
                return index
            ranks[index] = _LAST
        elif action == frame.hint:
            ranks[index] = _FIRST
        else:
            ranks[index] = rank(node, added, after)
    return NONE


@compiled
def _bring_forward(frame: Record) -> None:
    """Moves the highest-ranked of the actions from `frame.index` on to that index."""
    actions = frame.actions
    ranks = frame.ranks
    index = frame.index
    best = index
    for other in range(index + 1, frame.count):
        if ranks[other] > ranks[best]:
            best = other
    actions[index], actions[best] = actions[best], actions[index]
    ranks[index], ranks[best] = ranks[best], ranks[index]


@compiled
def _enter(nodes: Records, frames: Records, table: Records, budget: Budget, depth: int) -> int:
    """Begins the search of `nodes[depth]`; returns its result if known at once, else _OPEN."""
    node = nodes[depth]
    after = nodes[depth + 1]
    frame = frames[depth]
    need = frame.need
    if node.open == 0:
        return int(need <= 0)
    frame.hint = NONE
    entry = _find(table, node)
    if entry != NONE:
        if need <= table[entry].low:
            return 1
        if need > table[entry].high:
            return 0
        frame.hint = table[entry].action
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
    """Returns 1 if More can reach `need` further groups from `nodes[start]`, else 0.

    UNKNOWN if it would visit more positions than `budget` allows. `nodes` and `frames` are the
    stack.
    """
    depth = start
    frames[depth].need = need
    result = _enter(nodes, frames, table, budget, depth)
    while True:
        node = nodes[depth]
        frame = frames[depth]
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
        node = nodes[depth]
        frame = frames[depth]
        if result == node.more:
            work = budget[VISITED] - frame.before
            _store(table, node, frame.need, result, frame.actions[frame.index], work)
        else:
            frame.index += 1
            result = _OPEN
