"""Estimates from games: intervals, Elo, and a sequential test between two strengths."""

from dataclasses import dataclass
from math import isfinite, log, log10, sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_Z = 1.959964  # a normal variable is within ±_Z with probability 0.95
ERROR = 0.05  # probability of accepting the wrong one of two strengths
BOUND = log((1 - ERROR) / ERROR)  # of the log likelihood ratio
_UNSEEN = 1e-3  # blocks that an unseen outcome counts as
_HALVINGS = 60  # of the bisection


class Estimate(NamedTuple):
    """A mean with its 95 % interval."""

    mean: float
    low: float
    high: float

    def percent(self) -> str:
        """Returns `81.3 [79.4, 83.0]`, in percent."""
        return f"{100 * self.mean:.1f} [{100 * self.low:.1f}, {100 * self.high:.1f}]"


class Counts(NamedTuple):
    """An agent's wins, draws and losses; a win shared with other sides is a draw."""

    wins: int
    draws: int
    losses: int

    def __str__(self) -> str:
        return f"{self.wins:,} / {self.draws:,} / {self.losses:,}"


def wilson(mean: float, count: int) -> Estimate:
    """Returns a share of `count` independent games with Wilson's interval (1927)."""
    spread = _Z**2 / count
    middle = (mean + spread / 2) / (1 + spread)
    half = _Z * sqrt(mean * (1 - mean) / count + spread / (4 * count)) / (1 + spread)
    return Estimate(mean, max(0.0, min(mean, middle - half)), min(1.0, max(mean, middle + half)))


def from_blocks(scores: NDArray[np.float64], low: float, high: float) -> Estimate:
    """Returns the mean of independent block scores with an interval from their variance.

    On either side, the interval is at least as wide as with _Z**2 more blocks, half of them at each
    end of the scale; for scores at the ends this is Wilson's interval (Agresti and Coull 1998). So
    equal blocks don't give an empty interval. A single block has the largest variance that its
    score allows.

    Args:
        scores: The block scores [B].
        low: The lower end of their scale.
        high: The upper end.
    """
    mean = float(scores.mean())
    count = len(scores)
    variance = (mean - low) * (high - mean)
    if count > 1:
        variance = float(scores.var(ddof=1))
    half = _Z * sqrt(variance / count)
    weight = count + _Z**2
    middle = (count * mean + _Z**2 * (low + high) / 2) / weight
    min_half = _Z * sqrt(count * variance + (_Z * (high - low) / 2) ** 2) / weight
    lower = min(mean - half, middle - min_half)
    upper = max(mean + half, middle + min_half)
    return Estimate(mean, max(low, lower), min(high, upper))


def normal_mean(numbers: NDArray[np.float64]) -> Estimate:
    """Returns the mean of independent numbers [N], N > 1, with its normal interval."""
    mean = float(numbers.mean())
    half = _Z * float(numbers.std(ddof=1)) / sqrt(len(numbers))
    return Estimate(mean, mean - half, mean + half)


def elo(share: float) -> float | None:
    """Returns the rating difference of a win share; None if it is infinite."""
    if not 0 < share < 1:
        return None
    return 400 * log10(share / (1 - share))


def expected_score(elo: float) -> float:
    """Returns the win share of a rating difference (Elo 1978)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


@dataclass(frozen=True)
class Sprt:
    """A sequential test whether A is stronger than B by `high` Elo or only by `low`.

    Wald's sequential probability ratio test (1945), generalised to blocks: each strength implies a
    mean block score, and the test compares the most likely distributions with these means. It is
    fishtest's pentanomial test (https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf and
    `LLRcalc.py` of https://github.com/official-stockfish/fishtest). A block of `games` games has
    one of 2 x games + 1 outcomes; an unseen outcome counts as a thousandth of a block, so that
    certain results decide. The test runs after every block.

    Args:
        low: The lower Elo difference.
        high: The higher Elo difference.
        games: Games per block.

    Raises:
        ValueError: Unless low < high and both are finite.
    """

    low: float
    high: float
    games: int = 2

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"sprt: {self.low:g} and {self.high:g} are not both finite")
        if not self.low < self.high:
            raise ValueError(f"sprt: {self.low:g} is not below {self.high:g}")

    def log_ratios(self, blocks: NDArray[np.float64], since: int = 0) -> NDArray[np.float64]:
        """Returns the log likelihood ratios of `high` to `low` after each block from `since` on.

        Args:
            blocks: A's shares of the blocks [B], 0 to 1; with two games they are quarters.
            since: The first block's number.

        Returns:
            float64[B - since].
        """
        half_points = np.arange(2 * self.games + 1)
        outcomes = half_points / half_points[-1]
        is_outcome = np.rint(blocks[:, None] * half_points[-1]) == half_points
        counts = is_outcome.cumsum(0)[since:].astype(np.float64)
        counts[counts == 0] = _UNSEEN
        likelihood_low = _log_likelihood(counts, outcomes, expected_score(self.low))
        likelihood_high = _log_likelihood(counts, outcomes, expected_score(self.high))
        return likelihood_high - likelihood_low

    def end(self, blocks: NDArray[np.float64], since: int = 0) -> int | None:
        """Returns the number of blocks after which the test decided; None if it is undecided.

        The test must be undecided after `since` blocks.
        """
        decided = np.flatnonzero(abs(self.log_ratios(blocks, since)) >= BOUND)
        if len(decided) == 0:
            return None
        return since + int(decided[0]) + 1

    def verdict(self, blocks: NDArray[np.float64]) -> str | None:
        """Returns `high` or `low`, accepted with an error of 5 %; None if undecided."""
        end = self.end(blocks)
        if end is None:
            return None
        return "high" if self.log_ratios(blocks[:end], end - 1)[0] > 0 else "low"

    def to_dict(self, blocks: NDArray[np.float64]) -> dict[str, Any]:
        """Returns JSON data: the two strengths, the ratio with its bounds, and the verdict."""
        return {
            "elo": [self.low, self.high],
            "log_ratio": float(self.log_ratios(blocks, len(blocks) - 1)[0]),
            "bounds": [-BOUND, BOUND],
            "accepted": self.verdict(blocks),
        }


def _log_likelihood(
    counts: NDArray[np.float64], outcomes: NDArray[np.float64], mean: float
) -> NDArray[np.float64]:
    """Returns the log likelihoods [B] of counts [B, K] under the best distribution of this mean.

    They are relative to the distribution of the counts. With frequencies f_i of outcomes a_i, the
    best distribution is f_i / (1 + x (a_i - mean)), with the x that gives it the mean (by
    bisection).
    """
    difference = outcomes - mean
    low = np.full((len(counts), 1), -1 / difference[-1])
    high = np.full((len(counts), 1), -1 / difference[0])
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        positive = (counts * difference / (1 + x * difference)).sum(1, keepdims=True) > 0
        low = np.where(positive, x, low)
        high = np.where(positive, high, x)
    return np.asarray(-(counts * np.log1p((low + high) / 2 * difference)).sum(1))
