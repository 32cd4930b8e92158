"""The exact solver of Linkage: single positions, and many positions side by side."""

from typing import Any

import numpy as np

from linkzoo.core.solver import BEST, ENTRIES, LIMIT, OPEN, Memory, OutOfReachError
from linkzoo.core.state import Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage.components import HOLE_ACTION, MAX_PIECES, NUM_ACTIONS
from linkzoo.games.linkage.rules import apply, end, legal_actions
from linkzoo.games.linkage.solver import reduced_position as reduced
from linkzoo.games.linkage.solver.search import (
    BUDGET_LIMIT,
    ENTRY,
    FRAME,
    UNKNOWN,
    VISITED,
    Budget,
    search,
)
from linkzoo.games.linkage.state import NONE, PLAY, STATE

_DEPTH = MAX_PIECES + 2  # of the stack
_FIRST_LIMIT = 2**17  # positions of the first search
_OUT_OF_REACH = 1000  # instead of a number of groups
_REFUTED = 3  # mark of an action in a mask, beside OPEN and BEST
_MAX_ENTRIES = 2**16  # of a row's transposition table
_HARDNESS = 3  # with n pieces to come a position takes a search of about 3**n / 8 (measured)


@compiled
def _begin(states: Records, nodes: Records) -> tuple[int, int]:
    """Makes the first record's position the root; returns bounds of the further groups."""
    reduced.reduce_position(states[0], nodes[0])
    return reduced.bounds(nodes[0])


class Solver:
    """Solves positions of Linkage, of any board and threshold; caches results.

    Not thread-safe.

    Args:
        entries: The size of its table: an even number of entries of 16 bytes each.

    Attributes:
        searched: The number of positions searched so far.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self.forget()
        self._nodes = np.zeros(_DEPTH, reduced.NODE)
        self._frames = np.zeros(_DEPTH, FRAME)
        self._budget = np.zeros(2, np.int64)
        self.searched = 0

    def forget(self) -> None:
        """Clears the table."""
        self._table = np.zeros(self._entries, ENTRY)

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """Returns the seat that wins under perfect play, also before the roles are chosen.

        Raises:
            OutOfReachError: The search would take more than about `limit` positions.
        """
        if state.seat == NONE:
            return int(state.winners).bit_length() - 1
        if state.phase != PLAY:
            seat = int(state.seat)
            mask = np.zeros(NUM_ACTIONS, np.int8)
            legal_actions(state, mask)
            for action in np.flatnonzero(mask).tolist():
                after = state.copy()
                apply(after, action)
                if self.winner(after, limit) == seat:
                    return seat
            return 1 - seat
        self._begin(state)
        wins = self._decide(int(state.threshold) - int(state.groups), limit)
        return int(state.more) if wins else 1 - int(state.more)

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """Returns the final number of groups if More maximises and Fewer minimises it.

        None before the roles are chosen.

        Raises:
            OutOfReachError: A search would take more than about `limit` positions.
        """
        if state.phase != PLAY:
            return None
        low, high = self._begin(state)
        while low < high:
            middle = (low + high + 1) // 2
            if self._decide(middle, limit):
                low = middle
            else:
                high = middle - 1
        return int(state.groups) + low

    def _begin(self, state: Record) -> tuple[int, int]:
        states = np.frombuffer(state.tobytes(), STATE)
        with np.errstate(over="ignore"):  # in the interpreter
            low, high = _begin(states, self._nodes)
        return int(low), int(high)

    def _decide(self, need: int, limit: int) -> bool:
        """Returns whether More can reach `need` further groups from the root.

        It makes ever longer searches, so that Ctrl-C works; the table keeps their results.
        """
        length = min(limit, _FIRST_LIMIT)
        while True:
            self._budget[VISITED] = 0
            self._budget[BUDGET_LIMIT] = length
            with np.errstate(over="ignore"):  # in the interpreter
                result = search(self._nodes, self._frames, self._table, self._budget, 0, need)
            self.searched += int(self._budget[VISITED])
            if result != UNKNOWN:
                return bool(result)
            if length == limit:
                raise OutOfReachError(f"not solved by a search of {limit:,} positions")
            length = min(limit, 2 * length)


def memory(count: int, limit: int) -> Memory:
    """Returns the working memory of `count` positions, a row of each array for each position.

    Transposition tables, nodes, frames and budgets.
    """
    entries = min(2 ** limit.bit_length(), _MAX_ENTRIES)
    return (
        np.zeros((count, entries), ENTRY),
        np.zeros((count, _DEPTH), reduced.NODE),
        np.zeros((count, _DEPTH), FRAME),
        np.zeros((count, 2), np.int64),
    )


@compiled
def _of_row(memory: Memory, row: int) -> tuple[Any, Records, Records, Budget]:
    """Returns a row's transposition table, nodes, frames and budget."""
    tables, nodes, frames, budgets = memory
    return tables[row], nodes[row], frames[row], budgets[row]


@compiled
def _further(state: Record, memory: Memory, row: int, limit: int) -> int:
    """Returns the further groups under perfect play for the score, or _OUT_OF_REACH.

    It doesn't search before the roles are chosen, nor if that would probably take more than
    `limit` positions.
    """
    pieces = reduced.most_pieces(reduced.open_cells(state))
    if state.phase != PLAY or _HARDNESS**pieces > 2 * limit:
        return _OUT_OF_REACH
    table, nodes, frames, budget = _of_row(memory, row)
    reduced.reduce_position(state, nodes[0])
    low, high = reduced.bounds(nodes[0])
    budget[VISITED] = 0
    budget[BUDGET_LIMIT] = limit
    while low < high:
        middle = (low + high + 1) // 2
        result = search(nodes, frames, table, budget, 0, middle)
        if result == UNKNOWN:
            return _OUT_OF_REACH
        if result == 1:
            low = middle
        else:
            high = middle - 1
    return low


@compiled
def finish(state: Record, memory: Memory, row: int, limit: int) -> bool:
    """Plays a record to its end under perfect play for the score, if it can be solved.

    Returns whether it was solved: the roles are chosen, and a search of at most `limit` positions
    was enough.
    """
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    state.groups += further
    end(state)
    return True


@compiled
def solve(state: Record, memory: Memory, row: int, limit: int, mask: Mask) -> bool:
    """Does the same as `finish`, and marks score-optimal actions in a mask of legal actions.

    It clears the table first. An action whose own search takes more than `limit` positions is OPEN.
    If the position isn't solved, the mask stays as it is.
    """
    table, nodes, frames, budget = _of_row(memory, row)
    table.key[:] = 0
    table.work[:] = 0
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    more = nodes[0].more
    best = 0  # number of best actions
    for action in range(HOLE_ACTION):
        if mask[action]:
            need = further - reduced.place(nodes[0], action, nodes[1]) + (1 - more)
            budget[VISITED] = 0
            budget[BUDGET_LIMIT] = limit
            low, high = reduced.bounds(nodes[1])
            result = int(need <= low)
            if low < need <= high:
                result = search(nodes, frames, table, budget, 1, need)
            if result == UNKNOWN:
                mask[action] = OPEN
            elif result == more:
                mask[action] = BEST
                best += 1
            else:
                mask[action] = _REFUTED
    refuted = OPEN if best == 0 else 0
    for action in range(HOLE_ACTION):
        if mask[action] == _REFUTED:
            mask[action] = refuted
    if best == 0:
        return False
    state.groups += further
    end(state)
    return True
