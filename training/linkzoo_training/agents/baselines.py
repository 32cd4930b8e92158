"""Agents without a network: greedy, tree search, and exact play where the game has a solver."""

from collections.abc import Iterator
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Positions
from linkzoo.core.arguments import integer
from linkzoo.core.solver import DRAW
from linkzoo.engine.rng import STREAM_ACTION, random_u64
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.search import uct
from linkzoo_training.search.greedy import greedy
from linkzoo_training.search.linear import NO_SCORER, WHOLE_GAME
from linkzoo_training.search.monte_carlo import action_values
from linkzoo_training.search.solver import solver, successors

MAX_SIMULATIONS = 10**6  # tree search limit: about 60 MB per thread
_AT_ONCE = 2**20  # max simulations per call: a few seconds, so that Ctrl-C is handled
MARGIN_WEIGHT = 0.5  # a margin is far less noisy than a win


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
        sees: The visible information: "own" (the seat's), "hands" (all hands), or "all" (future
            chance, too). The last two are upper bounds on playing strength.

    Raises:
        ValueError: A number is out of range.
    """

    def __init__(
        self, simulations: int, exploration: float | None = None, *, sees: uct.Sight = "own"
    ) -> None:
        simulations = integer("simulations", simulations, 1, MAX_SIMULATIONS)
        if exploration is not None and not 0 <= exploration < inf:
            raise ValueError(f"exploration={exploration} is not 0 or more, and finite")
        self.simulations = simulations
        self.exploration = exploration
        self.sees = sees
        names = {"own": "uct", "hands": "hands", "all": "cheat"}
        self.name = f"{names[sees]}-{simulations}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the most visited action of each position, int64[N]."""
        states = positions.states.copy()
        seeds = positions.seeds
        masks, actions = _buffers(positions)
        search = uct.searcher(positions.game, self.sees)
        exploration = positions.game.facts.uct_c
        if self.exploration is not None:
            exploration = float(self.exploration)
        count = self.simulations
        for part in parts(len(states), count):
            search(states[part], seeds[part], count, exploration, masks[part], actions[part])
        return actions


class MonteCarloAgent:
    """Plays the action with the best mean result over random playouts (`search.monte_carlo`).

    Args:
        playouts: Playouts per legal action.
        score_margin_weight: Weight of the score margin added to the final payoff.

    Raises:
        ValueError: A number is out of range.
    """

    def __init__(self, playouts: int, score_margin_weight: float = MARGIN_WEIGHT) -> None:
        playouts = integer("playouts", playouts, 1, MAX_SIMULATIONS)
        if not 0 <= score_margin_weight < inf:
            raise ValueError(f"score_margin_weight={score_margin_weight} is not 0 or more, finite")
        self.playouts = playouts
        self.score_margin_weight = score_margin_weight
        self.name = f"mc-{playouts}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the best action of each position, int64[N]; ties go to the lowest index."""
        values = self.action_values(positions, self.score_margin_weight)
        return np.asarray(np.where(positions.action_mask, values, -inf).argmax(1), np.int64)

    def action_values(self, positions: Positions, score_margin_weight: float) -> NDArray[Any]:
        """Estimates each action's value for the seat to act.

        Args:
            positions: N positions.
            score_margin_weight: The weight of the margin, instead of the agent's.

        Returns:
            float32[N, num_actions]; 0 for illegal actions.
        """
        states = positions.states
        masks = positions.action_mask
        values = np.empty(masks.shape, np.float32)
        estimate = action_values(positions.game)
        playouts = np.full(len(states), self.playouts)
        for part in parts(len(states), self.playouts * int(masks.sum(1).max(initial=1))):
            estimate(
                states[part],
                positions.seeds[part],
                playouts[part],
                float(score_margin_weight),
                NO_SCORER,
                WHOLE_GAME,
                masks[part],
                values[part],
            )
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
        actions = []
        for state, seed in zip(positions.states, positions.seeds, strict=True):
            after = successors(positions.game, state)
            shuffled = sorted(
                after, key=lambda action: int(random_u64(seed, STREAM_ACTION, action))
            )
            winner = exact.winner(state)
            if winner in (state.seat, DRAW):
                best = (action for action in shuffled if exact.winner(after[action]) == winner)
                actions.append(next(best))
            else:
                actions.append(shuffled[0])
        return np.array(actions, np.int64)


def parts(count: int, simulations: int) -> Iterator[slice]:
    """Splits N positions into slices that stay within the simulations of one call."""
    size = max(4 * get_num_threads(), _AT_ONCE // simulations)
    return (slice(first, first + size) for first in range(0, count, size))


def _buffers(positions: Positions) -> tuple[NDArray[np.int8], NDArray[np.int64]]:
    """Returns uninitialised action masks and actions of N positions."""
    count = len(positions)
    return np.empty((count, positions.game.num_actions), np.int8), np.empty(count, np.int64)
