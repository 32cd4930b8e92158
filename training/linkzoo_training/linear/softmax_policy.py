"""The softmax policy of a linear scorer: samples actions with their gradients."""

from collections.abc import Callable
from functools import cache

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import count_legal, nth_legal
from linkzoo.core.protocols import ObserveAction
from linkzoo.core.state import Actions, Masks, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_POLICY, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Float64s
from linkzoo_training.search.gumbel_selection import sample_action
from linkzoo_training.search.linear import Scorer, action_spec, weigh


@compiled
def _softmax(scores: Float64s) -> Float64s:
    """Returns the probabilities of scores [N]."""
    weights = np.exp(scores - scores.max())
    probabilities: Float64s = weights / weights.sum()
    return probabilities


def make_sample(observe_action: ObserveAction) -> Callable[..., None]:
    """Returns the kernel that samples actions and fills the scores' gradients."""

    @compiled
    def sample(
        first: int,
        last: int,
        states: Records,
        masks: Masks,
        scorer: Scorer,
        actions: Actions,
        contexts: Float32s,
        gradients: Float32s,
    ) -> None:
        context = scorer.context
        size = len(scorer.weights)
        linear = np.empty(size, np.float32)
        for i in range(first, last):
            scratch = states[i : i + 1].copy()
            legal = np.empty(count_legal(masks[i]), np.int64)
            features = np.empty((len(legal), size), np.int8)
            scores = np.zeros(len(legal))
            for n in range(len(legal)):
                action = nth_legal(masks[i], n)
                scratch[0] = states[i]
                observe_action(states[i], action, scratch[0], features[n])
                if n == 0:
                    weigh(scorer, features[0], linear)
                for k in range(size):
                    scores[n] += linear[k] * features[n, k]
                legal[n] = action
            bits = random_u64(states[i].seed, STREAM_POLICY, states[i].ply) >> np.uint64(11)
            every = np.ones(len(legal), np.int8)
            chosen = sample_action(scores, 1.0, every, np.float64(bits) / 2.0**53)
            probabilities = _softmax(scores)
            actions[i] = legal[chosen]
            for c in range(len(context)):
                contexts[i, c] = features[0, context[c]]
            for k in range(size):
                mean = 0.0
                for n in range(len(legal)):
                    mean += probabilities[n] * features[n, k]
                gradients[i, k] = features[chosen, k] - mean

    return sample


@cache
def sampler(game: Game) -> RowKernel:
    """Returns the softmax policy of a game with action features, compiled at its first call.

    Call it with `(states, masks, scorer, actions, contexts, gradients)`: unfinished records [N],
    their int8 masks [N, A], a Scorer, and int64 actions [N], float32 contexts [N, C] and float32
    gradients [N, K] to fill: the action's features less their mean under the policy. Row i depends
    only on record i: its seed and ply draw the action.
    """
    action_spec(game)
    observe_action = game.observation.observe_action
    assert observe_action is not None  # as the spec
    return RowKernel(make_sample(observe_action), 32)
