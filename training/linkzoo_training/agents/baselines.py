"""Agents without a network: greedy, tree search, and perfect play where there is a solver."""

from math import inf

import numpy as np
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo.chance import STREAM_ACTION, word
from linkzoo.solver import DRAW
from linkzoo.threads import get_num_threads
from linkzoo_training.search import uct
from linkzoo_training.search.greedy import greedy
from linkzoo_training.search.solver import solver, successors

_MOST_SIMULATIONS = 10**6  # of tree search: about 60 MB for each thread
_AT_ONCE = 2**20  # simulations in one call: a second or a few, in which nothing hears Ctrl-C


class GreedyAgent:
    """Plays the action that the game appraises best (its margin, by default), ties at random."""

    name = "greedy"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The greedy action of each position, int64[N]."""
        masks, actions = _buffers(positions)
        greedy(positions.game)(positions.states.copy(), positions.seeds, masks, actions)
        return actions


class UctAgent:
    """Tree search with random rollouts (`search.uct`): `simulations` of them for each move.

    `exploration` is UCB1's constant; None is that of the game.

    One that `cheats` sees what is hidden from its seat, and the chance ahead: no player, but a
    ceiling to measure players by.
    """

    def __init__(
        self, simulations: int, exploration: float | None = None, *, cheats: bool = False
    ) -> None:
        if not 1 <= simulations <= _MOST_SIMULATIONS:
            raise ValueError(f"simulations={simulations} is not in 1..{_MOST_SIMULATIONS}")
        if exploration is not None and not 0 <= exploration < inf:
            raise ValueError(f"exploration={exploration} is not 0 or more, and finite")
        self.simulations, self.exploration = simulations, exploration
        self.cheats = cheats
        self.name = f"{'cheat' if cheats else 'uct'}-{simulations}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The most visited action of each position, int64[N]; positions share the CPU threads."""
        masks, actions = _buffers(positions)
        search = uct.searcher(positions.game, self.cheats)
        states, seeds = positions.states.copy(), positions.seeds
        constant = positions.game.uct_c if self.exploration is None else float(self.exploration)
        count = max(4 * get_num_threads(), _AT_ONCE // self.simulations)
        for first in range(0, len(states), count):
            part = slice(first, first + count)
            arrays = states[part], seeds[part], masks[part], actions[part]
            search(*arrays[:2], self.simulations, constant, *arrays[2:])
        return actions


class ExactAgent:
    """Plays perfectly, in games that have a solver (`Game.solver`) and positions within its reach.

    A win is kept, or a draw, by any of the actions that keep it; a lost position is played at
    random.
    """

    name = "exact"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """An action of each position, int64[N]; OutOfReachError if one takes too long to solve."""
        exact = solver(positions.game)
        chosen = []
        for state, seed in zip(positions.states, positions.seeds, strict=True):
            after = successors(positions.game, state)
            order = sorted(after, key=lambda action: int(word(seed, STREAM_ACTION, action)))
            winner = exact.winner(state)
            keep = (action for action in order if exact.winner(after[action]) == winner)
            chosen.append(next(keep) if winner in (state.seat, DRAW) else order[0])
        return np.array(chosen, np.int64)


def _buffers(positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Working space and room for the actions of the compiled players."""
    count = len(positions)
    return np.empty((count, positions.game.num_actions), np.int8), np.empty(count, np.int64)
