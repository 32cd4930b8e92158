"""Flat Monte Carlo for any game: action values under random play, or under a linear policy's.

The values estimate Abramson's expected outcome ("Expected-outcome: a general model of static
evaluation", IEEE TPAMI 1990); their best action is one step of policy improvement (Tesauro and
Galperin, "On-line policy improvement using Monte-Carlo search", NIPS 1996). Every playout is in a
new determinized world; the n-th playouts of all actions share world and dice, so that they differ
by the action and not by luck (common random numbers).

There is no tree: all actions are tried equally often, so their values are unbiased and have about
the same error. This suits imitation: errors of values average out over positions, whereas errors of
the move that a small tree prefers don't.
"""

from functools import cache

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import make_skip_forced_actions, random_legal
from linkzoo.core.state import Masks, Records, Seeds
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Int64s
from linkzoo_training.search.linear import Choose, Scorer, choose_action
from linkzoo_training.search.protocols import FillActionValues

NO_SCORER = Scorer(np.zeros(0, np.int64), np.zeros((0, 1), np.float32))
_HORIZON = 14  # plies of a playout after which a critic may end it


def make_action_values(game: Game, choose: Choose | None) -> FillActionValues:
    """Returns the kernel that fills the values for the seat to act, 0 outside `masks`.

    `choose` plays the playouts; None: they are random.
    """
    apply = game.rules.apply
    payoffs = game.payoffs
    score_margins = game.score_margins
    determinize = game.determinize
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def action_values(
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        playouts: Int64s,
        score_margin_weight: float,
        scorer: Scorer,
        critic: Scorer,
        masks: Masks,
        values: Float32s,
    ) -> None:
        scores = np.empty(masks.shape[1], np.float32)
        for i in range(first, last):
            dealt = states[i : i + 1].copy()
            world = states[i : i + 1].copy()
            scratch = states[i : i + 1].copy()
            seat = states[i].seat
            players = np.int64(states[i].num_players)
            payoff = np.empty(players, np.float32)
            margin = np.empty(players, np.float32)
            mask = np.empty(masks.shape[1], np.int8)
            values[i] = 0
            for playout in range(playouts[i]):
                world_seed = random_u64(seeds[i], STREAM_SEARCH, playout)
                dealt[0] = states[i]
                determinize(dealt[0], seat, world_seed)
                for action in range(masks.shape[1]):
                    if masks[i, action] == 0:
                        continue
                    world[0] = dealt[0]
                    apply(world[0], action)
                    skip_forced_actions(world[0], mask)
                    draw = 0
                    while world[0].seat >= 0:
                        if choose is not None:  # a constant: the other branch is dropped
                            chosen = choose(world[0], mask, scorer, scratch, scores)
                            if len(critic.weights) and draw >= _HORIZON and world[0].seat == seat:
                                mask[:] = 0
                                mask[chosen] = 1
                                choose(world[0], mask, critic, scratch, scores)
                                values[i, action] += scores[chosen]
                                break
                        else:
                            chosen = random_legal(mask, world_seed, STREAM_SEARCH, draw)
                        apply(world[0], chosen)
                        skip_forced_actions(world[0], mask)
                        draw += 1
                    else:
                        payoffs(world[0], payoff)
                        score_margins(world[0], margin)
                        values[i, action] += payoff[seat] + score_margin_weight * margin[seat]
            for action in range(masks.shape[1]):
                values[i, action] /= playouts[i]

    return action_values


@cache
def action_values(game: Game, linear: bool = False) -> RowKernel:
    """Returns the flat Monte Carlo kernel of a game, compiled at its first call.

    Call it with `(states, seeds, playouts, score_margin_weight, scorer, critic, masks, values)`:
    unfinished records [N], uint64 seeds [N], playouts per legal action int64[N] (1 or more), the
    weight of score margins beside payoffs, the Scorer or NO_SCORER, a Scorer whose score of the
    seat's later actions stands for the result or NO_SCORER, int8 masks [N, A] of legal actions and
    float32 values [N, A] to fill. Row i depends only on record i and seed i.
    """
    choose: Choose | None = None
    if linear:
        choose = choose_action(game)
    return RowKernel(make_action_values(game, choose), 1)
