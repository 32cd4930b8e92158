"""Outcomes of finished games."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def win_shares(winners: NDArray[np.uint32], seats: Sequence[int]) -> NDArray[np.float64]:
    """Returns the share of the win of each of these seats, [..., seats]: 1/k if k of them won.

    `winners` [...] is the field of final records. For shares of sides, pass one seat of each.
    """
    won = winners[..., None] >> np.array(seats, np.uint32) & np.uint32(1)
    shares: NDArray[np.float64] = won / won.sum(-1, keepdims=True)
    return shares
