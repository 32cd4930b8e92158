"""A search before each decision: playouts that all seats play by a linear scorer.

The candidates share the playouts by sequential halving (Karnin, Koren and Somekh, "Almost optimal
exploration in multi-armed bandits", ICML 2013): all get equally many, the half with the better mean
results goes on. The n-th playouts of all candidates share a world, so that they differ by the
action and not by luck. Candidates have nearly the best score, so that noise doesn't change a clear
choice, and a clear choice takes no playouts. Playouts end at `Facts.playout_plies`, where score
margins, or a linear critic that ships (`lab/linear_critic.py`), stand for the result: their errors
are smaller than the luck of what follows.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.arguments import integer
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.baselines import MARGIN_WEIGHT, MAX_SIMULATIONS, parts
from linkzoo_training.agents.linear import shipped_critic
from linkzoo_training.search.linear import WHOLE_GAME, Horizon, Scorer
from linkzoo_training.search.monte_carlo import action_values

# Of playouts under options that end a game sooner (`Facts.playout_options`): who wins the whole
# game is open, so margins count for most of a result.
SOONER_MARGIN_WEIGHT = 8.0
_MAX_GAP = 4.0  # between the best score and a candidate's: less is 1/55 as probable


class Scoring(Protocol):
    """Scores that choose the candidates, and the linear scorer that plays the playouts."""

    @property
    def name(self) -> str:
        """The name in results."""
        ...

    def scores(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Returns scores float32[N, A], -inf if illegal, and the best actions int64[N]."""
        ...

    def scorer(self, game: Game) -> Scorer:
        """Returns the linear scorer that plays the playouts."""
        ...


class Playouts(NamedTuple):
    """The playouts at N positions.

    Attributes:
        actions: The chosen actions, int64[N].
        counts: The playouts of each action, int64[N, A].
    """

    actions: NDArray[np.int64]
    counts: NDArray[np.int64]


class PlayoutAgent:
    """Plays the candidate with the best playouts.

    Args:
        scoring: The linear scorer, or a policy with one (`agents.policy_playouts`).
        simulations: Playouts per decision, about.

    Raises:
        ValueError: `simulations` is out of range.
    """

    def __init__(self, scoring: Scoring, simulations: int) -> None:
        self.scoring = scoring
        self.simulations = integer("simulations", simulations, 1, MAX_SIMULATIONS)
        self.name = f"{scoring.name}:{self.simulations}"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns an action of each position, int64[N]; raises as the scorer's `act`."""
        return self.play(positions).actions

    def play(self, positions: Positions) -> Playouts:
        """Plays the playouts of N positions; raises as `act`. Sure choices take none."""
        scores, actions = self.scoring.scores(positions)
        candidates = scores >= scores.max(1, keepdims=True) - _MAX_GAP
        result = Playouts(actions, np.zeros(scores.shape, np.int64))
        rows = np.flatnonzero(candidates.sum(1) > 1)
        for part in parts(len(rows), self.simulations):
            chosen = rows[part]
            halved = self._halve(
                positions.game,
                positions.states[chosen],
                positions.seeds[chosen],
                scores[chosen],
                candidates[chosen],
            )
            result.actions[chosen] = halved.actions
            result.counts[chosen] = halved.counts
        return result

    def _halve(
        self,
        game: Game,
        states: NDArray[np.void],
        seeds: NDArray[np.uint64],
        scores: NDArray[np.float32],
        candidates: NDArray[np.bool_],
    ) -> Playouts:
        """Plays the playouts of records with several candidates [N, A]."""
        states = states.copy()
        margin_weight = MARGIN_WEIGHT
        for name, value in game.facts.playout_options.items():
            states[name] = value
            margin_weight = SOONER_MARGIN_WEIGHT
        play = action_values(game, linear=True)
        scorer = self.scoring.scorer(game)
        horizon = WHOLE_GAME
        if game.facts.playout_plies is not None:
            horizon = Horizon(game.facts.playout_plies, shipped_critic(game))
        rounds = np.ceil(np.log2(candidates.sum(1))).astype(np.int64)
        totals = np.zeros(scores.shape, np.float32)
        counts = np.zeros(scores.shape, np.int64)
        for number in range(int(rounds.max())):
            left = candidates.sum(1)
            rows = np.flatnonzero(left > 1)
            share = np.maximum(1, self.simulations // (rounds * left))[rows]
            values = np.empty((len(rows), scores.shape[1]), np.float32)
            new_seeds = random_u64s(seeds[rows], STREAM_ACTION, number)
            masks = candidates[rows].astype(np.int8)
            play(states[rows], new_seeds, share, margin_weight, scorer, horizon, masks, values)
            totals[rows] += share[:, None] * values
            counts[rows] += share[:, None] * masks
            means = np.where(masks, totals[rows] / np.maximum(counts[rows], 1), -np.inf)
            order = np.lexsort((-scores[rows], -means))  # by score where means are equal
            half = (left[rows, None] + 1) // 2
            np.put_along_axis(masks, order, np.arange(masks.shape[1]) < half, 1)
            candidates[rows] = masks
        return Playouts(np.asarray(candidates.argmax(1), np.int64), counts)
