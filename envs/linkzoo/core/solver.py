"""Exact solvers: what the module in `Game.solver` has.

`Solver(entries)` makes a `Solver` that remembers so many positions. Searches that solve many
positions side by side take compiled functions:

- `memory(count, limit)` makes the working memory of `count` rows, arrays that the others take
- `forget(memory, row)` empties a row's
- `finish(state, memory, row, limit)` makes a record end as perfect play would
- `keep_best(state, memory, row, limit, mask)` leaves the best of the legal actions in a mask

The latter two return whether the position was solved by a search of at most `limit` positions.
"""

from typing import Protocol

from linkzoo.engine.compiled import Record

LIMIT = 2**24  # positions in a search: about a minute
ENTRIES = 2**22  # positions that a solver remembers
DRAW = -1  # in the place of the seat that wins


class OutOfReachError(ValueError):
    """A position takes longer to solve than was allowed."""


class Solver(Protocol):
    """Solves positions of one game of two seats, with any options; remembers what it has found.

    `winner` and `score` raise OutOfReachError when they have searched more than about
    `limit` positions.
    """

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """The seat that wins if both play perfectly, or DRAW."""
        ...

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """What the players play for, at the end, if both play perfectly for it.

        None where it isn't settled yet who plays for what.
        """
        ...

    def forget(self) -> None:
        """Empties the memory."""
        ...
