"""Agents without a network: greedy, tree search, and exact play where the game has a solver."""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo.core.solver import DRAW
from linkzoo.engine.rng import STREAM_ACTION, random_u64
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.search import uct
from linkzoo_training.search.greedy import greedy
from linkzoo_training.search.monte_carlo import action_values
from linkzoo_training.search.solver import solver, successors

_MAX_SIMULATIONS = 10**6  # tree search limit: about 60 MB per thread
_AT_ONCE = 2**20  # max simulations per call: a few seconds, so that Ctrl-C is handled
_DEFAULT_MARGIN_WEIGHT = 0.5  # a margin is far less noisy than a win


class GreedyAgent:
    """Plays the action with the best heuristic value (default: the margin), ties at random."""

    name = "greedy"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the greedy action of each position, int64[N]."""
        masks, actions = _buffers(positions)
        greedy(positions.game)(positions.states.copy(), positions.seeds, masks, actions)
        return actions


class UctAgent:
    """Plays by tree search with random rollouts (`search.uct`).

    Args:
        simulations: Rollouts per move.
        exploration: The constant of UCB1; None for the game's default.
        cheats: Whether it sees hidden information and future chance: an upper bound on playing
            strength.

    Raises:
        ValueError: A number is out of range.
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
        """Returns the most visited action of each position, int64[N]."""
        masks, actions = _buffers(positions)
        search = uct.searcher(positions.game, self.cheats)
        states, seeds = positions.states.copy(), positions.seeds
        constant = (
            positions.game.facts.uct_c if self.exploration is None else float(self.exploration)
        )
        for part in _parts(len(states), self.simulations):
            arrays = states[part], seeds[part], masks[part], actions[part]
            search(*arrays[:2], self.simulations, constant, *arrays[2:])
        return actions


class MonteCarloAgent:
    """Plays the action with the best mean result over random playouts (`search.monte_carlo`).

    Args:
        playouts: Playouts per legal action.
        score_margin_weight: Weight of the score margin added to the final payoff.

    Raises:
        ValueError: A number is out of range.
    """

    def __init__(self, playouts: int, score_margin_weight: float = _DEFAULT_MARGIN_WEIGHT) -> None:
        _check_count("playouts", playouts)
        if not 0 <= score_margin_weight < inf:
            raise ValueError(f"score_margin_weight={score_margin_weight} is not 0 or more, finite")
        self.playouts, self.score_margin_weight = playouts, score_margin_weight
        self.name = f"mc-{playouts}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the best action of each position, int64[N]; ties go to the lowest index."""
        values = self.action_values(positions, self.score_margin_weight)
        best: NDArray[np.int64] = np.where(positions.action_mask, values, -inf).argmax(1)
        return best

    def action_values(self, positions: Positions, score_margin_weight: float) -> NDArray[Any]:
        """Estimates the value of every action for the seat to act.

        Args:
            positions: N positions.
            score_margin_weight: As for the agent.

        Returns:
            Action values float32[N, num_actions], 0 for illegal actions.
        """
        estimate, masks = action_values(positions.game), positions.action_mask
        values = np.empty(masks.shape, np.float32)
        for part in _parts(len(positions), self.playouts * int(masks.sum(1).max(initial=1))):
            numbers = self.playouts, float(score_margin_weight)
            arrays = positions.states[part], positions.seeds[part], masks[part], values[part]
            estimate(*arrays[:2], *numbers, *arrays[2:])
        return values


class ExactAgent:
    """Plays perfectly in games with a solver (`Game.solver`), within the solver's reach.

    Chooses at random among the actions that keep a win or a draw, and among all actions in a lost
    position.
    """

    name = "exact"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns a perfect action for each position, int64[N].

        Raises:
            OutOfReachError: A position takes too long to solve.
            ValueError: The game has no solver.
        """
        exact = solver(positions.game)
        chosen = []
        for state, seed in zip(positions.states, positions.seeds, strict=True):
            after = successors(positions.game, state)
            order = sorted(after, key=lambda action: int(random_u64(seed, STREAM_ACTION, action)))
            winner = exact.winner(state)
            keep = (action for action in order if exact.winner(after[action]) == winner)
            chosen.append(next(keep) if winner in (state.seat, DRAW) else order[0])
        return np.array(chosen, np.int64)


def _check_count(name: str, value: int) -> None:
    if not 1 <= value <= _MAX_SIMULATIONS:
        raise ValueError(f"{name}={value} is not in 1..{_MAX_SIMULATIONS}")


def _parts(count: int, simulations: int) -> Iterator[slice]:
    """Splits N positions into slices that stay within the simulations of one call."""
    size = max(4 * get_num_threads(), _AT_ONCE // simulations)
    yield from (slice(first, first + size) for first in range(0, count, size))


def _buffers(positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Allocates the output arrays of compiled players: masks and actions."""
    count = len(positions)
    return np.empty((count, positions.game.num_actions), np.int8), np.empty(count, np.int64)
