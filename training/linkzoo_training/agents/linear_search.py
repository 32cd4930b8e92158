"""A linear scorer with a search before each decision: playouts that all seats play by its scores.

The candidates share the playouts by sequential halving (Karnin, Koren and Somekh, "Almost optimal
exploration in multi-armed bandits", ICML 2013): all get equally many, the better half goes on. The
n-th playouts of all candidates share a world, so that they differ by the action and not by luck.
The mean results are added to the scores, with a weight that grows with the playouts. So noise
doesn't change a clear choice of the scorer, and a clear choice takes no playouts. Where a linear
critic ships (`lab/linear_critic.py`), it ends playouts early: its errors are smaller than their
luck.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.arguments import integer
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.baselines import MARGIN_WEIGHT, MAX_SIMULATIONS, parts
from linkzoo_training.agents.linear import LinearAgent, shipped_critic
from linkzoo_training.search.monte_carlo import action_values

# The score of a result is (_PRIOR_PLAYOUTS + playouts) * growth, measured on labelled positions.
_PRIOR_PLAYOUTS = 16
_GROWTH = 0.25
# Where playouts end sooner than the game, the winner is open: margins count for most of a result.
SOONER_MARGIN_WEIGHT = 8.0
_SOONER_GROWTH = 0.125
_MAX_GAP = 4.0  # between the best score and a candidate's: less is 1/55 as probable


class LinearSearchAgent:
    """Plays the candidate with the best score and playouts together.

    Args:
        scorer: The linear scorer.
        simulations: Playouts per decision, about.

    Raises:
        ValueError: `simulations` is out of range.
    """

    def __init__(self, scorer: LinearAgent, simulations: int) -> None:
        self.scorer = scorer
        self.simulations = integer("simulations", simulations, 1, MAX_SIMULATIONS)
        self.name = f"{scorer.name}:{self.simulations}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns an action of each position, int64[N]; raises as `LinearAgent.act`."""
        scores, actions = self.scorer.scores(positions)
        candidates = scores >= scores.max(1, keepdims=True) - _MAX_GAP
        rows = np.flatnonzero(candidates.sum(1) > 1)
        for part in parts(len(rows), self.simulations):
            chosen = rows[part]
            actions[chosen] = self._halve(
                positions.game,
                positions.states[chosen],
                positions.seeds[chosen],
                scores[chosen],
                candidates[chosen],
            )
        return actions

    def _halve(
        self,
        game: Game,
        states: NDArray[np.void],
        seeds: NDArray[np.uint64],
        scores: NDArray[np.float32],
        candidates: NDArray[np.bool_],
    ) -> NDArray[np.int64]:
        """Returns the best of several candidates [N, A] of each record."""
        states = states.copy()
        margin_weight = MARGIN_WEIGHT
        growth = _GROWTH
        for name, value in game.facts.playout_options.items():
            states[name] = value
            margin_weight = SOONER_MARGIN_WEIGHT
            growth = _SOONER_GROWTH
        play = action_values(game, linear=True)
        scorer = self.scorer.scorer(game)
        critic = shipped_critic(game)
        rounds = np.ceil(np.log2(candidates.sum(1))).astype(np.int64)
        totals = np.zeros(scores.shape, np.float32)
        played = np.zeros(len(states), np.int64)
        for number in range(int(rounds.max())):
            counts = candidates.sum(1)
            rows = np.flatnonzero(counts > 1)
            share = np.maximum(1, self.simulations // (rounds * counts))[rows]
            values = np.empty((len(rows), scores.shape[1]), np.float32)
            new_seeds = random_u64s(seeds[rows], STREAM_ACTION, number)
            masks = candidates[rows].astype(np.int8)
            play(states[rows], new_seeds, share, margin_weight, scorer, critic, masks, values)
            totals[rows] += share[:, None] * values
            played[rows] += share
            weight = (_PRIOR_PLAYOUTS + played[rows, None]) * np.float32(growth)
            improved = scores[rows] + weight * totals[rows] / played[rows, None]
            order = np.argsort(-np.where(masks, improved, -np.inf), 1, kind="stable")
            half = (counts[rows, None] + 1) // 2
            np.put_along_axis(masks, order, np.arange(masks.shape[1]) < half, 1)
            candidates[rows] = masks
        return np.asarray(candidates.argmax(1), np.int64)
