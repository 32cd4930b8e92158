"""Exact solvers: the interface of the module in `Game.solver`.

`Solver(entries)` makes a `Solver` with a table of that many positions. Searches that solve many
positions in parallel use compiled functions:

- `memory(count, limit)` allocates the working memory of `count` rows, used by the others
- `solve(state, memory, row, limit, mask)` clears a row's memory, plays a record to its end under
  perfect play, and keeps in a mask of its legal actions only those that may be best
- `finish(state, memory, row, limit)` plays another record of the same search to its end

The latter two return whether the position was solved by a search of at most `limit` positions; if
not, the record is as it was.
"""

from typing import Protocol

from linkzoo.core.state import Record

LIMIT = 2**24  # positions per search: about a minute
ENTRIES = 2**22  # positions in the table
DRAW = -1  # result instead of the winning seat


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
