"""The state that the server's routes share: games, agents, folders and limits."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from linkzoo import registry
from linkzoo.core.arguments import shown
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.players import AbandonedError, Players, Task
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.sessions import Sessions
from linkzoo_training.web.tables import Table
from linkzoo_training.web.viewers import Viewer

MOST_TABLES, MOST_REPLAYS, IDLE_SECONDS = 200, 50, 2 * 3600.0
SPARE_SECONDS = 300.0  # a game unused for so long makes room for a new one
LOOKS = 0.25  # seconds between looks whether the page still waits

Text = Annotated[StrictStr, Field(max_length=200)]
T = TypeVar("T")


class Wanted(BaseModel):
    """A request's body; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class AgentWanted(Wanted):
    """A request for an agent's analysis."""

    agent: Text


@dataclass
class Server:
    """State shared by the routes.

    Attributes:
        records: The folder of saved games.
        games: The games that the page offers.
        custom_agents: Agents that the page offers in addition, by their names.
        players: The agents in use.
        tables: Games in progress.
        replays: Opened records.
        stopped: Whether the server ends.
    """

    records: Path
    games: list[str] = field(default_factory=lambda: list(registry.game_names()))
    custom_agents: Mapping[str, AgentSpec] = field(default_factory=dict)
    players: Players = field(default_factory=Players)
    tables: Sessions[Table] = field(
        default_factory=lambda: Sessions(MOST_TABLES, IDLE_SECONDS, SPARE_SECONDS, Table.close)
    )
    replays: Sessions[Replay] = field(
        default_factory=lambda: Sessions(MOST_REPLAYS, IDLE_SECONDS, 0.0)
    )
    stopped: bool = False

    def check_game(self, name: str) -> None:
        """Raises ValueError unless the page offers the game."""
        if name not in self.games:
            raise ValueError(f"no game {shown(name)}; there are {self.games}")

    def peek(self, name: str) -> Viewer | None:
        """Returns what `viewer` does, without counting as use; None without such a game."""
        found = self.tables.peek(name)
        return None if found is None else _viewer(*found)

    def viewer(self, name: str) -> Viewer:
        """Returns who looks at a game by a link; UnknownError without such a game."""
        return _viewer(*self.tables.get(name))

    def stop(self) -> None:
        """Ends what requests wait for, and the agents."""
        self.stopped = True
        self.players.close()

    async def finished(self, request: Request, task: Task[T]) -> T:
        """Returns a task's result.

        Raises:
            AbandonedError: The page is gone or the server ends, and so does the task.
        """
        waiting = asyncio.wrap_future(task)
        try:
            while not waiting.done():
                await asyncio.wait([waiting], timeout=LOOKS)
                gone = self.stopped or await request.is_disconnected()
                if waiting.cancelled() or (gone and not waiting.done()):
                    raise AbandonedError
            return await waiting
        finally:
            waiting.cancel()
            task.abandon()


def _viewer(table: Table, number: int) -> Viewer:
    return Viewer(table, table.humans[number] if table.apart else None)
