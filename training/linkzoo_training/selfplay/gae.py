"""Generalised advantage estimation (Schulman et al. 2016) for games of several seats."""

from typing import Any

import numpy as np

from linkzoo.compiled import compiled
from linkzoo.threads import Rows


@compiled
def _advantages(
    first: Any,
    last: Any,
    players: Any,
    payoff: Any,
    values: Any,
    done: Any,
    seat: Any,
    decay: Any,
    advantage: Any,
    targets: Any,
) -> None:
    """Generalised advantages (Schulman et al. 2016) of all seats along every game.

    `payoff` [T, N, P] and `values` [T+1, N, P] are by absolute seat: a payoff reaches the last
    decision of every seat, whoever made the last move. `decay`, the lambda, is applied from one of
    a seat's own decisions to its next, however many others decide between them. `seat` is [T+1, N];
    game i has `players[i]` seats. Nothing is discounted: games are short, only the end pays.
    """
    plies = payoff.shape[0]
    for i in range(first, last):
        seats = np.int64(players[i])
        running = np.zeros(seats, np.float32)
        for t in range(plies - 1, -1, -1):
            ahead = np.float32(0 if done[t, i] else 1)
            for p in range(seats):
                error = payoff[t, i, p] + ahead * values[t + 1, i, p] - values[t, i, p]
                onward = decay if seat[t + 1, i] == p else np.float32(1)
                running[p] = error + ahead * onward * running[p]
            targets[t, i] = 0
            for k in range(seats):
                p = (seat[t, i] + k) % seats
                targets[t, i, k] = running[p] + values[t, i, p]
            advantage[t, i] = running[seat[t, i]]


advantages = Rows(_advantages, 64)
