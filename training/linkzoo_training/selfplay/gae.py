"""Generalised advantage estimation (Schulman et al. 2016) for games of several seats."""

from typing import Any

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import Rows


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


advantages = Rows(_advantages, 64)
