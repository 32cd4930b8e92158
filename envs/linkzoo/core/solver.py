"""Exact solvers, the part `Game.solver` of a game."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from numpy.typing import NDArray

from linkzoo.core.state import Mask, Record

LIMIT = 2**24  # positions per search: about a minute
ENTRIES = 2**22  # positions in the table
DRAW = -1  # result instead of the winning seat
# Entries of a mask after `Solve`; 0: an action that is refuted, or illegal.
OPEN = 1  # the action may be best: it is neither proven nor refuted
BEST = 2  # the action is proven to be best

Memory = tuple[NDArray[Any], ...]  # arrays with a row for each position that is solved


class OutOfReachError(ValueError):
    """A position can't be solved within the limit."""


class Solver(Protocol):
    """Solves positions of a two-player game, with any options; caches results.

    `winner` and `score` raise OutOfReachError after searching about `limit` positions.
    """

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """Returns the winning seat under perfect play, or DRAW."""

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """Returns the final score under perfect play; None before the players' goals are set."""

    def forget(self) -> None:
        """Clears the table."""


class MakeMemory(Protocol):
    """Returns the working memory of `count` positions, for searches of at most `limit`."""

    def __call__(self, count: int, limit: int) -> Memory: ...


class Solve(Protocol):
    """Solves a position, and keeps in `mask` only legal actions that aren't refuted.

    It clears the memory's row, and plays the record to its end under perfect play. In a solved
    position the mask has BEST for actions that are proven to be best, at least one, and OPEN for
    those that may be best. In other positions it has OPEN alone.

    Returns:
        Whether a search of at most `limit` positions solved it; if not, the record is unchanged.
    """

    def __call__(self, state: Record, memory: Memory, row: int, limit: int, mask: Mask) -> bool: ...


class Finish(Protocol):
    """Plays another record of the same search to its end under perfect play.

    Returns:
        Whether a search of at most `limit` positions solved it; if not, the record is unchanged.
    """

    def __call__(self, state: Record, memory: Memory, row: int, limit: int) -> bool: ...


@dataclass(frozen=True)
class SideSolver:
    """Compiled functions for searches that solve many positions side by side.

    Attributes:
        memory: Returns working memory, in plain Python.
        solve: Solves a position.
        finish: Plays another record of the same search to its end.
    """

    memory: MakeMemory
    solve: Solve
    finish: Finish


@dataclass(frozen=True, kw_only=True)
class ExactSolver:
    """A game's exact solver.

    Attributes:
        make: Returns a solver with a table of that many positions.
        side_by_side: The solver of many positions side by side.
    """

    make: Callable[[int], Solver]
    side_by_side: SideSolver
