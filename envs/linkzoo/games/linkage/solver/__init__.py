"""The exact solver of Linkage: single positions, and many positions side by side."""

import numpy as np

from linkzoo.core.solver import ENTRIES, LIMIT, Memory, OutOfReachError
from linkzoo.core.state import Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.games.linkage.components import HOLE_ACTION, MAX_PIECES, NUM_ACTIONS
from linkzoo.games.linkage.rules import apply, end, legal_actions
from linkzoo.games.linkage.solver import reduced_position as reduced
from linkzoo.games.linkage.solver.search import BUDGET_LIMIT, ENTRY, FRAME, UNKNOWN, VISITED, search
from linkzoo.games.linkage.state import NONE, PLAY, STATE

_DEPTH = MAX_PIECES + 2  # of the stack
_FIRST_LIMIT = 2**17  # positions of the first search
_OUT_OF_REACH = 1000  # in place of groups
_BEST, _OTHER = 1, 2  # in a mask
_MAX_ENTRIES = 2**16  # of a row's transposition table
_HARDNESS = 3  # with n pieces to come a position takes a search of about 3**n / 8 (measured)


@compiled
def _begin(states: Records, nodes: Records) -> tuple[int, int]:
    """Makes the position of the first record the root; returns the bounds of its further groups."""
    reduced.reduce_position(states[0], nodes[0])
    return reduced.bounds(nodes[0])


class Solver:
    """Solves positions of Linkage, of any board and threshold; remembers what it has found.

    Not for several threads at once.

    Args:
        entries: The size of its memory: an even number of entries of 16 bytes each.
    """

    def __init__(self, entries: int = ENTRIES) -> None:
        self._entries = entries
        self.forget()
        self._nodes = np.zeros(_DEPTH, reduced.NODE)
        self._frames = np.zeros(_DEPTH, FRAME)
        self._budget = np.zeros(2, np.int64)
        self.searched = 0  # positions, since it was made

    def forget(self) -> None:
        """Empties the memory."""
        self._table = np.zeros(self._entries, ENTRY)

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """Returns the seat that wins if both play perfectly, before roles are chosen, too.

        Raises:
            OutOfReachError: That takes a search of more than about `limit` positions.
        """
        if state.seat == NONE:
            return int(state.winners).bit_length() - 1
        if state.phase != PLAY:
            seat, mask = int(state.seat), np.zeros(NUM_ACTIONS, np.int8)
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
        """Returns the groups at the end if More plays for as many as possible and Fewer for as few.

        None before the roles are chosen.

        Raises:
            OutOfReachError: That takes searches of more than about `limit` positions.
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
        """Returns whether More can bring about `need` further groups from the root.

        It makes ever longer searches, so that Ctrl-C works; the table keeps what one has found.
        """
        length = min(limit, _FIRST_LIMIT)
        while True:
            self._budget[:] = 0, length
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
def _further(state: Record, memory: Memory, row: int, limit: int) -> int:
    """Returns the further groups of perfect play for the score, or _OUT_OF_REACH.

    It doesn't search before the roles are chosen, nor where it would likely take more than `limit`
    positions.
    """
    pieces = reduced.most_pieces(reduced.open_cells(state))
    if state.phase != PLAY or _HARDNESS**pieces > 2 * limit:
        return _OUT_OF_REACH
    table, nodes, frames, budget = memory[0][row], memory[1][row], memory[2][row], memory[3][row]
    reduced.reduce_position(state, nodes[0])
    low, high = reduced.bounds(nodes[0])
    budget[VISITED], budget[BUDGET_LIMIT] = 0, limit
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
    """Makes a record end as perfect play for the score would have it end, if it can be solved.

    Returns whether it was: with the roles chosen, by a search of at most `limit` positions.
    """
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    state.groups += further
    end(state)
    return True


@compiled
def solve(state: Record, memory: Memory, row: int, limit: int, mask: Mask) -> bool:
    """Does as `finish`, and leaves in a mask of legal actions those of perfect play for the score.

    It empties the table first. An action that takes more than `limit` positions by itself may be
    missing. If the position isn't solved, the mask is as it was.
    """
    table, nodes, frames, budget = memory[0][row], memory[1][row], memory[2][row], memory[3][row]
    table.key[:] = 0
    table.work[:] = 0
    further = _further(state, memory, row, limit)
    if further == _OUT_OF_REACH:
        return False
    more, best = nodes[0].more, 0
    for action in range(HOLE_ACTION):
        if mask[action]:
            need = further - reduced.place(nodes[0], action, nodes[1]) + (1 - more)
            budget[VISITED], budget[BUDGET_LIMIT] = 0, limit
            low, high = reduced.bounds(nodes[1])
            if need <= low:
                result = 1
            elif need > high:
                result = 0
            else:
                result = search(nodes, frames, table, budget, 1, need)
            mask[action] = _BEST if result == more else _OTHER
            best += result == more
    for action in range(HOLE_ACTION):
        if mask[action]:
            mask[action] = best == 0 or mask[action] == _BEST
    if best == 0:
        return False
    state.groups += further
    end(state)
    return True
