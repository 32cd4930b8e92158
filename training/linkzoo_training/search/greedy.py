"""One-ply greedy play for any game: the action with the greatest heuristic value."""

from functools import cache

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import random_legal
from linkzoo.core.state import Actions, Masks, Records, Seeds
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_ACTION, STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.search.protocols import Greedy


def make_greedy(game: Game) -> Greedy:
    """Returns the kernel that chooses legal actions with the greatest heuristic value.

    Ties are broken at random. All actions are tried in one determinized world.
    """
    legal_actions = game.rules.legal_actions
    apply = game.rules.apply
    determinize = game.determinize
    heuristic = game.heuristic

    @compiled
    def greedy(
        first: int, last: int, states: Records, seeds: Seeds, masks: Masks, actions: Actions
    ) -> None:
        for i in range(first, last):
            seat = states[i].seat
            world = states[i : i + 1].copy()
            trial = states[i : i + 1].copy()
            determinize(world[0], seat, random_u64(seeds[i], STREAM_SEARCH, 0))
            legal_actions(world[0], masks[i])
            best = -np.inf
            for action in range(masks.shape[1]):
                if masks[i, action]:
                    trial[0] = world[0]
                    apply(trial[0], action)
                    value = heuristic(world[0], trial[0], seat)
                    if value > best:
                        best = value
                        masks[i, :action] = 0
                    masks[i, action] = value == best
            actions[i] = random_legal(masks[i], seeds[i], STREAM_ACTION, 0)

    return greedy


@cache
def greedy(game: Game) -> RowKernel:
    """Returns the greedy player of a game, compiled at its first call.

    Call `greedy(states, seeds, masks, actions)` (Greedy) with unfinished records [N], uint64 seeds
    [N], an int8 buffer [N, num_actions] and int64 actions [N] to fill.
    """
    return RowKernel(make_greedy(game), 32)
