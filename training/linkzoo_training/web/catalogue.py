"""The data of the start page: games, their options, and opponents by strength."""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from linkzoo import Game, get_game
from linkzoo.core.options import option_types
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.game_session import has_clock, offered_values
from linkzoo_training.web.levels import levels, strongest_pair
from linkzoo_training.web.offers import offered, strengths
from linkzoo_training.web.tutorials import tutorial_names
from linkzoo_training.web.views import Json

# The pictures that `python -m scripts.shelf` draws.
SHELF = Path(__file__).with_name("static") / "shelf"
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
    measured = strengths(game)
    return {
        "name": name,
        "title": game.title,
        "summary": game.facts.summary,
        "minutes": game.facts.minutes,
        "pictures": _pictures(name),
        "tutorial": bool(tutorial_names([name])),
        "levels": levels(game, custom),
        "watch": strongest_pair(game, custom),
        "balanced": dict(game.facts.balanced_options),
        "players": list(range(game.min_players, game.max_players + 1)),
        "hidden": game.hides,
        "clock": has_clock(game),
        "roles": list(game.facts.seat_names),
        "options": [
            _option(game, field, words)
            for field in fields(game.options)
            if len(offered_values(game).get(field.name, ())) != 1
        ],
        "agents": [
            {
                "name": agent,
                "words": agent_words(custom[agent] if agent in custom else AgentSpec.parse(agent)),
                "rating": measured.get(agent),
                "options": needs.options,
                "players": needs.players,
            }
            for agent, needs in offered(game, custom).items()
        ],
    }


def _pictures(name: str) -> list[str]:
    """Returns the paths of a game's pictures for the shelf, in order; custom games have none."""
    return [f"{SHELF.name}/{path.name}" for path in sorted(SHELF.glob(f"{name}-*.svg"))]


def agent_words(spec: AgentSpec) -> str:
    """Describes an agent in a few words."""
    words = _WORDS.get(spec.kind, "an agent of this server").format(spec.simulations)
    if spec.kind == "checkpoint" and spec.simulations is not None:
        words += f", with a search of {spec.simulations:,} steps"
    return words


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
