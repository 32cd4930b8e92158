"""The agents that the page offers, and the games that each of them plays."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from linkzoo import Game, get_game
from linkzoo.core.arguments import integer, shown
from linkzoo.exact import TabularAgent
from linkzoo.registry import id_of
from linkzoo_training.agents.specs import SHIPPED, AgentSpec
from linkzoo_training.checkpoints.checkpoint import load_card, shipped_cards
from linkzoo_training.evaluation.ladder import read_ladder
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry
from linkzoo_training.resources import checkpoint_names, find_checkpoint

MOST_SIMULATIONS = 10_000  # limit for requests from a page
_PAGE_KINDS = "random greedy linear uct hands cheat mc exact checkpoint".split()
_NAME = re.compile(r"[A-Za-z0-9_@~:.-]{1,90}")  # no paths
_BASELINES = ("random", "greedy", "uct-100", "uct-1000")  # of a game without a ladder
_CHEATS = ("hands", "cheat")
# Mean squared errors of shipped networks' chances to win, measured by scripts/value_errors.py.
VALUE_ERRORS = Path(__file__).with_name("value_errors.json")
_JUDGES = ("checkpoint", "tabular", "linear")  # kinds of agents that analyse positions


@dataclass(frozen=True)
class Needs:
    """The games that an agent plays.

    Attributes:
        game: The game's name.
        options: Options that need these values; others may have any.
        players: The number of players; None for any.
    """

    game: str
    options: Mapping[str, Any]
    players: int | None = None

    def problem(self, game: Game, players: int, options: Mapping[str, Any]) -> str | None:
        """Returns why an agent doesn't play such games, as `plays ..., not ...`; None if it does.

        Args:
            game: The game, with compiled-in options.
            players: The number of players.
            options: The options that were chosen; others have standard values.
        """
        if self.game != game.name:
            return f"plays {self.game}, not {game.name}"
        played = {**game.chosen_options(game.blank(players, options)), **game.fixed.values}
        others = {name: value for name, value in self.options.items() if played[name] != value}
        if others:
            return f"plays {game.name} with {others}, not with these options"
        if self.players not in (None, players):
            return f"plays with {self.players} players, not {players}"
        return None


def needs_of(spec: AgentSpec, game: Game) -> Needs:
    """Returns the games that an agent plays, `game` for one that plays any.

    Raises:
        ValueError: There is no such agent, or its file is damaged.
    """
    checkpoint = spec.checkpoint(game.name)
    if checkpoint is not None:
        card = load_card(find_checkpoint(checkpoint))
        standard = get_game(card["game"])
        return Needs(standard.name, {**standard.fixed.values, **card["fixed"]})
    if spec.kind == "tabular":
        agent = spec.baseline()
        assert isinstance(agent, TabularAgent)
        options = {**agent.game.fixed.values, **agent.card["options"]}
        return Needs(agent.game.name, options, agent.card["num_players"])
    return Needs(game.name, {})


def offered(game: Game, custom: Mapping[str, AgentSpec]) -> dict[str, Needs]:
    """Returns the agents for a game by name, the strongest first, and the games that they play.

    Args:
        game: The game.
        custom: Further agents by name; those of other games are left out.
    """
    measured = strengths(game)
    agents = {**{str(spec): spec for spec in opponents(game)}, **custom}
    ranked = sorted(agents, key=lambda agent: -measured.get(agent, -np.inf))
    needs = {}
    for agent in ranked:
        try:
            needs[agent] = needs_of(agents[agent], game)
        except ValueError:  # a file that is missing now: an error if the agent is chosen
            needs[agent] = Needs(game.name, {})
    return {agent: needed for agent, needed in needs.items() if needed.game == game.name}


def reporters(
    game: Game, players: int, options: Mapping[str, Any], custom: Mapping[str, AgentSpec]
) -> list[str]:
    """Returns the quick agents with values that judge such games, the most exact first.

    Agents without a measured error come last, the strongest of them first.

    Args:
        game: The game, with compiled-in options.
        players: The number of players.
        options: The options that were chosen; others have standard values.
        custom: Further agents by name.
    """
    names = [
        name
        for name in judges(game, players, options, custom)
        if (spec := custom.get(name) or AgentSpec.parse(name)).kind == "checkpoint"
        and spec.simulations is None
    ]
    errors = _value_errors()
    return sorted(names, key=lambda name: errors.get(name, np.inf))


@cache
def _value_errors() -> dict[str, float]:
    """Returns the measured errors of shipped networks' chances to win."""
    errors: dict[str, float] = json.loads(VALUE_ERRORS.read_text(encoding="utf-8"))
    return errors


def judges(
    game: Game, players: int, options: Mapping[str, Any], custom: Mapping[str, AgentSpec]
) -> list[str]:
    """Returns the names of the agents that analyse positions of such games.

    Quick agents come first, then searches, then the linear scorer, which has no values.

    Args:
        game: The game, with compiled-in options.
        players: The number of players.
        options: The options that were chosen; others have standard values.
        custom: Further agents by name.
    """
    quick = []
    searches = []
    scorers = []
    for name, needs in offered(game, custom).items():
        spec = custom[name] if name in custom else AgentSpec.parse(name)
        if spec.kind not in _JUDGES or needs.problem(game, players, options) is not None:
            continue
        if spec.kind == "linear" and spec.simulations is None:
            scorers.append(name)
        elif spec.simulations is None:
            quick.append(name)
        elif spec.kind != "linear":  # its search has no policy
            searches.append(name)
    return quick + searches + scorers


def read_agent(
    text: str,
    game: Game,
    players: int,
    options: Mapping[str, Any],
    custom: Mapping[str, AgentSpec] = MappingProxyType({}),
) -> AgentSpec:
    """Parses the name of an agent requested by a page.

    Pages can request baselines, shipped checkpoints, and the agents of the server's command line
    (`custom`), but no other paths or modules.

    Args:
        text: The agent's name.
        game: The game, with compiled-in options.
        players: The number of players.
        options: The options that were chosen; others have standard values.
        custom: Agents by name.

    Raises:
        ValueError: Pages may not request this agent, or it doesn't play such games.
    """
    spec = custom[text] if text in custom else _requested(text)
    spec.check(id_of(game))
    problem = needs_of(spec, game).problem(game, players, options)
    if problem is not None:
        raise ValueError(f"agent {shown(text)} {problem}")
    return spec


def _requested(text: str) -> AgentSpec:
    refusal = f"agent {shown(text)}: the page doesn't offer it"
    if not _NAME.fullmatch(text):
        raise ValueError(refusal)
    spec = AgentSpec.parse(text)
    if spec.kind not in _PAGE_KINDS or (spec.kind == "linear" and spec.source):
        raise ValueError(refusal)
    checkpoints = [SHIPPED, *checkpoint_names()]
    if spec.kind == "checkpoint" and spec.source not in checkpoints:
        raise ValueError(
            f"agent {shown(text)}: there are random, greedy, linear, uct-N, hands-N, cheat-N, "
            f"mc-N, exact, and the checkpoints {sorted(checkpoints)}, with @N views, ~T "
            "temperature, :N simulations"
        )
    if spec.simulations is not None:
        integer(f"agent {text!r}: simulations", spec.simulations, 1, MOST_SIMULATIONS)
    return spec


def opponents(game: Game) -> list[AgentSpec]:
    """Returns the package's agents for a game that use only their seat's information."""
    try:
        specs = [*read_ladder(game.name).opponents]
    except ValueError:  # it has no ladder
        specs = [AgentSpec.parse(name) for name in _BASELINES]
    for name, card in _cards(game).items():
        specs += [AgentSpec.parse(agent) for agent in (name, *_searches(card))]
    return [spec for spec in dict.fromkeys(specs) if spec.kind not in _CHEATS]


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


@cache
def _cards(game: Game) -> Mapping[str, Mapping[str, Any]]:
    return {name: card for name, card in shipped_cards() if card["game"] == game.name}


def _searches(card: Mapping[str, Any]) -> list[str]:
    """Returns the agents with a search in a card's matches."""
    agents = [match["agents"][0] for match in card.get("strength", [])]
    return [agent for agent in agents if ":" in agent]
