"""Why a move is better than another: the game's reasons that count for the linear scorer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import FeatureReason, Game, ObservationSpec
from linkzoo.core.state import Record
from linkzoo_training.agents.linear import has_scorer, load_scorer
from linkzoo_training.search.linear import weigh

MOST_REASONS = 2  # of a decision
_CLIPPED = 127  # features with this absolute value can stand for more


class _Weighed(NamedTuple):
    """A reason and its share in the difference of the linear scores."""

    words: str
    weight: float


def reasons(
    game: Game, state: Record, played: int, better: int, most: int = MOST_REASONS
) -> list[str]:
    """Returns the most important reasons why a move is better than the one that was played.

    Each is a fact of the position that its seat could know. A game's own reasons come first; those
    of action features are ordered by their weight in the game's linear scorer, which has to
    count them in favour of the better move.

    Args:
        game: The game.
        state: The position before the move.
        played: The move that was played.
        better: The better move.
        most: The largest number of reasons.
    """
    sentences = game.guide.reasons(state, played, better)
    if game.guide.feature_reasons and has_scorer(game):
        weighed = _of_features(game, state, played, better)
        weighed.sort(key=lambda reason: -reason.weight)
        sentences += [reason.words for reason in weighed]
    return sentences[:most]


def _of_features(game: Game, state: Record, played: int, better: int) -> list[_Weighed]:
    spec = game.observation.action_spec
    assert spec is not None  # as the game has reasons of features
    old = _action_features(game, spec, state, played)
    new = _action_features(game, spec, state, better)
    weights = np.empty(spec.size, np.float32)
    weigh(load_scorer(game), new, weights)
    index_of = {part.name: index for index, part in enumerate(spec.parts)}
    weighed = []
    for reason in game.guide.feature_reasons:
        index = index_of[reason.feature]
        values = int(new[index]), int(old[index])
        weight = float(weights[index]) * (values[0] - values[1])
        given = all(new[index_of[name]] and old[index_of[name]] for name in reason.given)
        if weight > 0 and given and _states_facts(reason, *values):
            weighed.append(_Weighed(reason.sentence(*values), weight))
    return weighed


def _states_facts(reason: FeatureReason, better: int, played: int) -> bool:
    """Returns whether a reason holds, and its numbers are exact."""
    return reason.holds(better, played) and max(abs(better), abs(played)) < _CLIPPED


def _action_features(
    game: Game, spec: ObservationSpec, state: Record, action: int
) -> NDArray[np.int8]:
    """Returns the features of a legal action, int8[F]."""
    observe_action = game.observation.observe_action
    assert observe_action is not None  # as the game has a spec
    features = np.zeros(spec.size, np.int8)
    scratch: Record = state.reshape(1).copy()[0]
    observe_action(state, action, scratch, features)
    return features
