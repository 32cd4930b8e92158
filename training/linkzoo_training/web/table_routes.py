"""Routes of games in progress."""

import asyncio
import json
import threading
import time
from collections.abc import Callable
from copy import deepcopy
from secrets import randbelow
from typing import Annotated, Any

from fastapi import FastAPI, Query, Request
from fastapi.responses import Response
from pydantic import Field, StrictBool, StrictInt
from starlette.concurrency import run_in_threadpool

from linkzoo import Game
from linkzoo.core.arguments import integer
from linkzoo.core.state import Record
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.registry import id_of
from linkzoo_training.web.analysis import analyse
from linkzoo_training.web.players import Player, Task, read_agent
from linkzoo_training.web.server import LOOKS, AgentWanted, Server, Text, Wanted
from linkzoo_training.web.tables import RefusedError, Table
from linkzoo_training.web.viewers import Viewer
from linkzoo_training.web.views import Json, entry, preview, summary, table_view

SOON, LATER = 0.1, 20.0  # max seconds of a response: after a move, for agents; for any change
MOST_LISTED = 100  # games that a page asks for at once
_DRAWING = threading.Lock()


class _NewGame(Wanted):
    game: Text
    seats: Annotated[list[Text], Field(min_length=1, max_length=8)]  # `human` or agents
    names: Annotated[list[Text], Field(max_length=8, default_factory=list)]
    apart: StrictBool = False
    options: Annotated[dict[Text, StrictBool | StrictInt | Text], Field(default_factory=dict)]
    seed: StrictInt | None = None  # None: the server chooses one


class _Move(Wanted):
    move: Text  # in the game's notation


class _Look(Wanted):
    seat: StrictInt  # of the person at the screen


class _Analysis(AgentWanted):
    last: StrictBool = False  # of the position before the viewer's last move


def add_tables(app: FastAPI, server: Server) -> None:
    """Adds the routes of games in progress."""

    @app.get("/api/tables")
    def mine(ids: Annotated[list[Text], Query(max_length=MOST_LISTED)]) -> Json:
        found = {name: viewer for name in ids if (viewer := server.peek(name)) is not None}
        return {"tables": [{"id": name, **summary(viewer)} for name, viewer in found.items()]}

    @app.post("/api/tables")
    def create(wanted: _NewGame) -> Json:
        server.check_game(wanted.game)
        server.tables.check_room()
        table = Table(
            server.players,
            wanted.game,
            wanted.seats,
            wanted.options,
            _seed(wanted.seed),
            server.custom_agents,
            names=wanted.names,
            apart=wanted.apart,
        )
        names = server.tables.add(table, len(table.humans) if table.apart else 1)
        seats = dict(zip(table.humans, names, strict=True)) if table.apart else {}
        return {"id": names[0], "seats": seats}

    @app.get("/api/tables/{name}")
    async def show(name: str, since: int | None = None, *, tall: bool = False) -> Response:
        viewer = server.viewer(name)
        if since is not None:
            await _until(server, viewer.table, LATER, lambda: viewer.table.version != since)
        return await run_in_threadpool(_shown, viewer, tall)

    @app.get("/api/tables/{name}/log/{number}")
    def look_back(name: str, number: int, *, tall: bool = False) -> Json:
        viewer = server.viewer(name)
        with viewer.table.lock:
            return entry(viewer, number, tall=tall)

    @app.post("/api/tables/{name}/preview")
    def look_ahead(name: str, what: _Move, *, tall: bool = False) -> Json:
        viewer = server.viewer(name)
        with viewer.table.lock:
            return preview(viewer, what.move, tall=tall)

    @app.delete("/api/tables/{name}")
    def close(name: str) -> Json:
        server.tables.close(name)
        return {}


def add_moves(app: FastAPI, server: Server) -> None:
    """Adds the routes of what people do at a table; they return its view."""

    @app.post("/api/tables/{name}/look")
    async def look(name: str, who: _Look, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.look(who.seat), tall)

    @app.post("/api/tables/{name}/move")
    async def move(name: str, what: _Move, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.play(what.move), tall)

    @app.post("/api/tables/{name}/back")
    async def take_back(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.take_back, tall)

    @app.post("/api/tables/{name}/step")
    async def step(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.step, tall)

    @app.post("/api/tables/{name}/resign")
    async def resign(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, Viewer.resign, tall)

    @app.post("/api/tables/{name}/rematch")
    async def rematch(name: str, *, tall: bool = False) -> Response:
        return await _done(server, name, lambda viewer: viewer.rematch(_seed(None)), tall)


def add_outcomes(app: FastAPI, server: Server) -> None:
    """Adds the routes for the record and the analysis of a game in progress."""

    @app.post("/api/tables/{name}/save")
    def save(name: str) -> Json:
        table = server.viewer(name).table
        with table.lock:
            record = deepcopy(table.record)
            file = table.file
        record.save(server.records / file)
        return {"file": file}

    @app.get("/api/tables/{name}/record")
    def record(name: str) -> Json:
        table = server.viewer(name).table
        with table.lock:
            if table.secret:
                raise RefusedError("the record holds what is hidden: it can be had at the end")
            return table.record.to_dict()

    @app.post("/api/tables/{name}/analysis")
    async def analysis(name: str, wanted: _Analysis, request: Request) -> Json:
        viewer = server.viewer(name)
        task = await asyncio.to_thread(_analyse, server, viewer, wanted.agent, wanted.last)
        return await server.finished(request, task)


def _seed(wanted: int | None) -> int:
    seed = randbelow(SEED_LIMIT) if wanted is None else wanted
    return integer("seed", seed, 0, SEED_LIMIT - 1)


def _analyse(server: Server, viewer: Viewer, agent: str, last: bool) -> Task[Json]:
    table = viewer.table
    spec = read_agent(agent, id_of(table.game), server.custom_agents)
    with table.lock:
        state, played = viewer.before_last() if last else (table.state.copy(), None)
        if not last and table.humans and not viewer.legal():
            raise RefusedError("an agent judges your own turns alone")
        seed = table.record.seed
    return server.players.submit(spec, table.game, _judge, table.game, state, seed, played)


def _judge(player: Player, game: Game, state: Record, seed: int, played: int | None) -> Json:
    text = None if played is None else game.notation.action_to_text(state, played)
    return {**analyse(player, game, state, seed), "played": text}


async def _done(server: Server, name: str, act: Callable[[Viewer], Any], tall: bool) -> Response:
    """Performs an action at a table; returns the view, with the moves of quick agents."""
    viewer = server.viewer(name)

    def locked() -> None:
        with viewer.table.lock:
            act(viewer)

    await run_in_threadpool(locked)
    await _until(server, viewer.table, SOON, lambda: not viewer.table.thinking)
    return await run_in_threadpool(_shown, viewer, tall)


async def _until(server: Server, table: Table, patience: float, done: Callable[[], bool]) -> None:
    """Waits until something is done at a table, at most `patience` seconds.

    An agent that was refused because all are busy is asked again.
    """
    until = time.monotonic() + patience
    while not done() and not server.stopped and (left := until - time.monotonic()) > 0:
        if table.thinking and table.thought is None:
            await run_in_threadpool(_ask_again, table)
        await asyncio.wait([asyncio.wrap_future(table.changed)], timeout=min(left, LOOKS))


def _ask_again(table: Table) -> None:
    with table.lock:
        if table.thinking and table.thought is None:
            table.ask()


def _shown(viewer: Viewer, tall: bool) -> Response:
    """Returns the view of a game, rendered once per change.

    Rendering is serialised: parallel threads would only compete for the interpreter lock.
    """
    table = viewer.table
    with _DRAWING, table.lock:
        version, view = table.shown.get((viewer.own, tall), (-1, b""))
        if version != table.version:
            version, view = table.version, json.dumps(table_view(viewer, tall=tall)).encode()
            table.shown[viewer.own, tall] = version, view
        return Response(view, media_type="application/json")
