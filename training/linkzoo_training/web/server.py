"""The state that the server's routes share: games, agents, folders and limits."""

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StrictStr

from linkzoo import registry
from linkzoo.core.arguments import shown
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.game_session import GameSession
from linkzoo_training.web.players import AbandonedError, Players, Task
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.session_store import SessionStore, UnknownError
from linkzoo_training.web.viewers import Viewer

MOST_SESSIONS = 200
MANY_SESSIONS = 20  # so many games at once can make a page wait
MOST_REPLAYS = 50
IDLE_SECONDS = 2 * 3600.0  # without use, until a game or record is dropped
SPARE_SECONDS = 300.0  # without use, until a game can be dropped for a new one
MOST_DRAWING = 2  # views that are drawn at once
POLL_SECONDS = 0.25  # between checks whether the page still waits

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
        sessions: Games in progress.
        replays: Opened records.
        drawing: The limit of views that are drawn at once.
        work: Sentences about the requests that can take long.
        stopped: Whether the server is ending.
    """

    records: Path
    games: list[str] = field(default_factory=lambda: list(registry.game_names()))
    custom_agents: Mapping[str, AgentSpec] = field(default_factory=dict)
    players: Players = field(default_factory=Players)
    sessions: SessionStore[GameSession] = field(
        default_factory=lambda: SessionStore(
            MOST_SESSIONS, IDLE_SECONDS, SPARE_SECONDS, GameSession.close
        )
    )
    replays: SessionStore[Replay] = field(
        default_factory=lambda: SessionStore(MOST_REPLAYS, IDLE_SECONDS, spare=0.0)
    )
    drawing: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(MOST_DRAWING))
    work: list[str] = field(default_factory=list)
    stopped: bool = False

    @contextmanager
    def working(self, words: str) -> Iterator[None]:
        """Tells pages that wait about work that can take long, such as "compiles Linkage"."""
        self.work.append(words)
        try:
            yield
        finally:
            self.work.remove(words)

    def reasons(self) -> list[str]:
        """Returns why answers can take long now, such as "compiles Linkage".

        Nothing about a move is a reason: who is asked to move can be secret.
        """
        reasons = list(dict.fromkeys(self.work))
        games = len(list(self.sessions))
        if games > MANY_SESSIONS:
            reasons.append(f"plays {games} games at once")
        return reasons

    def check_game(self, name: str) -> None:
        """Raises ValueError unless the page offers the game."""
        if name not in self.games:
            raise ValueError(f"no game {shown(name)}; there are {self.games}")

    def peek(self, name: str) -> Viewer | None:
        """Returns the viewer of a link, without counting as use; None without such a game."""
        entry = self.sessions.peek(name)
        if entry is None:
            return None
        return _viewer(*entry)

    def viewer(self, name: str) -> Viewer:
        """Returns the viewer of a link; UnknownError without such a game."""
        return _viewer(*self.sessions.get(name))

    def viewer_or_none(self, name: str) -> Viewer | None:
        """Returns the same as `viewer`, None without such a game."""
        try:
            return self.viewer(name)
        except UnknownError:
            return None

    def stop(self) -> None:
        """Ends the agents and the requests that wait."""
        self.stopped = True
        self.players.close()

    async def finished(self, request: Request, task: Task[T]) -> T:
        """Returns a task's result.

        Raises:
            AbandonedError: The page is gone or the server ends; the task is abandoned.
        """
        waiting = asyncio.wrap_future(task)
        try:
            while not waiting.done():
                await asyncio.wait([waiting], timeout=POLL_SECONDS)
                gone = self.stopped or await request.is_disconnected()
                if waiting.cancelled() or (gone and not waiting.done()):
                    raise AbandonedError
            return await waiting
        finally:
            waiting.cancel()
            task.abandon()


def _viewer(session: GameSession, number: int) -> Viewer:
    """Returns the viewer of a game's link; people with own screens have a link each."""
    if session.apart:
        return Viewer(session, session.humans[number])
    return Viewer(session)
