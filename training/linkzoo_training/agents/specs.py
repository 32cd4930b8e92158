"""Parses agent names, once: code that makes, caches or labels agents takes an AgentSpec.

Importing this module loads no torch.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from linkzoo import Agent, RandomAgent, get_game
from linkzoo.core.arguments import shown, string
from linkzoo.core.imports import source_digest
from linkzoo.core.urls import local_copy
from linkzoo.core.user_files import local
from linkzoo.registry import id_of
from linkzoo_training.agents.baselines import ExactAgent, GreedyAgent, MonteCarloAgent, UctAgent
from linkzoo_training.agents.extensions import extension_kinds, make_extension_agent
from linkzoo_training.agents.human import HumanAgent
from linkzoo_training.agents.linear import LinearAgent, load_scorer, shipped_file
from linkzoo_training.agents.playouts import PlayoutAgent
from linkzoo_training.imports import check_import_path, is_import_path
from linkzoo_training.resources import checkpoint_names, find_checkpoint, is_checkpoint
from linkzoo_training.search.solver import check_solver

SHIPPED = "checkpoint"  # the game's shipped checkpoint
BASELINES = (
    "random, greedy, uct-N, hands-N, cheat-N, mc-N, exact, linear or a FILE.json of fit with an "
    "optional :N (playouts per move)"
)
_SIMPLE: dict[str, Callable[[], Agent]] = {
    "random": RandomAgent,
    "greedy": GreedyAgent,
    "exact": ExactAgent,
    "linear": LinearAgent,
    "human": HumanAgent,
}
_SEARCHES: dict[str, Callable[[int], Agent]] = {
    "uct": UctAgent,
    "hands": partial(UctAgent, sees="hands"),
    "cheat": partial(UctAgent, sees="all"),
    "mc": MonteCarloAgent,
}
_NEGATIVE = re.compile(r"[-:]-\d+$")
_SEARCH = re.compile(rf"({'|'.join(_SEARCHES)})-([0-9]+)")
_SUFFIX = re.compile(
    r"(?s)(.+)(?:@(?P<views>[0-9]+)|~(?P<temperature>[0-9]+(?:\.[0-9]+)?)|:(?P<simulations>[0-9]+))"
)
_MAX_DIGITS = 18  # of a number in a name

_Reading = tuple[str, dict[str, str]]  # a source and the suffixes after it


@dataclass(frozen=True)
class AgentSpec:
    """A parsed agent name; `str` returns the name.

    Attributes:
        kind: random, greedy, exact, human, linear, uct, hands, cheat, mc, checkpoint, custom, or
            one of `extension_kinds`.
        source: A checkpoint's name or folder, "checkpoint" for the game's shipped checkpoint, a
            linear scorer's file, a custom agent's import path, or an extension's settings.
        views: Symmetric views that a checkpoint averages; None for its card's value.
        temperature: The temperature of a checkpoint's policy; None for its card's value.
        simulations: Simulations per move (mc: playouts per action); None for no search.
    """

    kind: str
    source: str = ""
    views: int | None = None
    temperature: float | None = None
    simulations: int | None = None

    @classmethod
    def parse(cls, text: str) -> "AgentSpec":
        """Parses an agent's name.

        Shipped checkpoints take precedence, then the longest existing checkpoint folder (whose name
        may contain suffixes), then import paths. An unknown name is taken for a checkpoint's.

        Args:
            text: A name as `make_agent` lists them.

        Returns:
            The spec. Its agent need not exist, see `check`.

        Raises:
            ValueError: `text` is not a string, or a number in it is too long.
        """
        text = string("agent", text)
        if text in _SIMPLE:
            return cls(text)
        kind, colon, settings = text.partition(":")
        if colon and kind in extension_kinds():
            return cls(kind, settings)
        if search := _SEARCH.fullmatch(text):
            return cls(search[1], **_numbers(text, {"simulations": search[2]}))
        readings = list(_readings(text))
        checkpoint = _known_checkpoint(readings)
        if checkpoint is None:
            for source, suffixes in readings:
                if _is_scorer(source, suffixes):
                    file = "" if source == "linear" else source
                    return cls("linear", file, **_numbers(text, suffixes))
            if is_import_path(text):
                return cls("custom", text)
            checkpoint = readings[-1]
        source, suffixes = checkpoint
        return cls("checkpoint", source, **_numbers(text, suffixes))

    def __str__(self) -> str:
        if self.kind in _SEARCHES:
            return f"{self.kind}-{self.simulations}"
        if self.kind in extension_kinds():
            return f"{self.kind}:{self.source}"
        text = self.source or self.kind
        if self.views is not None:
            text += f"@{self.views}"
        if self.temperature is not None:
            text += f"~{np.format_float_positional(self.temperature, trim='-')}"
        if self.simulations is not None:
            text += f":{self.simulations}"
        return text

    def resolved(self, game: str) -> "AgentSpec":
        """Returns the spec with the shipped checkpoint's name instead of `checkpoint`."""
        if self.kind == "checkpoint" and self.source == SHIPPED:
            return replace(self, source=game)
        return self

    def with_simulations(self, simulations: int | None) -> "AgentSpec":
        """Returns the spec with a search added, if it is a checkpoint without a search."""
        if self.kind == "checkpoint" and self.simulations is None:
            return replace(self, simulations=simulations)
        return self

    def checkpoint(self, game: str) -> str | None:
        """Returns the name or folder of the checkpoint that plays a game; None for other agents."""
        if self.kind != "checkpoint":
            return None
        return self.resolved(game).source

    def card(self, game: str) -> dict[str, Any]:
        """Returns the card of the checkpoint that plays a game, empty for other agents.

        Raises:
            ValueError: There is no such checkpoint, or its card is damaged.
        """
        checkpoint = self.checkpoint(game)
        if checkpoint is None:
            return {}
        from linkzoo_training.checkpoints.checkpoint import load_card  # loads torch

        return load_card(find_checkpoint(checkpoint))

    def fixed(self, game: str) -> dict[str, Any]:
        """Returns the checkpoint's options of the board or cards that differ from the standard."""
        standard = get_game(game).fixed.values
        options = self.card(game).get("fixed", {})
        return {
            name: value
            for name, value in options.items()
            if name in standard and value != standard[name]
        }

    def check(self, game: str, *, human: bool = True) -> None:
        """Checks that the agent exists, without reading checkpoints or importing custom agents.

        Args:
            game: The name of the game.
            human: Whether the agent may be a person at the terminal.

        Raises:
            ValueError: The agent or game doesn't exist, or the agent may not be a person.
        """
        get_game(game)
        checkpoint = self.checkpoint(game)
        if self.kind == "human" and not human:
            raise ValueError(
                "agent 'human' is asked at the terminal: name an agent that plays by itself"
            )
        if self.kind == "exact":
            check_solver(game)
        if self.kind == "linear":
            load_scorer(get_game(game), self.source or "linear")
        if self.kind == "custom":
            check_import_path(self.source, "agent")
        elif checkpoint is None:
            self.baseline()
        else:
            try:
                find_checkpoint(checkpoint)
            except ValueError as error:
                if _NEGATIVE.search(str(self)):
                    raise ValueError(
                        f"agent {shown(str(self))}: the number must be 1 or more"
                    ) from error
                extensions = "".join(f", {kind}:SETTINGS" for kind in extension_kinds())
                raise ValueError(
                    f"agent {shown(str(self))}: {error}; agents without a checkpoint are human, "
                    f"{BASELINES}{extensions}, FILE.py:NAME and module:NAME"
                ) from error

    def baseline(self) -> Agent:
        """Makes an agent that needs neither a checkpoint nor custom code."""
        if self.kind in extension_kinds():
            return make_extension_agent(self.kind, self.source)
        if self.kind == "linear":
            scorer = LinearAgent(self.source or None)
            if self.simulations is None:
                return scorer
            return PlayoutAgent(scorer, self.simulations)
        if self.simulations is None:
            return _SIMPLE[self.kind]()
        return _SEARCHES[self.kind](self.simulations)

    def digest(self, game: str) -> str | None:
        """Returns a SHA-256 of the agent's weights or code; None for baselines.

        It covers a checkpoint's card, with the hashes of the weights and of a custom network but
        without measured results, or the file of a linear scorer, or of a custom agent with the
        modules of its folder that it imports.
        """
        if card := self.card(game):
            measured = {"strength": None, "blunder_rate": None}
            data = json.dumps(card | measured, sort_keys=True).encode()
        elif self.kind == "linear":
            file = local_copy(self.source) if self.source else shipped_file(get_game(game))
            if not file.is_file():
                return None
            data = file.read_bytes()
        elif self.kind in extension_kinds() and local(self.source).is_file():
            data = local(self.source).read_bytes()
        elif self.kind == "custom":
            return source_digest(self.source.rpartition(":")[0])
        else:
            return None
        return hashlib.sha256(data).hexdigest()


def digests_of(game: str, agents: Iterable[str | AgentSpec]) -> dict[str, str]:
    """Returns the digests of a custom game and of the agents that have one, by name.

    Files of results keep them: equal names aren't enough to continue a file.
    """
    digests = agent_digests(game, agents)
    if (digest := game_digest(game)) is not None:
        digests[id_of(get_game(game))] = digest
    return digests


def game_digest(game: str) -> str | None:
    """Returns the SHA-256 of a custom game's file and of what it imports from its folder."""
    address = id_of(get_game(game))
    if not is_import_path(address):
        return None
    return source_digest(address.rpartition(":")[0])


def agent_digests(game: str, agents: Iterable[str | AgentSpec]) -> dict[str, str]:
    """Returns the digests of the agents that have one, by name."""
    specs = [AgentSpec.parse(str(agent)) for agent in agents]
    digests = {str(spec): spec.digest(game) for spec in specs}
    return {name: digest for name, digest in digests.items() if digest is not None}


def _known_checkpoint(readings: Sequence[_Reading]) -> _Reading | None:
    """Returns the longest reading that names a shipped checkpoint, else an existing folder."""
    names = {SHIPPED, *checkpoint_names()}
    for reading in readings:
        if reading[0] in names:
            return reading
    for reading in readings:
        if is_checkpoint(reading[0]):
            return reading
    return None


def _readings(text: str) -> Iterator[_Reading]:
    """Yields the possible sources of a name, longest first, each with the remaining suffixes."""
    suffixes: dict[str, str] = {}
    yield text, {}
    while match := _SUFFIX.fullmatch(text):
        text = match[1]
        suffix = {name: value for name, value in match.groupdict().items() if value}
        if suffix.keys() & suffixes.keys():
            return
        suffixes = {**suffixes, **suffix}
        yield text, suffixes


def _is_scorer(source: str, suffixes: dict[str, str]) -> bool:
    return (source == "linear" or source.endswith(".json")) and suffixes.keys() <= {"simulations"}


def _numbers(text: str, suffixes: dict[str, str]) -> dict[str, Any]:
    """Parses the values of suffixes.

    Raises:
        ValueError: A number has too many digits.
    """
    if any(len(number) > _MAX_DIGITS for number in suffixes.values()):
        raise ValueError(f"agent {shown(text)}: a number of more than {_MAX_DIGITS} digits")
    types = {"temperature": float}
    return {name: types.get(name, int)(number) for name, number in suffixes.items()}
