"""The compiled rules and observations of Love Formula with a table of cards."""

from functools import cache

from linkzoo.core.contract import Observation, Rules
from linkzoo.engine.compiled import Rebound, rebind
from linkzoo.games.love_formula import (
    action_features,
    determinize,
    heuristic,
    observation,
    tables,
    validation,
)
from linkzoo.games.love_formula.action_features import outcome, terms
from linkzoo.games.love_formula.cards import Cards
from linkzoo.games.love_formula.observation_spec import make_privileged_spec, make_spec
from linkzoo.games.love_formula.rules import (
    course,
    draft,
    effects,
    fields,
    legal,
    piles,
    reactions,
    resolution,
    scoring,
    targets,
    turns,
)
from linkzoo.games.love_formula.validation import decision, frames, stages, zones

# All modules whose compiled functions use the cards, or call functions that do.
_RULES = (
    course,
    draft,
    effects,
    fields,
    legal,
    piles,
    reactions,
    resolution,
    scoring,
    tables,
    targets,
    turns,
)
_VALIDATION = (validation, decision, frames, stages, zones)
_FEATURES = (action_features, outcome, terms)
_MODULES = (*_RULES, *_VALIDATION, *_FEATURES, determinize, heuristic, observation)


@cache
def bind(cards: Cards) -> Rebound:
    """Binds all compiled functions to a table of cards."""
    return rebind(_MODULES, {"CARDS": tables.card_tables(cards)})


def make_rules(cards: Cards) -> Rules:
    """Returns the rules with a table of cards."""
    bound = bind(cards)
    return Rules(
        new_game=bound(course.new_game),
        legal_actions=bound(legal.legal_actions),
        apply=bound(course.apply),
        certain=bound(course.apply_certain),
        scores=bound(scoring.scores),
        determinize=bound(determinize.determinize),
        reshuffle=bound(determinize.reshuffle),
        heuristic=bound(heuristic.heuristic),
        validate=bound(validation.validate),
    )


def make_observation(cards: Cards) -> Observation:
    """Returns the observations with a table of cards."""
    bound = bind(cards)
    return Observation(
        spec=make_spec(cards),
        observe=bound(observation.observe),
        privileged_spec=make_privileged_spec(cards),
        reveal=bound(observation.reveal),
        action_spec=action_features.ACTION_SPEC,
        observe_action=bound(action_features.action_features),
    )
