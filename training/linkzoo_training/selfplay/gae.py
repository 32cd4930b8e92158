"""Generalised advantage estimation (Schulman et al. 2016) for games of several seats."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel


@compiled
def _advantages(
    first: int,
    last: int,
    players: NDArray[np.int8],
    payoff: NDArray[np.float32],
    values: NDArray[np.float32],
    done: NDArray[np.bool_],
    seat: NDArray[np.int8],
    decay: np.float32,
    advantage: NDArray[np.float32],
    targets: NDArray[np.float32],
) -> None:
    """Fills the advantages and lambda-returns of all seats for games `first`..`last - 1`.

    There is no discount: games are short and rewards are zero until they end.

    Args:
        first: The first game.
        last: The game after the last.
        players: [N], the number of seats of each game.
        payoff: [T, N, P], by absolute seat. It is credited to each seat's last decision, even if
            another seat made the last move.
        values: [T + 1, N, P], by absolute seat.
        done: [T, N], whether the game ended with the ply.
        seat: [T + 1, N], the seat to act.
        decay: Lambda, applied between consecutive decisions of the same seat.
        advantage: [T, N], output, of the seat that acted.
        targets: [T, N, P], output: lambda-returns relative to the seat that acted.
    """
    plies = payoff.shape[0]
    for i in range(first, last):
        seats = np.int64(players[i])
        for p in range(seats):
            running = np.float32(0)
            for t in range(plies - 1, -1, -1):
                ahead = np.float32(0 if done[t, i] else 1)
                error = payoff[t, i, p] + ahead * values[t + 1, i, p] - values[t, i, p]
                onward = decay if seat[t + 1, i] == p else np.float32(1)
                running = error + ahead * onward * running
                targets[t, i, (p - seat[t, i]) % seats] = running + values[t, i, p]
                if seat[t, i] == p:
                    advantage[t, i] = running
        for t in range(plies):
            targets[t, i, seats:] = 0


advantages = RowKernel(_advantages, 64)
