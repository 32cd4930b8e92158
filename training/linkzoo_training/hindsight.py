"""How games that are over would have ended if both seats had played perfectly late in them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game
from linkzoo_training.search.exact import OutOfReachError, make_solver

_ENTRIES = 2**16  # of the solver's memory, which is emptied before every game


class Hindsight:
    """Solves the positions of a game from the last one back, until one takes too long.

    ValueError if the game has no solver. The memory is empty before every game, so that what is
    found is a function of that game alone.
    """

    def __init__(self, game: Game, limit: int) -> None:
        self._solver, self._limit = make_solver(game, _ENTRIES), limit

    def ends(
        self, states: NDArray[Any], final: NDArray[Any]
    ) -> tuple[NDArray[Any], NDArray[np.bool_]]:
        """The positions [K] of a game in their order, and the record [1] that it ended with.

        Returns records [K] of ends, and bool[K], whether a position is solved: a solved one ends as
        perfect play would have it, the others as the first solved one after them.
        """
        ends, solved = np.repeat(final, len(states)), np.zeros(len(states), np.bool_)
        self._solver.forget()
        for row in reversed(range(len(states))):
            try:
                end = self._solver.end(states[row], self._limit)
            except OutOfReachError:
                break
            if end is None:
                break
            ends[: row + 1], solved[row] = end, True
        return ends, solved
