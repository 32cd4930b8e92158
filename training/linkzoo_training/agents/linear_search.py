"""A linear scorer with a search before each decision: playouts that all seats play by its scores.

The candidates share the playouts by sequential halving (Karnin, Koren and Somekh, "Almost optimal
exploration in multi-armed bandits", ICML 2013): all get equally many, the half with the better mean
results goes on. The n-th playouts of all candidates share a world, so that they differ by the
action and not by luck. Candidates have nearly the best score, so that noise doesn't change a clear
choice of the scorer, and a clear choice takes no playouts. Playouts end at `Facts.playout_plies`,
where score margins, or a linear critic that ships (`lab/linear_critic.py`), stand for the result:
their errors are smaller than the luck of what follows.
"""

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.arguments import integer
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.baselines import MARGIN_WEIGHT, MAX_SIMULATIONS, parts
from linkzoo_training.agents.linear import LinearAgent, shipped_critic
from linkzoo_training.search.linear import WHOLE_GAME, Horizon
from linkzoo_training.search.monte_carlo import action_values

# Where playouts end sooner than the game, the winner is open: margins count for most of a result.
SOONER_MARGIN_WEIGHT = 8.0
_MAX_GAP = 4.0  # between the best score and a candidate's: less is 1/55 as probable


class LinearSearchAgent:
    """Plays the candidate with the best playouts.

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
        for name, value in game.facts.playout_options.items():
            states[name] = value
            margin_weight = SOONER_MARGIN_WEIGHT
        play = action_values(game, linear=True)
        scorer = self.scorer.scorer(game)
        horizon = WHOLE_GAME
        if game.facts.playout_plies is not None:
            horizon = Horizon(game.facts.playout_plies, shipped_critic(game))
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
            play(states[rows], new_seeds, share, margin_weight, scorer, horizon, masks, values)
            totals[rows] += share[:, None] * values
            played[rows] += share
            means = np.where(masks, totals[rows] / played[rows, None], -np.inf)
            order = np.lexsort((-scores[rows], -means))  # by score where means are equal
            half = (counts[rows, None] + 1) // 2
            np.put_along_axis(masks, order, np.arange(masks.shape[1]) < half, 1)
            candidates[rows] = masks
        return np.asarray(candidates.argmax(1), np.int64)
