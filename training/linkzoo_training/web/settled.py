"""Exact outcomes of positions between two players in which nothing is hidden and no luck is left.

Such as the end of a round in LINK-O with an empty bag: a seat that counts the tiles knows the other
hand. All lines are played out.
"""

import numpy as np

from linkzoo import Game
from linkzoo.core.solver import OutOfReachError
from linkzoo.core.state import Record

LIMIT = 50_000  # positions of a search
_WORLDS = range(1, 17)  # seeds of the worlds that have to be the same


def sure_wins(game: Game, state: Record, limit: int = LIMIT) -> list[int]:
    """Returns the actions after which the seat to act wins alone, whatever the other seat plays.

    Raises:
        OutOfReachError: Something is hidden, luck is left, or there are too many positions.
    """
    search = _Search(game, int(state.seat), limit)
    guide = game.guide
    return [action for action in guide.legal(state) if search.wins(guide.after(state, action))]


class _Search:
    """Plays out all lines; positions that were met are kept."""

    def __init__(self, game: Game, seat: int, limit: int) -> None:
        self.game = game
        self.seat = seat
        self.limit = limit
        self.known: dict[bytes, bool] = {}

    def wins(self, state: Record) -> bool:
        """Returns whether the seat wins a position with best play of both."""
        if state.seat < 0:
            return bool(state.winners == 1 << self.seat)
        key = state.tobytes()
        if key not in self.known:
            if len(self.known) >= self.limit:
                raise OutOfReachError(f"not solved by a search of {self.limit:,} positions")
            self.check_settled(state)
            guide = self.game.guide
            results = (self.wins(guide.after(state, action)) for action in guide.legal(state))
            self.known[key] = any(results) if state.seat == self.seat else all(results)
        return self.known[key]

    def check_settled(self, state: Record) -> None:
        """Raises OutOfReachError unless every seat knows all, and what comes."""
        for seat in range(int(state.num_players)):
            for seed in _WORLDS:
                world: Record = state.reshape(1).copy()[0]
                self.game.determinize(world, seat, np.uint64(seed))
                world.seed = state.seed
                if world.tobytes() != state.tobytes():
                    raise OutOfReachError("something is hidden or random")
