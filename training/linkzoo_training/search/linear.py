"""A linear scorer of legal actions: the score of an action is its features times weights.

The weights are linear in the context, the features that are equal for all actions of a position.
With features x [K], of which the C at `context` are the context, the score is the sum of
`x[k] * (weights[k, 0] + sum of weights[k, 1 + c] * x[context[c]])` over k.
"""

from collections.abc import Callable
from functools import cache
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.kernels import GameFunctions, kernels
from linkzoo.core.protocols import ObserveAction
from linkzoo.core.state import Mask, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel


class Choose(Protocol):
    """A compiled player; `scratch` [1] is scratch space."""

    def __call__(
        self,
        state: Record,
        mask: Mask,
        scratch: Records,
        context: NDArray[np.int64],
        weights: NDArray[np.float32],
        scores: NDArray[np.float32],
    ) -> int:
        """Returns a legal action with the highest score, and fills the scores [A]."""


def make_choose(observe_action: ObserveAction) -> Choose:
    """Returns the function that scores legal actions, -inf for others, and returns the best."""

    @compiled
    def choose(
        state: Record,
        mask: Mask,
        scratch: Records,
        context: NDArray[np.int64],
        weights: NDArray[np.float32],
        scores: NDArray[np.float32],
    ) -> int:
        features, linear = np.empty(len(weights), np.int8), np.empty(len(weights), np.float32)
        best = -1
        for action in range(mask.shape[0]):
            scores[action] = -np.inf
            if mask[action] == 0:
                continue
            scratch[0] = state
            observe_action(state, action, scratch[0], features)
            if best < 0:
                for k in range(len(weights)):
                    linear[k] = weights[k, 0]
                    for c in range(len(context)):
                        linear[k] += weights[k, 1 + c] * features[context[c]]
            score = np.float32(0)
            for k in range(len(weights)):
                score += linear[k] * features[k]
            scores[action] = score
            if best < 0 or score > scores[best]:
                best = action
        return best

    return choose


def make_linear(game: GameFunctions, choose: Choose) -> Callable[..., None]:
    """Returns the kernel that fills scores float32[N, A] and best actions int64[N]."""
    legal_actions = game.legal_actions

    @compiled
    def linear(
        first: int,
        last: int,
        states: Records,
        context: NDArray[np.int64],
        weights: NDArray[np.float32],
        masks: NDArray[np.int8],
        scores: NDArray[np.float32],
        actions: NDArray[np.int64],
    ) -> None:
        for i in range(first, last):
            scratch = states[i : i + 1].copy()
            legal_actions(states[i], masks[i])
            actions[i] = choose(states[i], masks[i], scratch, context, weights, scores[i])

    return linear


@cache
def choose_action(game: Game) -> Choose:
    """Returns `choose` of a game; ValueError if it has no action features."""
    observe_action = game.observation.observe_action
    if observe_action is None:
        raise ValueError(f"{game.name} has no action features")
    return make_choose(observe_action)


@cache
def linear(game: Game) -> RowKernel:
    """Returns the linear player of a game with action features, compiled at its first call.

    Call it with `(states, context, weights, masks, scores, actions)`: unfinished records [N], int64
    context [C], float32 weights [K, 1 + C], an int8 buffer [N, A], and float32 scores [N, A] and
    int64 actions [N] to fill.
    """
    return RowKernel(make_linear(kernels(game).functions, choose_action(game)), 4)
