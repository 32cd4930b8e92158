"""What ended games say: who won, and with how many others."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray


def win_shares(winners: NDArray[np.uint32], seats: Sequence[int]) -> NDArray[np.float64]:
    """The share of the win that each of these seats has, [..., seats]: 1/k if k of them won.

    `winners` [...] are those of final records. For shares of sides, `seats` has one of each.
    """
    won = winners[..., None] >> np.array(seats, np.uint32) & np.uint32(1)
    shares: NDArray[np.float64] = won / won.sum(-1, keepdims=True)
    return shares
