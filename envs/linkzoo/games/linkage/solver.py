"""The exact solver of Linkage: how a position ends when both sides play perfectly.

The compiled search answers one question with yes or no: can More bring about at least so many
further groups? It is a depth-first search with a transposition table, after Knuth and Moore, "An
analysis of alpha-beta pruning", 1975, with windows of one. Three things make it fast:

- It searches what is left of a position (`remains`), not the position, so that the table
  recognises positions that differ in what is settled, and holds for every threshold.
- Bounds from the connected parts of the open cells (`bounds`) decide most positions at once.
- All actions are looked at, in the bounds and in the table, before the first is searched.

The table takes two positions for one if 63 bits of their hashes agree and, where their open cells
differ, 21 bits of another hash: in a search of a million positions that happens with a probability
below one in a million.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import Record, compiled
from linkzoo.games.linkage.pieces import HOLE_ACTION, MAX_PIECES, NUM_ACTIONS
from linkzoo.games.linkage.remains import (
    NODE,
    bounds,
    list_actions,
    most_pieces,
    open_cells,
    place,
    rank,
    read,
)
from linkzoo.games.linkage.rules import NONE, PLAY, STATE, apply, end, legal_actions
from linkzoo.core.solver import ENTRIES, LIMIT, OutOfReachError

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

# How far the search of a position is.
_FRAME = np.dtype(
    (
        np.record,
        [
            ("need", "i8"),  # further groups asked for
            ("before", "i8"),  # positions searched before it
            ("hint", "i8"),  # the action that the table has, or NONE
            ("count", "i8"),
            ("index", "i8"),  # of the action that is being searched
            ("ranks", "i8", (HOLE_ACTION,)),
            ("actions", "i2", (HOLE_ACTION,)),
        ],
    )
)

_LENGTH = 2**17  # of the first search
_UNKNOWN, _OPEN = -1, -2  # no answer: the search is given up, or it isn't over
_VISITED, _LIMIT = 0, 1  # of `budget`
_FIRST, _LAST = 2**30, -(2**30)  # ranks of the table's action, and of one that is refuted
_FEWEST, _MOST = -100, 100  # groups
_OUT_OF_REACH = 1000  # in place of groups
_BEST, _OTHER = 1, 2  # in a mask
_SIDE_ENTRIES = 2**16  # at most, that each of the positions solved side by side remembers
_HARDNESS = 3  # with n pieces to come a position takes a search of about 3**n / 8 (measured)


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
            ranks[index] = _FIRST if actions[index] == hint else rank(node, added, after)
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
def _enter(nodes: Any, frames: Any, table: Any, budget: Any, depth: Any) -> Any:
    """Begins the search of `nodes[depth]`: its answer if there is one at once, or _OPEN."""
    node, after, frame = nodes[depth], nodes[depth + 1], frames[depth]
    need = frame.need
    if node.open == 0:
        return np.int64(need <= 0)
    frame.hint = NONE
    found = _find(table, node)
    if found != NONE:
        if need <= table[found].low:
            return np.int64(1)
        if need > table[found].high:
            return np.int64(0)
        frame.hint = table[found].action
    if budget[_VISITED] == budget[_LIMIT]:
        return np.int64(_UNKNOWN)
    frame.before = budget[_VISITED]
    budget[_VISITED] += 1
    frame.count = list_actions(node, frame.actions)
    best = _look(node, after, table, need, frame.hint, frame.actions, frame.ranks, frame.count)
    if best != NONE:
        _learn(table, node, need, node.more, frame.actions[best], 1)
        return np.int64(node.more)
    frame.index = 0
    return np.int64(_OPEN)


@compiled
def _search(nodes: Any, frames: Any, table: Any, budget: Any, start: Any, need: Any) -> Any:
    """Whether More can bring about `need` further groups from `nodes[start]`: 1, 0 or _UNKNOWN."""
    depth = start
    frames[depth].need = need
    answer = _enter(nodes, frames, table, budget, depth)
    while True:
        node, frame = nodes[depth], frames[depth]
        if answer == _OPEN:
            if frame.index < frame.count:
                _bring_forward(frame.actions, frame.ranks, frame.index, frame.count)
            if frame.index < frame.count and frame.ranks[frame.index] != _LAST:
                added = place(node, frame.actions[frame.index], nodes[depth + 1])
                frames[depth + 1].need = frame.need - added
                depth += 1
                answer = _enter(nodes, frames, table, budget, depth)
                continue
            answer = 1 - node.more
            work = budget[_VISITED] - frame.before
            _learn(table, node, frame.need, answer, frame.hint, work)
        if answer == _UNKNOWN or depth == start:
            return answer
        depth -= 1
        node, frame = nodes[depth], frames[depth]
        if answer == node.more:
            work = budget[_VISITED] - frame.before
            _learn(table, node, frame.need, answer, frame.actions[frame.index], work)
        else:
            frame.index += 1
            answer = np.int64(_OPEN)


@compiled
def _begin(states: Any, nodes: Any) -> Any:
    """Makes the position of the first record the root; returns the bounds of its further groups."""
    read(states[0], nodes[0])
    return bounds(nodes[0])


def memory(count: int, limit: int) -> tuple[NDArray[Any], ...]:
    """Working memory for solving `count` positions side by side: a table and a stack for each."""
    depth, entries = MAX_PIECES + 2, min(2 ** limit.bit_length(), _SIDE_ENTRIES)
    return (
        np.zeros((count, entries), _ENTRY),
        np.zeros((count, depth), NODE),
        np.zeros((count, depth), _FRAME),
        np.zeros((count, 2), np.int64),
    )


@compiled
def forget(memory: Any, row: Any) -> None:
    """Empties the table of a row of the memory."""
    memory[0][row].key[:] = 0
    memory[0][row].work[:] = 0


@compiled
def _further(state: Any, memory: Any, row: Any, limit: Any) -> Any:
    """The further groups of perfect play for the score, or _OUT_OF_REACH.

    Not searched for where it would likely take more than `limit` positions.
    """
    if _HARDNESS ** most_pieces(open_cells(state)) > 2 * limit:
        return np.int64(_OUT_OF_REACH)
    table, nodes, frames, budget = memory[0][row], memory[1][row], memory[2][row], memory[3][row]
    read(state, nodes[0])
    low, high = bounds(nodes[0])
    budget[_VISITED], budget[_LIMIT] = 0, limit
    while low < high:
        middle = (low + high + 1) // 2
        answer = _search(nodes, frames, table, budget, 0, middle)
        if answer == _UNKNOWN:
            return np.int64(_OUT_OF_REACH)
        if answer == 1:
            low = middle
        else:
            high = middle - 1
    return np.int64(low)


@compiled
def finish(state: Any, memory: Any, row: Any, limit: Any) -> Any:
    """Makes a record end as perfect play for the score would have it end, if it can be solved.

    Returns whether it was: within `limit` positions, and the roles chosen.
    """
    if state.phase != PLAY:
        return False
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    state.groups += further
    end(state)
    return True


@compiled
def keep_best(state: Any, memory: Any, row: Any, limit: Any, mask: Any) -> Any:
    """Leaves in a mask of legal actions those of perfect play for the score.

    An action that takes more than `limit` positions by itself may be missing. Returns whether the
    position was solved (see `finish`); if not, the mask is as it was.
    """
    if state.phase != PLAY:
        return False
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    table, nodes, frames, budget = memory[0][row], memory[1][row], memory[2][row], memory[3][row]
    more, best = nodes[0].more, 0
    for action in range(HOLE_ACTION):
        if mask[action]:
            need = further - place(nodes[0], action, nodes[1]) + (1 - more)
            budget[_VISITED], budget[_LIMIT] = 0, limit
            low, high = bounds(nodes[1])
            if need <= low:
                answer = np.int64(1)
            elif need > high:
                answer = np.int64(0)
            else:
                answer = _search(nodes, frames, table, budget, 1, need)
            mask[action] = _BEST if answer == more else _OTHER
            best += answer == more
    for action in range(HOLE_ACTION):
        if mask[action]:
            mask[action] = best == 0 or mask[action] == _BEST
    return best > 0


def _successors(state: Record) -> list[Record]:
    """The position after each legal action."""
    mask, found = np.zeros(NUM_ACTIONS, np.int8), []
    legal_actions(state, mask)
    for action in np.flatnonzero(mask).tolist():
        found.append(state.copy())
        apply(found[-1], action)
    return found


class Solver:
    """Solves positions of Linkage, of any board and threshold; remembers what it has found.

    `entries`, an even number of 16 bytes each, are its memory. Not for several threads at once.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self.forget()
        self._nodes = np.zeros(MAX_PIECES + 2, NODE)
        self._frames = np.zeros(MAX_PIECES + 2, _FRAME)
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
            after = _successors(state)
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

    def _begin(self, state: Record) -> tuple[int, int]:
        states = np.frombuffer(state.tobytes(), STATE)
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
                answer = _search(self._nodes, self._frames, self._table, self._budget, 0, need)
            self.searched += int(self._budget[_VISITED])
            if answer != _UNKNOWN:
                return bool(answer)
            if length == limit:
                raise OutOfReachError(f"not solved by a search of {limit:,} positions")
            length = min(limit, 2 * length)
