"""One-ply greedy play, for any game: the action after which the game appraises a seat best."""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from linkzoo.core.kernels import kernels, random_legal
from linkzoo.engine.rng import STREAM_ACTION, STREAM_SEARCH, word
from linkzoo.engine.compiled import specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows

VERSION = 1

# The names that `greedy` binds to a game's functions.
legal_actions: Callable[..., Any]
apply: Callable[..., Any]
appraise: Callable[..., Any]
redeal: Callable[..., Any]


def _greedy(first: Any, last: Any, states: Any, seeds: Any, masks: Any, actions: Any) -> None:
    """Fills the legal action that is appraised best for the seat to act, ties at random.

    What an action brings is looked up in one world that the seat can't tell from the real one.
    """
    for i in range(first, last):
        seat = states[i].seat
        world, trial = states[i : i + 1].copy(), states[i : i + 1].copy()
        redeal(world[0], seat, word(seeds[i], STREAM_SEARCH, 0))
        legal_actions(world[0], masks[i])
        best = -np.inf
        for action in range(masks.shape[1]):
            if masks[i, action]:
                trial[0] = world[0]
                apply(trial[0], action)
                worth = appraise(world[0], trial[0], seat)
                if worth > best:
                    best = worth
                    masks[i, :action] = 0
                masks[i, action] = worth == best
        actions[i] = random_legal(masks[i], seeds[i], STREAM_ACTION, 0)


@cache
def greedy(game: Game) -> Rows:
    """The greedy player of one game, compiled at its first call.

    `greedy(states, seeds, masks, actions)`: records [N] in which a seat is to act, uint64 seeds
    [N], int8 working space [N, num_actions], int64 actions [N] to fill.
    """
    return Rows(specialise(_greedy, game.key, **kernels(game).rules), 4)
