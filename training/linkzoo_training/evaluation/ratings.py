"""Bradley-Terry ratings of many agents from the matches between them.

In each game of a match one agent plays against copies of another. With n sides, agent a wins
against n - 1 copies of b with probability s_a / (s_a + (n - 1) s_b) for strengths s (Luce 1959;
Bradley and Terry 1952 for n = 2). A rating is 400 log10 s.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

import numpy as np
from numpy.typing import NDArray

from linkzoo_training.evaluation.result import by_block
from linkzoo_training.evaluation.statistics import Estimate

_PRIOR = 1.0  # blocks per agent, spread over its pairings
_RESAMPLES = 1000
_SEED = 7
_ROUNDS = 100  # max Newton iterations
_CLOSE = 1e-9


@dataclass(frozen=True)
class Pairing:
    """The games of an agent against copies of another agent.

    Attributes:
        a: The index of the agent.
        b: The index of the other agent.
        share: The agent's share of each win, [blocks, variants, sides].
    """

    a: int
    b: int
    share: NDArray[np.float64]

    @property
    def sides(self) -> int:
        """The number of sides."""
        return int(self.share.shape[2])


def share_table(pairings: Sequence[Pairing], agents: int) -> NDArray[np.float64]:
    """Returns win shares [A, A], of the row against copies of the column; NaN without games."""
    shares = np.full((agents, agents), np.nan)
    for pairing in pairings:
        shares[pairing.a, pairing.b] = pairing.share.mean()
        if pairing.sides == 2:
            shares[pairing.b, pairing.a] = 1 - pairing.share.mean()
    return shares


def bradley_terry(pairings: Sequence[Pairing], agents: int) -> list[Estimate]:
    """Returns the ratings of all agents on the Elo scale with 95 % intervals; their mean is 0.

    The prior of a pairing is a part of a block between equal agents, half won and half lost with
    two sides (Jeffreys 1946): ratings stay finite, and equal blocks don't give an empty interval.
    The rating is the fit to the blocks and the prior. The interval holds 95 % of the fits to
    randomly weighted blocks and prior (the Bayesian bootstrap of Rubin 1981).

    Args:
        pairings: The games of each pair of agents, in any number of blocks.
        agents: The number of agents.

    Returns:
        The rating of each agent.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    prior = _PRIOR * agents / (2 * len(pairings))
    columns = []
    for pairing in pairings:
        scores, counts = np.unique(by_block(pairing.share), return_counts=True)
        scores = np.append(scores, [1, 0])
        weights = np.append(counts, [prior / pairing.sides, prior - prior / pairing.sides])
        drawn = generator.dirichlet(weights, _RESAMPLES)
        columns.append(np.vstack([weights / weights.sum(), drawn]) @ scores)
    ratings = _fit(pairings, np.stack(columns, 1), prior, agents)
    low, high = np.percentile(ratings[1:], [2.5, 97.5], axis=0).tolist()
    return [Estimate(*values) for values in zip(ratings[0].tolist(), low, high, strict=True)]


def _fit(
    pairings: Sequence[Pairing], shares: NDArray[np.float64], prior: float, agents: int
) -> NDArray[np.float64]:
    """Returns the most likely ratings [R, agents] for the mean shares [R, pairings].

    The model is a logistic regression on log strengths, solved by Newton's method.
    """
    one_hot = np.eye(agents)
    difference = np.array([one_hot[pairing.a] - one_hot[pairing.b] for pairing in pairings])
    log_copies = np.array([log(pairing.sides - 1) for pairing in pairings])
    blocks = np.array([len(pairing.share) + prior for pairing in pairings])
    log_strength = np.zeros((len(shares), agents))
    for _ in range(_ROUNDS):
        expected = 1 / (1 + np.exp(log_copies - log_strength @ difference.T))
        gradient = (blocks * (shares - expected)) @ difference
        weight = blocks * expected * (1 - expected)
        # The constant keeps the mean at 0: games don't determine it.
        hessian = (difference.T * weight[:, None]) @ difference + 1 / agents
        step = np.linalg.solve(hessian, gradient[..., None])[..., 0]
        log_strength += np.clip(step, -2, 2)
        if abs(step).max() < _CLOSE:
            break
    return np.asarray(400 / log(10) * (log_strength - log_strength.mean(1, keepdims=True)))
