"""A linear scorer of legal actions: the score of an action is its features times weights.

The weights are linear in the context, the features that are equal for all actions of a position.
With features x [K], of which the C at `context` are the context, the score is the sum of
`x[k] * (weights[k, 0] + sum of weights[k, 1 + c] * x[context[c]])` over k.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple, Protocol

import numpy as np

from linkzoo.core.game import Game
from linkzoo.core.kernels import count_legal, nth_legal
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.protocols import ObserveAction
from linkzoo.core.state import Actions, Mask, Masks, Record, Records
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Int8s, Int64s


class Scorer(NamedTuple):
    """A linear scorer: the indices of the context, int64[C], and float32 weights [K, 1 + C]."""

    context: Int64s
    weights: Float32s


NO_SCORER = Scorer(np.zeros(0, np.int64), np.zeros((0, 1), np.float32))


class Horizon(NamedTuple):
    """The end of a playout before the end of the game.

    Attributes:
        plies: Plies after which it ends.
        critic: Scores the seat's next action after that; the score is the result. NO_SCORER: the
            result is the seat's score margin after `plies`.
    """

    plies: int
    critic: Scorer


WHOLE_GAME = Horizon(2**31, NO_SCORER)


@compiled
def weigh(scorer: Scorer, features: Int8s, linear: Float32s) -> None:
    """Fills the weight of each feature [K] in the context of one action's features."""
    context = scorer.context
    weights = scorer.weights
    for k in range(len(weights)):
        linear[k] = weights[k, 0]
        for c in range(len(context)):
            linear[k] += weights[k, 1 + c] * features[context[c]]


class Choose(Protocol):
    """A compiled player; `scratch` [1] is scratch space."""

    def __call__(
        self, state: Record, mask: Mask, scorer: Scorer, scratch: Records, scores: Float32s
    ) -> int:
        """Returns a legal action with the highest score, and fills the scores [A]."""


def make_choose(observe_action: ObserveAction) -> Choose:
    """Returns the function that scores legal actions, -inf for others, and returns the best."""

    @compiled
    def choose(
        state: Record, mask: Mask, scorer: Scorer, scratch: Records, scores: Float32s
    ) -> int:
        weights = scorer.weights
        features = np.empty(len(weights), np.int8)
        linear = np.empty(len(weights), np.float32)
        for action in range(mask.shape[0]):
            scores[action] = -np.inf
        best = -1
        for n in range(count_legal(mask)):
            action = nth_legal(mask, n)
            scratch[0] = state
            observe_action(state, action, scratch[0], features)
            if best < 0:
                weigh(scorer, features, linear)
            score = np.float32(0)
            for k in range(len(weights)):
                score += linear[k] * features[k]
            scores[action] = score
            if best < 0 or score > scores[best]:
                best = action
        return best

    return choose


def make_linear(game: Game, choose: Choose) -> Callable[..., None]:
    """Returns the kernel that fills scores float32[N, A] and best actions int64[N]."""
    legal_actions = game.rules.legal_actions

    @compiled
    def linear(
        first: int,
        last: int,
        states: Records,
        scorer: Scorer,
        masks: Masks,
        scores: Float32s,
        actions: Actions,
    ) -> None:
        for i in range(first, last):
            scratch = states[i : i + 1].copy()
            legal_actions(states[i], masks[i])
            actions[i] = choose(states[i], masks[i], scorer, scratch, scores[i])

    return linear


def action_spec(game: Game) -> ObservationSpec:
    """Returns the layout of a game's action features; ValueError if it has none."""
    if game.observation.action_spec is None:
        raise ValueError(f"{game.name} has no action features")
    return game.observation.action_spec


@cache
def choose_action(game: Game) -> Choose:
    """Returns `choose` of a game; ValueError if it has no action features."""
    action_spec(game)
    observe_action = game.observation.observe_action
    assert observe_action is not None  # as the spec
    return make_choose(observe_action)


@cache
def linear(game: Game) -> RowKernel:
    """Returns the linear player of a game with action features, compiled at its first call.

    Call it with `(states, scorer, masks, scores, actions)`: unfinished records [N], a Scorer, an
    int8 buffer [N, A], and float32 scores [N, A] and int64 actions [N] to fill.
    """
    return RowKernel(make_linear(game, choose_action(game)), 32)
