"""Advantages in turn-based games, for trainers whose critic values the seat to act alone."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def seat_advantages(
    seat: NDArray[Any],
    value: NDArray[Any],
    reward: NDArray[Any],
    done: NDArray[Any],
    decay: float = 0.95,
) -> NDArray[np.float32]:
    """Generalised advantages (Schulman et al. 2016) along each seat's own decisions, float32[T, N].

    `seat` [T, N] made the decision that `value` [T, N] was estimated at; `reward` [T, N, P] (by
    seat) and `done` [T, N] are of the step after it. What follows a decision is the same seat's
    next one in the same game, whoever plays in between, and the game's last reward reaches every
    seat. Nothing is discounted. A decision whose successor lies beyond T gets the advantage 0.
    """
    steps, games, players = reward.shape
    rows = np.arange(games)
    ahead = np.zeros((games, players), np.float32)  # what the seat's decision before leads to
    known = np.zeros((games, players), np.bool_)
    advantage = np.zeros((steps, games), np.float32)
    for t in reversed(range(steps)):
        over = done[t].astype(np.bool_)[:, None]
        ahead = np.where(over, 0, ahead) + reward[t]
        known |= over
        mine = seat[t]
        target = np.where(known[rows, mine], ahead[rows, mine], value[t])
        advantage[t] = target - value[t]
        ahead[rows, mine] = decay * target + (1 - decay) * value[t]
        known[rows, mine] = True
    return advantage
