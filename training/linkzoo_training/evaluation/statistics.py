"""Estimates from games: intervals, Elo, and a sequential test between two strengths."""

from dataclasses import dataclass
from math import isfinite, log, log10, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z = 1.959964  # a normal variable is within ±_Z with probability 0.95
ERROR = 0.05  # of either kind: accepting the wrong strength
BOUND = log((1 - ERROR) / ERROR)
_UNSEEN = 1e-3
_HALVINGS = 60


class Estimate(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float


class Counts(NamedTuple):
    """How games ended for an agent. Those that it won together with other sides are draws."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins:,} / {self.draws:,} / {self.losses:,}"


def wilson(mean: float, count: int) -> Estimate:
    """The 95 % score interval of a share from `count` independent games (Wilson 1927)."""
    spread = _Z**2 / count
    middle = (mean + spread / 2) / (1 + spread)
    half = _Z * sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return Estimate(mean, max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half)))


def from_blocks(scores: NDArray[np.float64], low: float, high: float) -> Estimate:
    """The mean of independent block scores in low..high, its interval from their variance.

    It is no narrower on either side than with _Z**2 more blocks, half of them at each end of the
    scale, which is Wilson's interval for scores at its ends (Agresti and Coull 1998). So blocks
    that are all alike, be they won, lost or even, don't make it shrink to nothing. A single block,
    which shows no variance, has the largest that its score allows.
    """
    mean, count = float(scores.mean()), len(scores)
    variance = float(scores.var(ddof=1)) if count > 1 else (mean - low) * (high - mean)
    half = _Z * sqrt(variance / count)
    weight = count + _Z**2
    middle = (count * mean + _Z**2 * (low + high) / 2) / weight
    least = _Z * sqrt(count * variance + (_Z * (high - low) / 2) ** 2) / weight
    return Estimate(
        mean,
        max(low, min(mean - half, middle - least)),
        min(high, max(mean + half, middle + least)),
    )


def elo(share: float) -> float | None:
    """The rating difference that gives a win share; None if it is infinite."""
    return 400 * log10(share / (1 - share)) if 0 < share < 1 else None


def expected_score(elo: float) -> float:
    """The win share that a rating difference gives (Elo 1978)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


@dataclass(frozen=True)
class Sprt:
    """Is A stronger than B by `high` Elo, or by no more than `low`?

    Wald's sequential probability ratio test (1945), generalised: a strength says which mean block
    scores have, and of all distributions with that mean the likeliest is taken. It is fishtest's
    pentanomial test (https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf and `LLRcalc.py`
    of https://github.com/official-stockfish/fishtest): a block of two games has one of five
    outcomes, of `games` one of 2 x games + 1, and an outcome that hasn't been seen counts as a
    thousandth of a block, so that certain results decide. The test is made after every block.

    ValueError unless low < high, both finite.
    """

    low: float
    high: float
    games: int = 2  # of a block

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"sprt: {self.low:g} and {self.high:g} are not both finite")
        if not self.low < self.high:
            raise ValueError(f"sprt: {self.low:g} is not below {self.high:g}")

    def log_ratios(self, blocks: NDArray[np.float64], since: int = 0) -> NDArray[np.float64]:
        """The log likelihood ratio of `high` to `low` after each block, but for the first `since`.

        `blocks` [B] are A's shares of the blocks from 0 to 1: of two games they are quarters.
        """
        halves = np.arange(2 * self.games + 1)
        seen = np.rint(blocks[:, None] * halves[-1]) == halves
        counts, outcomes = seen.cumsum(0)[since:].astype(np.float64), halves / halves[-1]
        counts[counts == 0] = _UNSEEN
        high, low = (
            _log_likelihood(counts, outcomes, expected_score(elo)) for elo in (self.high, self.low)
        )
        return high - low

    def end(self, blocks: NDArray[np.float64], since: int = 0) -> int | None:
        """How many blocks it took until one was accepted; None while it's open.

        `since`: after so many it was still open.
        """
        over = np.flatnonzero(abs(self.log_ratios(blocks, since)) >= BOUND)
        return since + int(over[0]) + 1 if len(over) else None

    def verdict(self, blocks: NDArray[np.float64]) -> str | None:
        """`high` or `low`, the one accepted with an error of 5 %; None while it's open."""
        end = self.end(blocks)
        if end is None:
            return None
        return "high" if self.log_ratios(blocks[:end], end - 1)[0] > 0 else "low"

    def to_dict(self, blocks: NDArray[np.float64]) -> dict[str, Any]:
        """JSON data: the two strengths, the ratio with its bounds, and the verdict."""
        return {
            "elo": [self.low, self.high],
            "log_ratio": float(self.log_ratios(blocks, len(blocks) - 1)[0]) if len(blocks) else 0.0,
            "bounds": [-BOUND, BOUND],
            "accepted": self.verdict(blocks),
        }


def _log_likelihood(
    counts: NDArray[np.float64], outcomes: NDArray[np.float64], mean: float
) -> NDArray[np.float64]:
    """Of outcomes [K] counted [B, K], by the likeliest distribution that has this mean; [B].

    It is relative to the likeliest distribution of all, that of the counts. With frequencies f_i of
    outcomes a_i it is f_i / (1 + x (a_i - mean)), where x makes its mean the right one; the sum
    that has to be 0 falls with x.
    """
    away = outcomes - mean
    low = np.full((len(counts), 1), -1 / away[-1])
    high = np.full((len(counts), 1), -1 / away[0])
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        positive = (counts * away / (1 + x * away)).sum(1, keepdims=True) > 0
        low, high = np.where(positive, x, low), np.where(positive, high, x)
    logs: NDArray[np.float64] = -(counts * np.log1p((low + high) / 2 * away)).sum(1)
    return logs
