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
from linkzoo.core.state import Mask, Masks, Records, Seeds
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Int64s
from linkzoo_training.search.linear import Choose, Horizon, Scorer, choose_action
from linkzoo_training.search.protocols import FillActionValues, PlayOut


def make_play_out(game: Game, choose: Choose | None) -> PlayOut:
    """Returns the function that plays on from a record.

    `choose` plays the playouts; None: they are random.
    """
    apply = game.rules.apply
    skip_forced_actions = make_skip_forced_actions(game)

    @compiled
    def play_out(
        world: Records,
        mask: Mask,
        seat: int,
        seed: np.uint64,
        scorer: Scorer,
        horizon: Horizon,
        scratch: Records,
        scores: Float32s,
    ) -> None:
        plies = 0
        while world[0].seat >= 0:
            is_judged = len(horizon.critic.weights) == 0 or world[0].seat == seat
            if plies >= horizon.plies and is_judged:
                break
            if choose is not None:  # a constant: the other branch is dropped
                action = choose(world[0], mask, scorer, scratch, scores)
            else:
                action = random_legal(mask, seed, STREAM_SEARCH, plies)
            apply(world[0], action)
            skip_forced_actions(world[0], mask)
            plies += 1

    return play_out


def make_action_values(game: Game, choose: Choose | None) -> FillActionValues:
    """Returns the kernel that fills the values for the seat to act, 0 outside `masks`.

    `choose` plays the playouts; None: they are random.
    """
    apply = game.rules.apply
    payoffs = game.payoffs
    score_margins = game.score_margins
    determinize = game.determinize
    skip_forced_actions = make_skip_forced_actions(game)
    play_out = make_play_out(game, choose)

    @compiled
    def action_values(
        first: int,
        last: int,
        states: Records,
        seeds: Seeds,
        playouts: Int64s,
        score_margin_weight: float,
        scorer: Scorer,
        horizon: Horizon,
        masks: Masks,
        values: Float32s,
    ) -> None:
        critic = horizon.critic
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
                seed = random_u64(seeds[i], STREAM_SEARCH, playout)
                dealt[0] = states[i]
                determinize(dealt[0], seat, seed)
                for action in range(masks.shape[1]):
                    if masks[i, action] == 0:
                        continue
                    world[0] = dealt[0]
                    apply(world[0], action)
                    skip_forced_actions(world[0], mask)
                    play_out(world, mask, seat, seed, scorer, horizon, scratch, scores)
                    if choose is not None and len(critic.weights) and world[0].seat >= 0:
                        chosen = choose(world[0], mask, scorer, scratch, scores)
                        mask[:] = 0
                        mask[chosen] = 1
                        choose(world[0], mask, critic, scratch, scores)
                        values[i, action] += scores[chosen]
                        continue
                    score_margins(world[0], margin)
                    values[i, action] += score_margin_weight * margin[seat]
                    if world[0].seat < 0:
                        payoffs(world[0], payoff)
                        values[i, action] += payoff[seat]
            for action in range(masks.shape[1]):
                values[i, action] /= playouts[i]

    return action_values


@cache
def action_values(game: Game, linear: bool = False) -> RowKernel:
    """Returns the flat Monte Carlo kernel of a game, compiled at its first call.

    Call it with `(states, seeds, playouts, score_margin_weight, scorer, horizon, masks, values)`:
    unfinished records [N], uint64 seeds [N], playouts per legal action int64[N] (1 or more), the
    weight of score margins beside payoffs, the Scorer or NO_SCORER, a Horizon, int8 masks [N, A] of
    legal actions and float32 values [N, A] to fill. Row i depends only on record i and seed i.
    """
    choose: Choose | None = None
    if linear:
        choose = choose_action(game)
    return RowKernel(make_action_values(game, choose), 1)
