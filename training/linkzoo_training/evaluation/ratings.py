"""Ratings of many agents from the matches between them: Bradley-Terry and OpenSkill.

A match is one agent on each side in turn against copies of another; with n sides, agent a wins its
game against n - 1 copies of b with probability s_a / (s_a + (n - 1) s_b) for strengths s (Luce
1959; Bradley and Terry 1952 for n = 2). Ratings are 400 log10 s.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from openskill.models import PlackettLuce

from linkzoo_training.evaluation.statistics import Estimate

_ROUNDS = 2000  # of Hunter's iteration, at most
_CLOSE = 1e-9
_EXTREMES = 2  # virtual blocks all won, and as many all lost, that a resample may draw
_PRIOR = 1.0  # virtual games of every pair, won as if both were equal: ratings stay finite
_RESAMPLES = 200
_SEED = 7


@dataclass(frozen=True)
class Pairing:
    """Blocks that agent `a` played against copies of agent `b`; both are indices."""

    a: int
    b: int
    share: NDArray[np.float64]  # [B, sides]: a's share of the win in each game

    @property
    def sides(self) -> int:
        """Sides of the game."""
        return int(self.share.shape[1])


def bradley_terry(pairings: Sequence[Pairing], agents: int) -> list[Estimate]:
    """Ratings of all agents, their mean 0; intervals by resampling whole blocks (bootstrap).

    Beside the blocks of a pairing there are four more to draw from, half of them at each end of the
    scale (the four of Agresti and Coull 1998). So blocks that are all alike, be they won, lost or
    even, don't make an interval shrink to nothing.
    """
    generator = np.random.Generator(np.random.PCG64(_SEED))
    best = _fit(pairings, [p.share for p in pairings], agents)
    pools = [np.concatenate([p.share, *_EXTREMES * [_ends(p.sides)]]) for p in pairings]
    drawn = []
    for _ in range(_RESAMPLES):
        shares = [
            pool[generator.integers(len(pool), size=len(p.share))]
            for pool, p in zip(pools, pairings, strict=True)
        ]
        drawn.append(_fit(pairings, shares, agents))
    low, high = np.percentile(drawn, [2.5, 97.5], axis=0)
    return [
        Estimate(float(mean), min(float(mean), float(lo)), max(float(mean), float(hi)))
        for mean, lo, hi in zip(best, low, high, strict=True)
    ]


def _ends(sides: int) -> NDArray[np.float64]:
    """A block all won and one all lost, [2, sides]."""
    return np.repeat([[1.0], [0.0]], sides, axis=1)


def _fit(
    pairings: Sequence[Pairing], shares: Sequence[NDArray[np.float64]], agents: int
) -> NDArray[np.float64]:
    """The likeliest ratings, by the minorisation of Hunter (2004)."""
    wins = np.zeros(agents)
    games: list[tuple[int, int, int, float]] = []  # a, b, copies of b, games
    for pairing, share in zip(pairings, shares, strict=True):
        played, won, copies = share.size, float(share.sum()), pairing.sides - 1
        wins[pairing.a] += won + _PRIOR / pairing.sides
        wins[pairing.b] += played - won + _PRIOR * copies / pairing.sides
        games.append((pairing.a, pairing.b, copies, played + _PRIOR))
    strength = np.ones(agents)
    for _ in range(_ROUNDS):
        weight = np.zeros(agents)
        for a, b, copies, count in games:
            each = count / (strength[a] + copies * strength[b])
            weight[a] += each
            weight[b] += copies * each
        new = wins / weight
        new /= np.exp(np.log(new).mean())
        done = np.abs(np.log(new / strength)).max() < _CLOSE
        strength = new
        if done:
            break
    ratings: NDArray[np.float64] = 400 * np.log10(strength)
    return ratings


def openskill(pairings: Sequence[Pairing], agents: int) -> list[Estimate]:
    """OpenSkill's Plackett-Luce ratings (Joshy 2024): mu with mu ± 1.96 sigma.

    Games count block by block, each pairing in turn, as a ladder would see them. The copies of an
    agent in one game play for one rating: the mean of what the game makes of each.
    """
    model = PlackettLuce()
    ratings = [model.rating() for _ in range(agents)]
    for block in range(max(len(pairing.share) for pairing in pairings)):
        for pairing in pairings:
            for share in pairing.share[block : block + 1].ravel():
                copies = [ratings[pairing.b]] * (pairing.sides - 1)
                ranks = [share == 0, *[share == 1] * len(copies)]  # a shared win is a tie
                teams = [[ratings[pairing.a]], *([copy] for copy in copies)]
                (focal,), *others = model.rate(teams, ranks=[float(rank) for rank in ranks])
                ratings[pairing.a] = focal
                ratings[pairing.b] = model.rating(
                    mu=float(np.mean([copy.mu for (copy,) in others])),
                    sigma=float(np.mean([copy.sigma for (copy,) in others])),
                )
    return [Estimate(r.mu, r.mu - 1.96 * r.sigma, r.mu + 1.96 * r.sigma) for r in ratings]
