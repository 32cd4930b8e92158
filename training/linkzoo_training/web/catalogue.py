"""The data of the start page: games, their options, and opponents by strength."""

from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, Literal, get_args, get_origin

import numpy as np

from linkzoo import Game, get_game
from linkzoo.core.options import option_types
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry
from linkzoo_training.web.game_session import offered_values
from linkzoo_training.web.views import Json, shipped_cards

_BASELINES = ("random", "greedy", "uct-100", "uct-1000")  # of a game without a ladder
_CHEATS = ("hands", "cheat")
_JUDGES = ("checkpoint", "tabular")  # kinds of agents that analyse positions
_WORDS = {
    "random": "plays any legal move",
    "greedy": "looks one move ahead",
    "linear": "weighs what each move leads to",
    "uct": "tries {:,} random games before a move",
    "mc": "tries {:,} random games with each move",
    "checkpoint": "a trained policy",
}


def catalogue(names: list[str], custom: Mapping[str, AgentSpec]) -> Json:
    """Returns the available games with their options and opponents, `custom` agents included."""
    return {"games": [_game(get_game(name), name, custom) for name in names]}


def _game(game: Game, name: str, custom: Mapping[str, AgentSpec]) -> Json:
    words = game.guide.option_words()
    agents = {**{str(spec): spec for spec in opponents(game)}, **custom}
    measured = strengths(game)
    ranked = sorted(agents, key=lambda agent: -measured.get(agent, -np.inf))
    policies = [agent for agent in ranked if agents[agent].kind in _JUDGES]
    return {
        "name": name,
        "title": game.title,
        "players": list(range(game.min_players, game.max_players + 1)),
        "hidden": game.hides,
        "roles": list(game.facts.seat_names),
        "options": [
            _option(game, field, words)
            for field in fields(game.options)
            if len(offered_values(game).get(field.name, ())) != 1
        ],
        "agents": [
            {"name": agent, "words": agent_words(agents[agent]), "rating": measured.get(agent)}
            for agent in ranked
        ],
        "judges": sorted(policies, key=lambda agent: ":" in agent),  # the quick ones first
    }


def opponents(game: Game) -> list[AgentSpec]:
    """Returns the package's agents for a game that use only their seat's information."""
    try:
        specs = [*read_ladder(game.name).opponents]
    except ValueError:  # it has no ladder
        specs = [AgentSpec.parse(name) for name in _BASELINES]
    for name, card in _cards(game).items():
        specs += [AgentSpec.parse(agent) for agent in (name, *_searches(card))]
    return [spec for spec in dict.fromkeys(specs) if spec.kind not in _CHEATS]


def agent_words(spec: AgentSpec) -> str:
    """Describes an agent in a few words."""
    words = _WORDS.get(spec.kind, "an agent of this server").format(spec.simulations)
    if spec.kind == "checkpoint" and spec.simulations is not None:
        words += f", with a search of {spec.simulations:,} steps"
    return words


@cache
def strengths(game: Game) -> Mapping[str, int]:
    """Returns the agents' ratings from all matches in the cards of the game's checkpoints.

    They are Elo points above `random`; agents without matches are missing.
    """
    matches = [match for card in _cards(game).values() for match in card.get("strength", [])]
    names = [*dict.fromkeys(name for match in matches for name in match["agents"])]
    if "random" not in names:
        return {}
    pairings = []
    for match in matches:
        a, b = map(names.index, match["agents"])
        shape = (match["blocks"], 1, len(match["sides"]))
        pairings.append(Pairing(a, b, np.full(shape, match["win_share"]["mean"])))
    ratings = [rating.mean for rating in bradley_terry(pairings, len(names))]
    zero = ratings[names.index("random")]
    return {name: round(rating - zero) for name, rating in zip(names, ratings, strict=True)}


def _cards(game: Game) -> dict[str, Mapping[str, Any]]:
    return {name: card for name, card in shipped_cards() if card["game"] == game.name}


def _searches(card: Mapping[str, Any]) -> list[str]:
    """Returns the agents with a search in a card's matches."""
    agents = [match["agents"][0] for match in card.get("strength", [])]
    return [agent for agent in agents if ":" in agent]


def _option(game: Game, field: Any, words: Mapping[str, str]) -> Json:
    standard = getattr(game.options(), field.name)
    default = game.facts.balanced_options.get(field.name, standard)
    meaning = words.get(field.name, "")
    if default != standard:
        meaning += f". The standard value is {standard}; {default} is more even"
    choices: list[Any] = offered_values(game).get(field.name, [])
    option_type = option_types(game.options)[field.name]
    if get_origin(option_type) is Literal:
        choices = list(get_args(option_type))
    if choices:
        kind = "choice"
    elif isinstance(default, bool):
        kind = "flag"
    else:
        kind = "number"
    return {
        "name": field.name,
        "words": meaning,
        "kind": kind,
        "choices": choices,
        "default": default,
        "edition": field.name in game.fixed.values,
    }
