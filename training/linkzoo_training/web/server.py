"""The state that the server's routes share: games, agents, folders and limits."""

import asyncio
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Annotated, TypeVar

from fastapi import Request
from pydantic import BaseModel, ConfigDict, Field, StrictStr
from starlette.concurrency import run_in_threadpool

from linkzoo import get_game, registry
from linkzoo.core.arguments import shown
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.game_session import GameSession
from linkzoo_training.web.game_store import GameStore
from linkzoo_training.web.players import AbandonedError, Players, Task
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.session_store import WATCHING, SessionStore, UnknownError
from linkzoo_training.web.viewers import Viewer
from linkzoo_training.web.views import Json, stored_summary, summary

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
        store: The games on disk, in the folder of saved games.
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
    store: GameStore = field(init=False)

    def __post_init__(self) -> None:
        self.records.mkdir(parents=True, exist_ok=True)
        self.store = GameStore(self.records / "games.sqlite3")
        self._restoring = threading.Lock()

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

    def summary(self, name: str) -> Json | None:
        """Returns a game's entry in a list, in memory or on disk; None without such a game."""
        viewer = self.peek(name)
        if viewer is not None:
            return summary(viewer)
        stored = self.store.games(name)
        if not stored:
            return None
        return stored_summary(stored[0], self.store.number(name))

    def begin(self, session: GameSession) -> tuple[str, ...]:
        """Adds a game in progress, here and on disk; returns its links."""
        links = self.sessions.add(session, len(session.humans) if session.apart else 1)
        self.store.add(links)
        session.start(partial(self.store.put, links[0]))
        return links

    def viewer(self, name: str) -> Viewer:
        """Returns the viewer of a link, whose game may be on disk; UnknownError without a game."""
        try:
            return _viewer(*self.sessions.get(name))
        except UnknownError:
            if not self.store.games(name):
                raise
        with self._restoring:
            if self.sessions.peek(name) is None:
                self._restore(name)
        return _viewer(*self.sessions.get(name))

    async def find(self, name: str) -> Viewer:
        """Returns the same as `viewer`; other requests go on while the game is read from disk."""
        viewer = self.peek(name)
        if viewer is None:
            return await run_in_threadpool(self.viewer, name)
        return self.viewer(name)

    async def find_or_none(self, name: str) -> Viewer | None:
        """Returns the same as `find`, None without such a game."""
        try:
            return await self.find(name)
        except UnknownError:
            return None

    def spectators(self, name: str) -> str:
        """Returns the link that watches the game of a link, one for all spectators."""
        with self._restoring:
            watching = self.store.watch(name)
            if not watching:
                (watching,) = self.sessions.new_ids(1)
                self.store.add_watch(name, watching)
                self.sessions.watch(name, watching)
        return watching

    def close(self, name: str) -> None:
        """Forgets a link, and with the last one of a session its games."""
        with self._restoring:  # a stream of events must not read the game again meanwhile
            self.sessions.close(name)
            self.store.remove(name)

    def _restore(self, name: str) -> None:
        """Continues the latest game of a link's session from the disk.

        Raises:
            UnknownError: The game was removed meanwhile.
        """
        games = self.store.games(name)
        if not games:
            raise UnknownError("no such game: it was closed")
        stored = games[0]
        self.check_game(stored.game)
        with self.working(f"reads a game of {get_game(stored.game).title}"):
            session = GameSession(
                self.players,
                stored.game,
                stored.seats,
                stored.options,
                stored.seed,
                self.custom_agents,
                names=stored.names,
                apart=stored.apart,
            )
            session.resume(stored)
        links = tuple(self.store.links(name))
        session.start(partial(self.store.put, links[0]))
        self.sessions.restore(session, links)
        watching = self.store.watch(name)
        if watching:
            self.sessions.watch(links[0], watching)

    def stop(self) -> None:
        """Ends the agents and the requests that wait."""
        self.stopped = True
        self.players.close()
        for session in self.sessions:
            session.pause()
        self.store.close()

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
    if number == WATCHING:
        return Viewer(session, spectator=True)
    if session.apart:
        return Viewer(session, session.humans[number])
    return Viewer(session)
