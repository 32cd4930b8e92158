"""A sequential test between two strengths: as many games as it takes, and no more.

The generalised sequential probability ratio test on block scores, with the normal approximation
(Wald 1945; fishtest's pentanomial test is the same for blocks of two games).
"""

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray

ERROR = 0.05  # of either kind: accepting the wrong strength
BOUND = log((1 - ERROR) / ERROR)
_FEWEST = 8  # blocks, before their variance says anything


def expected_score(elo: float) -> float:
    """The win share that a rating difference gives (Elo 1978)."""
    return float(1 / (1 + 10 ** (-elo / 400)))


@dataclass(frozen=True)
class Sprt:
    """Is A stronger than B by `high` Elo, or by no more than `low`? ValueError if low >= high."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise ValueError(f"sprt: {self.low:g} is not below {self.high:g}")

    def log_ratio(self, blocks: NDArray[np.float64]) -> float:
        """The log likelihood ratio of `high` to `low`, by A's shares of the blocks; [B]."""
        variance = float(blocks.var()) if len(blocks) >= _FEWEST else 0.0
        if variance == 0:
            return 0.0
        low, high = expected_score(self.low), expected_score(self.high)
        return len(blocks) * (high - low) * (2 * float(blocks.mean()) - low - high) / (2 * variance)

    def verdict(self, blocks: NDArray[np.float64]) -> str | None:
        """`high` or `low`, the one accepted with an error of 5 %; None while it's open."""
        ratio = self.log_ratio(blocks)
        return "high" if ratio >= BOUND else "low" if ratio <= -BOUND else None

    def to_dict(self, blocks: NDArray[np.float64]) -> dict[str, Any]:
        """JSON data: the two strengths, the ratio with its bounds, and the verdict."""
        return {
            "elo": [self.low, self.high],
            "log_ratio": self.log_ratio(blocks),
            "bounds": [-BOUND, BOUND],
            "accepted": self.verdict(blocks),
        }
