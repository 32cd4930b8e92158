"""Opponents at three plain levels, chosen by the agents' measured strength."""

from collections.abc import Mapping

from linkzoo import Game
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.offers import offered, strengths
from linkzoo_training.web.views import Json

# Each level's share of the strongest agent's rating above random play.
_SHARES = {"new": 0.25, "learning": 0.5, "strong": 1.0}
_STEP = 0.15  # the least difference between levels, as such a share, if there are such agents
_MOST_SIMULATIONS = 200  # a move of more takes seconds
_UNRATED = ("random", "greedy", "uct-100")  # of a game without matches, weakest first


def levels(game: Game, custom: Mapping[str, AgentSpec]) -> list[Json]:
    """Returns the opponents of a game for two, or as few as it has: level, agent and rating.

    Each level has the agent whose rating is nearest to its share of the strongest one's, and is
    clearly stronger than the level before. Ratings are None in a game without matches.
    """
    agents = _quick(game, custom)
    if len(agents) < len(_SHARES):
        names = [name for name in _UNRATED if name in offered(game, custom)]
        return [
            {"level": level, "agent": name, "rating": None}
            for level, name in zip(_SHARES, names, strict=False)
        ]
    ranked = sorted(agents, key=agents.__getitem__)
    strongest = agents[ranked[-1]]
    chosen = []
    first = 0
    least = 0.0
    for number, (level, share) in enumerate(_SHARES.items()):
        # Leave an agent for each level above.
        candidates = ranked[first : len(ranked) - len(_SHARES) + number + 1]
        distinct = [one for one in candidates if agents[one] >= least] or candidates
        name = min(distinct, key=lambda one: (abs(agents[one] - share * strongest), -agents[one]))
        first = ranked.index(name) + 1
        least = agents[name] + _STEP * strongest
        chosen.append({"level": level, "agent": name, "rating": agents[name]})
    return chosen


def strongest_pair(game: Game, custom: Mapping[str, AgentSpec]) -> list[str]:
    """Returns two strong agents to watch; of a game without matches, the last level twice."""
    agents = _quick(game, custom)
    ranked = sorted(agents, key=lambda name: -agents[name])
    if len(ranked) < 2:
        return [levels(game, custom)[-1]["agent"]] * 2
    return ranked[:2]


def _quick(game: Game, custom: Mapping[str, AgentSpec]) -> dict[str, int]:
    """Returns the ratings of the quick agents that play the game as the start page offers it."""
    measured = strengths(game)
    options = game.facts.balanced_options
    agents = {}
    for name, needs in offered(game, custom).items():
        if name not in measured or needs.problem(game, game.min_players, options) is not None:
            continue
        spec = custom[name] if name in custom else AgentSpec.parse(name)
        if (spec.simulations or 0) <= _MOST_SIMULATIONS:
            agents[name] = measured[name]
    return agents
