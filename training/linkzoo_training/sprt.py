"""A sequential test between two strengths: as many games as it takes, and no more.

Wald's sequential probability ratio test (1945), generalised: a strength says which mean block
scores have, and of all distributions with that mean the likeliest is taken. It is fishtest's
pentanomial test (https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf and `LLRcalc.py` of
https://github.com/official-stockfish/fishtest): a block of two games has one of five outcomes, and
an outcome that hasn't been seen counts as a thousandth of a block, so that certain results decide.
The test is made after every block.
"""

from dataclasses import dataclass
from math import isfinite, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

ERROR = 0.05  # of either kind: accepting the wrong strength
BOUND = log((1 - ERROR) / ERROR)
_OUTCOMES = np.arange(5) / 4  # A's share of a block: of two games, each won, drawn or lost
_UNSEEN = 1e-3
_HALVINGS = 60


def expected_score(elo: float) -> float:
    """The win share that a rating difference gives (Elo 1978)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


@dataclass(frozen=True)
class Sprt:
    """Is A stronger than B by `high` Elo, or by no more than `low`?

    ValueError unless low < high, both finite.
    """

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (isfinite(self.low) and isfinite(self.high)):
            raise ValueError(f"sprt: {self.low:g} and {self.high:g} are not both finite")
        if not self.low < self.high:
            raise ValueError(f"sprt: {self.low:g} is not below {self.high:g}")

    def log_ratios(self, blocks: NDArray[np.float64], since: int = 0) -> NDArray[np.float64]:
        """The log likelihood ratio of `high` to `low` after each block, but for the first `since`.

        `blocks` [B] are A's shares of the blocks, quarters from 0 to 1.
        """
        counts = (blocks[:, None] == _OUTCOMES).cumsum(0)[since:].astype(np.float64)
        counts[counts == 0] = _UNSEEN
        high, low = (_log_likelihood(counts, expected_score(elo)) for elo in (self.high, self.low))
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


def _log_likelihood(counts: NDArray[np.float64], mean: float) -> NDArray[np.float64]:
    """Of outcomes counted [B, 5], by the likeliest distribution that has this mean; [B].

    It is relative to the likeliest distribution of all, that of the counts. With frequencies f_i of
    outcomes a_i it is f_i / (1 + x (a_i - mean)), where x makes its mean the right one; the sum
    that has to be 0 falls with x.
    """
    away = _OUTCOMES - mean
    low = np.full((len(counts), 1), -1 / away[-1])
    high = np.full((len(counts), 1), -1 / away[0])
    for _ in range(_HALVINGS):
        x = (low + high) / 2
        positive = (counts * away / (1 + x * away)).sum(1, keepdims=True) > 0
        low, high = np.where(positive, x, low), np.where(positive, high, x)
    logs: NDArray[np.float64] = -(counts * np.log1p((low + high) / 2 * away)).sum(1)
    return logs
