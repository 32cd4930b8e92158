"""Agents by their names: the same in every table, file and command, and picklable for workers."""

import json
from collections.abc import Mapping
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Positions
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.usage import Usage


class NamedAgent:
    """An agent that is called what it was asked for by, and that workers make from this name.

    Args:
        spec: The agent's name, see `make_agent`. `checkpoint` becomes the shipped checkpoint's.
        game: The name of the game.
        options: Options of the game.

    Raises:
        ValueError: As `make_agent`.
    """

    def __init__(
        self, spec: str | AgentSpec, game: str, options: Mapping[str, Any] | None = None
    ) -> None:
        self.name = str(AgentSpec.parse(spec).resolved(game))
        self._how = self.name, game, None if options is None else json.dumps(dict(options))
        _made(*self._how)  # raises before any game

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the agent's actions."""
        return _made(*self._how).act(positions)

    def begin_match(self) -> None:
        """Tells an agent that counts what it uses that a match begins."""
        if self.usage is not None:
            cast(Any, _made(*self._how)).begin_match()

    @property
    def usage(self) -> Usage | None:
        """The usage since the match began; None if the agent doesn't count it."""
        usage: Usage | None = getattr(_made(*self._how), "usage", None)
        return usage


@cache
def _made(name: str, game: str, options: str | None) -> Agent:
    return make_agent(name, game, None if options is None else json.loads(options))
