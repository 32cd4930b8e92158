"""The compiled rules and observations of Love Links with a set of links."""

from functools import cache

from linkzoo.core.contract import Observation, Rules
from linkzoo.engine.compiled import Rebound, rebind
from linkzoo.games.love_links import (
    action_features,
    observation,
    rules,
    turn_points,
    validation,
)
from linkzoo.games.love_links.links import LinkSet
from linkzoo.games.love_links.tables import link_tables

# All modules whose compiled functions use numbers that differ between sets, or call functions that
# do. `state` uses keys, locks and points alone, which belong to the type of a link.
_MODULES = (rules, validation, observation, turn_points, action_features)


@cache
def bind(links: LinkSet) -> Rebound:
    """Binds all compiled functions to a set of links."""
    return rebind(_MODULES, {"LINKS": link_tables(links)})


def make_rules(links: LinkSet) -> Rules:
    """Returns the rules with a set of links."""
    bound = bind(links)
    return Rules(
        new_game=bound(rules.new_game),
        legal_actions=bound(rules.legal_actions),
        apply=bound(rules.apply),
        certain=bound(rules.apply_certain),
        scores=bound(rules.scores),
        determinize=bound(rules.determinize),
        validate=bound(validation.validate),
    )


def make_observation(links: LinkSet) -> Observation:
    """Returns the observations with a set of links."""
    bound = bind(links)
    return Observation(
        spec=observation.SPEC,
        observe=bound(observation.observe),
        action_spec=action_features.ACTION_SPEC,
        observe_action=bound(action_features.action_features),
    )
