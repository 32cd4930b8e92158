"""Agents without a network: greedy, tree search, and perfect play where there is a solver."""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo.engine.rng import STREAM_ACTION, word
from linkzoo.core.solver import DRAW
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.search import uct
from linkzoo_training.search.greedy import greedy
from linkzoo_training.search.monte_carlo import action_values
from linkzoo_training.search.solver import solver, successors

_MOST_SIMULATIONS = 10**6  # of tree search: about 60 MB for each thread
_AT_ONCE = 2**20  # simulations in one call: a second or a few, in which nothing hears Ctrl-C
_USUAL_MARGIN_WEIGHT = 0.5  # a margin is far less noisy than a win


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
        _check_count("simulations", simulations)
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
        for part in _parts(len(states), self.simulations):
            arrays = states[part], seeds[part], masks[part], actions[part]
            search(*arrays[:2], self.simulations, constant, *arrays[2:])
        return actions


class MonteCarloAgent:
    """Plays what is worth most if all play at random after it (`search.monte_carlo`).

    Every legal action has `playouts`; an end is worth its payoff plus `score_margin_weight` times
    its margin.
    """

    def __init__(self, playouts: int, score_margin_weight: float = _USUAL_MARGIN_WEIGHT) -> None:
        _check_count("playouts", playouts)
        if not 0 <= score_margin_weight < inf:
            raise ValueError(f"score_margin_weight={score_margin_weight} is not 0 or more, finite")
        self.playouts, self.score_margin_weight = playouts, score_margin_weight
        self.name = f"mc-{playouts}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """The action worth most in each position, the first of several, int64[N]."""
        values = self.action_values(positions, self.score_margin_weight)
        best: NDArray[np.int64] = np.where(positions.action_mask, values, -inf).argmax(1)
        return best

    def action_values(self, positions: Positions, score_margin_weight: float) -> NDArray[Any]:
        """What actions are worth to the seat to act, float32[N, num_actions]; 0 if not legal."""
        estimate, masks = action_values(positions.game), positions.action_mask
        values = np.empty(masks.shape, np.float32)
        for part in _parts(len(positions), self.playouts * int(masks.sum(1).max(initial=1))):
            numbers = self.playouts, float(score_margin_weight)
            arrays = positions.states[part], positions.seeds[part], masks[part], values[part]
            estimate(*arrays[:2], *numbers, *arrays[2:])
        return values


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


def _check_count(name: str, value: int) -> None:
    if not 1 <= value <= _MOST_SIMULATIONS:
        raise ValueError(f"{name}={value} is not in 1..{_MOST_SIMULATIONS}")


def _parts(count: int, simulations: int) -> Iterator[slice]:
    """N positions in parts, each of about as many simulations as may run in one call."""
    size = max(4 * get_num_threads(), _AT_ONCE // simulations)
    yield from (slice(first, first + size) for first in range(0, count, size))


def _buffers(positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Working space and room for the actions of the compiled players."""
    count = len(positions)
    return np.empty((count, positions.game.num_actions), np.int8), np.empty(count, np.int64)
