"""Agents with the name they were asked for; workers make them from their specs."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import compiled_player
from linkzoo_training.agents.reports import AgentReport, begin_match, report_of
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.trained_on import note_untrained
from linkzoo_training.search.duel import Player


class NamedAgent:
    """An agent under the name of its spec, the same in every table, file and command.

    It is picklable: it holds the spec, and each process makes the agent once.

    Args:
        spec: The agent. `checkpoint` becomes the shipped checkpoint's name.
        game: The name of the game.
        options: Options of the game.

    Attributes:
        spec: The agent.
        name: The name of the spec.

    Raises:
        ValueError: As `make_agent`.
    """

    def __init__(
        self, spec: AgentSpec, game: str, options: Mapping[str, Any] | None = None
    ) -> None:
        self.spec = spec.resolved(game)
        self._game = game
        self._options = None if options is None else json.dumps(dict(options))
        self.name = str(self.spec)
        self._agent()  # raises before any game

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the agent's actions, int64[N]."""
        return self._agent().act(positions)

    def compiled_player(self, game: Game) -> Player | None:
        """Returns the agent as a player of compiled duels; None if it can't play them."""
        return compiled_player(self._agent(), game)

    def note_untrained(self, states: NDArray[Any], *, options_only: bool = False) -> None:
        """Warns if the agent's policy wasn't trained for games such as N records."""
        note_untrained(self._agent(), states, options_only=options_only)

    def begin_match(self) -> None:
        """Starts a new report of an agent that reports."""
        begin_match(self._agent())

    def report(self) -> AgentReport | None:
        """Returns the agent's report on the match; None if it has none."""
        return report_of(self._agent())

    def _agent(self) -> Agent:
        return _cached_agent(self.spec, self._game, self._options)


@cache
def _cached_agent(spec: AgentSpec, game: str, options: str | None) -> Agent:
    return make_agent(spec, game, None if options is None else json.loads(options))
