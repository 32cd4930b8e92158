"""Advantages in turn-based games, for trainers whose critic values the seat to act alone."""

import numpy as np
from numpy.typing import NDArray


def seat_advantages(
    seat: NDArray[np.integer],
    value: NDArray[np.floating],
    reward: NDArray[np.floating],
    done: NDArray[np.bool_],
    decay: float = 0.95,
) -> NDArray[np.float32]:
    """Returns generalised advantages (Schulman et al. 2016) along each seat's own decisions.

    A decision is followed by the same seat's next one in the same game, whoever plays in between,
    and the game's last reward reaches every seat. Nothing is discounted.

    Args:
        seat: [T, N], the seat that made each decision.
        value: [T, N], its estimate before the decision.
        reward: [T, N, P], the rewards of all seats for the step after it.
        done: [T, N], whether the game ended with that step.
        decay: The weight of later estimates (lambda).

    Returns:
        float32[T, N]; 0 for a decision whose successor lies beyond T.
    """
    steps, games, players = reward.shape
    rows = np.arange(games)
    ahead = np.zeros((games, players), np.float32)  # the target of the seat's decision before
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
