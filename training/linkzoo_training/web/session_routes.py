"""Routes of games in progress."""

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Callable
from copy import deepcopy
from functools import partial
from secrets import randbelow
from typing import Annotated, Any, NamedTuple

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response, StreamingResponse
from pydantic import Field, StrictBool, StrictFloat, StrictInt
from starlette.concurrency import run_in_threadpool

from linkzoo import Game, get_game
from linkzoo.core.arguments import integer, shown
from linkzoo.core.state import Record
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo_training.web.analysis import analyse
from linkzoo_training.web.clock import MOST_INCREMENT, MOST_MINUTES, TimeControl
from linkzoo_training.web.game_session import GameSession, RefusedError
from linkzoo_training.web.offers import read_agent
from linkzoo_training.web.players import Player, Task
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.server import POLL_SECONDS, AgentWanted, Server, Text, Wanted
from linkzoo_training.web.viewers import Viewer
from linkzoo_training.web.views import Json, Scene, entry, preview, scene_of

SOON = 0.1  # seconds that the response to a move waits for agents
BEAT_SECONDS = 15.0  # between signs of life in a stream of events
MOST_LISTED = 100  # games that a page asks for at once
HIDDEN_RECORD = "the record holds hidden information: it is available at the end"


class _Clock(Wanted):
    minutes: Annotated[StrictInt | StrictFloat, Field(gt=0, le=MOST_MINUTES)]
    increment: Annotated[StrictInt, Field(ge=0, le=MOST_INCREMENT)]  # seconds


class _NewGame(Wanted):
    game: Text
    seats: Annotated[list[Text], Field(min_length=1, max_length=8)]  # `human` or agents
    names: Annotated[list[Text], Field(max_length=8, default_factory=list)]
    apart: StrictBool = False
    options: Annotated[dict[Text, StrictBool | StrictInt | Text], Field(default_factory=dict)]
    # None: the server chooses one. The page sends digits: JavaScript would round large numbers.
    seed: StrictInt | Text | None = None
    clock: _Clock | None = None


class _Move(Wanted):
    move: Text  # in the game's notation


class _Answer(Wanted):
    agree: StrictBool  # to take back the move


class _Look(Wanted):
    seat: StrictInt  # of the person at the screen


class _Analysis(AgentWanted):
    last: StrictBool = False  # of the position before the viewer's last move


def add_sessions(app: FastAPI, server: Server) -> None:
    """Adds the routes of games in progress."""

    @app.get("/api/sessions")
    def mine(ids: Annotated[list[Text], Query(max_length=MOST_LISTED)]) -> Json:
        summaries = {name: server.summary(name) for name in dict.fromkeys(ids)}
        return {
            "sessions": [
                {"id": name, **summary}
                for name, summary in summaries.items()
                if summary is not None
            ]
        }

    @app.post("/api/sessions")
    def create(wanted: _NewGame) -> Json:
        server.check_game(wanted.game)
        server.sessions.check_room()
        seed = _seed(wanted.seed)
        title = get_game(wanted.game).title
        with server.working(f"begins {title}, which it compiles at the first use"):
            session = GameSession(
                server.players,
                wanted.game,
                wanted.seats,
                wanted.options,
                seed,
                server.custom_agents,
                names=wanted.names,
                apart=wanted.apart,
            )
        if wanted.clock is not None:
            session.use_clock(TimeControl(wanted.clock.minutes, wanted.clock.increment))
        links = server.begin(session)
        if not session.apart:
            return {"id": links[0], "seats": {}}
        return {"id": links[0], "seats": dict(zip(session.humans, links, strict=True))}

    @app.get("/api/sessions/{name}")
    async def show(name: str, *, tall: bool = False) -> Response:
        view = await _shown(server, await server.find(name), tall)
        return view.response()

    @app.get("/api/sessions/{name}/events")
    async def events(name: str, *, tall: bool = False) -> Response:
        await server.find(name)  # 404 without such a game
        return StreamingResponse(_views(server, name, tall), media_type="text/event-stream")

    @app.get("/api/sessions/{name}/log/{number}")
    def look_back(name: str, number: int, *, tall: bool = False) -> Json:
        viewer = server.viewer(name)
        with viewer.session.lock:
            return entry(viewer, number, tall=tall)

    @app.post("/api/sessions/{name}/preview")
    def look_ahead(name: str, wanted: _Move, *, tall: bool = False) -> Json:
        viewer = server.viewer(name)
        with viewer.session.lock:
            return preview(viewer, wanted.move, tall=tall)

    @app.post("/api/sessions/{name}/spectators")
    def spectators(name: str) -> Json:
        viewer = server.viewer(name)
        with viewer.session.lock:
            scene = scene_of(Viewer(viewer.session, spectator=True))
        try:
            scene.drawn()
        except Exception as error:  # a game's own drawing needn't know spectators
            raise RefusedError("the game has no view for spectators") from error
        return {"id": server.spectators(name)}

    @app.delete("/api/sessions/{name}")
    def close(name: str) -> Json:
        server.close(name)
        return {}


def add_moves(app: FastAPI, server: Server) -> None:
    """Adds the routes of people's actions in a game; they return its view."""

    @app.post("/api/sessions/{name}/look")
    async def look(name: str, wanted: _Look, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.look(wanted.seat), tall)

    @app.post("/api/sessions/{name}/move")
    async def move(name: str, wanted: _Move, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.play(wanted.move), tall)

    @app.post("/api/sessions/{name}/back")
    async def take_back(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.take_back, tall)

    @app.post("/api/sessions/{name}/agree")
    async def agree(name: str, wanted: _Answer, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.agree(wanted.agree), tall)

    @app.post("/api/sessions/{name}/step")
    async def step(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.step, tall)

    @app.post("/api/sessions/{name}/resign")
    async def resign(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.resign, tall)

    @app.post("/api/sessions/{name}/rematch")
    async def rematch(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.rematch(_seed(None)), tall)


def add_outcomes(app: FastAPI, server: Server) -> None:
    """Adds the routes for the record and the analysis of a game in progress."""

    @app.post("/api/sessions/{name}/save")
    def save(name: str) -> Json:
        viewer = server.viewer(name)
        viewer.check_plays()
        session = viewer.session
        with session.lock:
            record = deepcopy(session.record)
            file = session.file
        record.save(server.records / file)
        return {"file": file}

    @app.get("/api/sessions/{name}/record")
    def record(name: str) -> Json:
        session = server.viewer(name).session
        with session.lock:
            if session.secret:
                raise RefusedError(
                    "the record holds hidden information: it is available at the end"
                )
            return session.record.to_dict()

    @app.post("/api/sessions/{name}/replay")
    def replay(name: str) -> Json:
        session = server.viewer(name).session
        with session.lock:
            if not session.over:
                raise RefusedError("the game isn't over")
            if session.replay is None or server.replays.peek(session.replay) is None:
                record = deepcopy(session.record)
                (session.replay,) = server.replays.add(Replay(record, session.humans or None))
            return {"id": session.replay}

    @app.post("/api/sessions/{name}/analysis")
    async def analysis(name: str, wanted: _Analysis, request: Request) -> Json:
        viewer = await server.find(name)
        task = await asyncio.to_thread(_analyse, server, viewer, wanted.agent, wanted.last)
        return await server.finished(request, task)


def _seed(wanted: int | str | None) -> int:
    """Returns the wanted seed, else a random one."""
    if wanted is None:
        return randbelow(SEED_LIMIT)
    if isinstance(wanted, str):
        if not re.fullmatch(r"[0-9]{1,20}", wanted):
            raise ValueError(f"seed: {shown(wanted)} is no integer of at most 20 digits")
        wanted = int(wanted)
    return integer("seed", wanted, 0, 2**64 - 1)


def _analyse(server: Server, viewer: Viewer, agent: str, last: bool) -> Task[Json]:
    session = viewer.session
    record = session.record
    players = record.num_players
    spec = read_agent(agent, session.game, players, record.options, server.custom_agents)
    with session.lock:
        played: int | None = None
        if last:
            state, played = viewer.before_last()
        elif session.humans and not viewer.legal():
            raise RefusedError("an agent judges only your own turns")
        else:
            state = session.state.copy()
    return server.players.submit(spec, session.game, _judge, session.game, state, played)


def _judge(player: Player, game: Game, state: Record, played: int | None) -> Json:
    """Returns the analysis of a position, and the text of the move played there, if any."""
    text: str | None = None
    if played is not None:
        text = game.notation.action_to_text(state, played)
    return {**analyse(player, game, state), "played": text}


async def _done(server: Server, name: str, act: Callable[[Viewer], Any], tall: bool) -> Response:
    """Performs an action in a game; returns the view, including the moves of quick agents."""
    viewer = await server.find(name)

    def locked() -> None:
        with viewer.session.lock:
            act(viewer)

    await run_in_threadpool(locked)
    await _until(server, viewer.session, SOON, lambda: not viewer.session.thinking)
    view = await _shown(server, viewer, tall)
    return view.response()


async def _views(server: Server, name: str, tall: bool) -> AsyncIterator[bytes]:
    """Yields a view for each change that the viewer sees, as server-sent events.

    The stream ends with the game, the server or the request.
    """
    sent = -1
    change = -1
    while (viewer := await server.find_or_none(name)) is not None and not server.stopped:
        session = viewer.session
        if session.version != change:
            view = await _shown(server, viewer, tall)
            change = view.change
            if view.version != sent:
                sent = view.version
                yield b"data: " + view.content() + b"\n\n"
        else:
            yield b":\n\n"  # proxies close silent connections
        await _until(server, session, BEAT_SECONDS, partial(_has_changed, session, change))


def _has_changed(session: GameSession, change: int) -> bool:
    return session.version != change


async def _until(
    server: Server, session: GameSession, patience: float, done: Callable[[], bool]
) -> None:
    """Waits until `done()`, the server's end, or `patience` seconds have passed.

    An agent that was refused because all are busy is asked again.
    """
    end = time.monotonic() + patience
    while not done() and not server.stopped:
        remaining = end - time.monotonic()
        if remaining <= 0:
            return
        if session.thinking and session.thought is None:
            await run_in_threadpool(_ask_again, session)
        change = asyncio.wrap_future(session.changed)
        await asyncio.wait([change], timeout=min(remaining, POLL_SECONDS))


def _ask_again(session: GameSession) -> None:
    with session.lock:
        if session.thinking and session.thought is None:
            session.ask()


class _View(NamedTuple):
    """A rendered view.

    Attributes:
        change: The number of changes of the session.
        version: Counts what the viewer saw change; the same for wide and tall drawings.
        drawn: The view and its version, without its clock, as JSON.
        clock: The clocks of people, which go on while a view is kept; None without them.
    """

    change: int
    version: int
    drawn: bytes
    clock: Json | None

    def content(self) -> bytes:
        """Returns the view as JSON; the clock alone is written anew."""
        return self.drawn[:-1] + b', "clock": ' + json.dumps(self.clock).encode() + b"}"

    def response(self) -> Response:
        return Response(self.content(), media_type="application/json")


async def _shown(server: Server, viewer: Viewer, tall: bool) -> _View:
    """Returns the view of a game, rendered once per change.

    A session's lock is held to copy the position, never to draw it: agents wait for that lock.
    Few views are drawn at once: more threads would only compete for the interpreter.
    """
    session = viewer.session
    key = (viewer.screen, tall)
    async with session.drawing:  # one request draws a change, the others wait for its view
        scene = await run_in_threadpool(_scene, viewer)
        known: _View | None = session.rendered.get(key)
        if known is not None and known.change == scene.change:
            return known._replace(clock=scene.clock)
        async with server.drawing:
            drawn = await run_in_threadpool(scene.drawn, tall=tall)
        facts = {name: value for name, value in drawn.items() if name != "svg"}
        version, seen = session.seen.get(viewer.screen, (0, None))
        if facts != seen:
            version += 1
            session.seen[viewer.screen] = version, facts
        content = json.dumps({**drawn, "version": version}).encode()
        view = _View(scene.change, version, content, scene.clock)
        session.rendered[key] = view
        return view


def _scene(viewer: Viewer) -> Scene:
    with viewer.session.lock:
        return scene_of(viewer)
