"""Flat Monte Carlo: what actions are worth if after them all play at random, for any game.

The expected outcome of Abramson ("Expected-outcome: a general model of static evaluation", IEEE
TPAMI 1990), of which the best action is one step of policy improvement (Tesauro and Galperin,
"On-line policy improvement using Monte-Carlo search", NIPS 1996). Every playout is in a fresh world
that the seat to act can't tell from the real one, and the n-th playouts of all actions are in the
same one, with the same dice: they differ by the action and not by luck (common random numbers).

There is no tree: all actions are tried equally often, so that the values of all of them have about
the same error, and no bias. That is what a policy learns from: its errors average out over
positions, while those of the one move that a small tree prefers don't.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkzoo.core.kernels import kernels, random_legal
from linkzoo.engine.rng import STREAM_SEARCH, word
from linkzoo.engine.compiled import specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows

# The names that `action_values` binds to a game's functions.
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
payoffs: Callable[..., Any]
margins: Callable[..., Any]
redeal: Callable[..., Any]
settle: Callable[..., Any]


def _action_values(
    first: Any,
    last: Any,
    states: Any,
    seeds: Any,
    playouts: Any,
    score_margin_weight: Any,
    masks: Any,
    values: Any,
) -> None:
    """Fills what the actions in `masks` are worth to the seat to act; 0 for the others."""
    for i in range(first, last):
        dealt, world = states[i : i + 1].copy(), states[i : i + 1].copy()
        seat, players = np.int64(states[i].seat), np.int64(states[i].num_players)
        payoff, margin = np.empty(players, np.float32), np.empty(players, np.float32)
        mask = np.empty(masks.shape[1], np.int8)
        values[i] = 0
        for playout in range(playouts):
            fresh = word(seeds[i], STREAM_SEARCH, playout)
            dealt[0] = states[i]
            redeal(dealt[0], seat, fresh)
            for action in range(masks.shape[1]):
                if masks[i, action] == 0:
                    continue
                world[0] = dealt[0]
                apply(world[0], action)
                settle(world[0], mask)
                draw = 0
                while world[0].seat >= 0:
                    apply(world[0], random_legal(mask, fresh, STREAM_SEARCH, draw))
                    settle(world[0], mask)
                    draw += 1
                payoffs(world[0], payoff)
                margins(world[0], margin)
                values[i, action] += payoff[seat] + score_margin_weight * margin[seat]
        for action in range(masks.shape[1]):
            values[i, action] /= playouts


@cache
def action_values(game: Game) -> Rows:
    """Flat Monte Carlo of one game, compiled at its first call.

    `estimate(states, seeds, playouts, score_margin_weight, masks, values)`: records [N] in which a
    seat is to act, uint64 seeds [N], playouts of every legal action (1 or more), what margins weigh
    beside payoffs, int8 masks [N, A] of the legal actions, float32 values [N, A] to fill. Row i
    depends on record i and seed i alone.
    """
    return Rows(specialise(_action_values, game.key, **kernels(game).rules), 1)
