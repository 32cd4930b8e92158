"""Generalised advantage estimation (Schulman et al. 2016) for games of several seats."""

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Bools, Float32s, Int8s


@compiled
def _advantages(
    first: int,
    last: int,
    players: Int8s,  # [N], the number of seats of each game
    payoff: Float32s,  # [T, N, P], by absolute seat
    values: Float32s,  # [T + 1, N, P], relative to the seat to act
    done: Bools,  # [T, N], whether the game ended with the ply
    seat: Int8s,  # [T + 1, N], the seat to act
    decay: np.float32,  # lambda, applied between consecutive decisions of the same seat
    advantage: Float32s,  # [T, N], output, of the seat that acted
    targets: Float32s,  # [T, N, P], output: lambda-returns relative to that seat
) -> None:
    """Fills the advantages and lambda-returns of all seats.

    There is no discount: games are short and rewards are zero until they end. A payoff is credited
    to each seat's last decision, even if another seat made the last move.
    """
    plies = payoff.shape[0]
    for i in range(first, last):
        seats = np.int64(players[i])
        for p in range(seats):
            running = np.float32(0)
            for t in range(plies - 1, -1, -1):
                value = values[t, i, (p - seat[t, i]) % seats]
                next_value = values[t + 1, i, (p - seat[t + 1, i]) % seats]
                discount = np.float32(1)
                if done[t, i]:
                    discount = np.float32(0)
                delta = payoff[t, i, p] + discount * next_value - value
                if seat[t + 1, i] == p:
                    discount *= decay
                running = delta + discount * running
                targets[t, i, (p - seat[t, i]) % seats] = running + value
                if seat[t, i] == p:
                    advantage[t, i] = running
        for t in range(plies):
            targets[t, i, seats:] = 0


advantages = RowKernel(_advantages, 512)
