"""HTTP routes of the server; they answer with JSON."""

import asyncio
import json
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from pathlib import Path
from secrets import randbelow
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from fastapi.staticfiles import StaticFiles
from pydantic import BaseModel, ConfigDict, Field, StrictBool, StrictInt, StrictStr
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from linkzoo import Game, GameRecord, get_game, registry
from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.registry import id_of
from linkzoo_training.web.analysis import along, analyse
from linkzoo_training.web.players import BusyError, Players, read_agent
from linkzoo_training.web.records import save_new
from linkzoo_training.web.safety import Address, Guard
from linkzoo_training.web.sessions import Sessions, UnknownError
from linkzoo_training.web.tables import RefusedError, Table, safe_options
from linkzoo_training.web.views import Json, cards, catalogue, log, picture, table_view, winners

STATIC = Path(__file__).with_name("static")
MOST_TABLES, MOST_REPLAYS, IDLE_SECONDS = 200, 50, 2 * 3600.0
SOON, LATER = 0.1, 1.0  # max seconds a response waits for agents: after a move, and when polling
_DRAWING = threading.Lock()

Text = Annotated[StrictStr, Field(max_length=200)]


@dataclass
class Replay:
    """An opened record with its positions."""

    record: GameRecord
    game: Game
    positions: list[Record]
    log: list[Json]

    def position(self, ply: int) -> Record:
        """Returns the position after `ply` actions; ValueError if there is none."""
        return self.positions[integer("ply", ply, 0, len(self.positions) - 1)]


@dataclass
class Server:
    """State shared by the routes."""

    records: Path
    games: list[str] = field(default_factory=lambda: list(registry.game_names()))
    custom_agents: list[str] = field(default_factory=list)
    players: Players = field(default_factory=Players)
    tables: Sessions[Table] = field(default_factory=lambda: Sessions(MOST_TABLES, IDLE_SECONDS))
    replays: Sessions[Replay] = field(
        default_factory=lambda: Sessions(MOST_REPLAYS, IDLE_SECONDS, crowding=True)
    )

    def check_game(self, name: str) -> None:
        """Raises ValueError unless the page offers the game."""
        if name not in self.games:
            raise ValueError(f"no game {shown(name)}; there are {self.games}")


class _Request(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _NewGame(_Request):
    game: Text
    seats: Annotated[list[Text], Field(min_length=1, max_length=8)]  # `human` or agents
    options: dict[Text, StrictBool | StrictInt | Text] = {}
    seed: StrictInt | None = None  # None: the server chooses one


class _Move(_Request):
    move: Text  # in the game's notation


class _Look(_Request):
    seat: StrictInt  # of the person at the screen


class _Analysis(_Request):
    agent: Text


def create_app(server: Server, address: Address) -> ASGIApp:
    """Returns the server's application, behind the guard."""
    app = FastAPI(title="linkzoo", docs_url=None, redoc_url=None, openapi_url=None)
    _report_errors(app)
    _add_tables(app, server)
    _add_outcomes(app, server)
    _add_replays(app, server)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return Guard(app, address)


def _add_tables(app: FastAPI, server: Server) -> None:
    @app.get("/api/catalogue")
    def choices() -> Json:
        return catalogue(server.games, server.custom_agents)

    @app.get("/api/strength")
    def strength() -> Json:
        return cards(server.games)

    @app.post("/api/tables")
    def create(wanted: _NewGame) -> Json:
        server.check_game(wanted.game)
        server.tables.check_room()
        seed = randbelow(SEED_LIMIT) if wanted.seed is None else wanted.seed
        integer("seed", seed, 0, SEED_LIMIT - 1)
        table = Table(
            server.players, wanted.game, wanted.seats, wanted.options, seed, server.custom_agents
        )
        return {"id": server.tables.add(table)}

    @app.get("/api/tables/{name}")
    async def show(name: str, *, wait: bool = False) -> Response:
        return await _settled(server.tables.get(name), LATER if wait else 0)

    @app.delete("/api/tables/{name}")
    def close(name: str) -> Json:
        server.tables.close(name)
        return {}

    @app.post("/api/tables/{name}/look")
    async def look(name: str, who: _Look) -> Response:
        return await _done(server.tables.get(name), Table.look, who.seat)

    @app.post("/api/tables/{name}/move")
    async def move(name: str, what: _Move) -> Response:
        return await _done(server.tables.get(name), Table.play, what.move)

    @app.post("/api/tables/{name}/back")
    async def take_back(name: str) -> Response:
        return await _done(server.tables.get(name), Table.take_back)

    @app.post("/api/tables/{name}/step")
    async def step(name: str) -> Response:
        return await _done(server.tables.get(name), Table.step)


def _add_outcomes(app: FastAPI, server: Server) -> None:
    """Adds the routes for the record and the analysis of a game in progress."""

    @app.post("/api/tables/{name}/save")
    def save(name: str) -> Json:
        table = server.tables.get(name)
        with table.lock:
            record = GameRecord(**{**vars(table.record), "actions": [*table.record.actions]})
        return {"file": save_new(record, server.records).name}

    @app.get("/api/tables/{name}/record")
    def record(name: str) -> Json:
        table = server.tables.get(name)
        with table.lock:
            if table.secret:
                raise RefusedError("the record holds what is hidden: it can be had at the end")
            return table.record.to_dict()

    @app.post("/api/tables/{name}/analysis")
    async def analysis(name: str, wanted: _Analysis) -> Json:
        table = server.tables.get(name)
        future = await asyncio.to_thread(_analyse_table, server, table, wanted.agent)
        return await asyncio.wrap_future(future)


def _analyse_table(server: Server, table: Table, agent: str) -> Future[Json]:
    spec = read_agent(agent, id_of(table.game), server.custom_agents)
    with table.lock:
        if table.humans and not table.legal():
            raise RefusedError("an agent judges your own turns alone")
        state, seed = table.state.copy(), table.record.seed
    return server.players.submit(spec, table.game, analyse, table.game, state, seed)


async def _done(table: Table, act: Callable[..., None], *arguments: Any) -> Response:
    """Performs an action at a table; returns the view, with the moves of quick agents."""

    def locked() -> None:
        with table.lock:
            act(table, *arguments)

    await run_in_threadpool(locked)
    return await _settled(table, SOON)


async def _settled(table: Table, patience: float) -> Response:
    """Returns the view once no agent is thinking, after at most `patience` seconds."""
    until = time.monotonic() + patience
    while table.thinking and table.thought and (left := until - time.monotonic()) > 0:
        await asyncio.wait([asyncio.wrap_future(table.thought)], timeout=left)
    return await run_in_threadpool(_shown, table)


def _shown(table: Table) -> Response:
    """Returns the view of a game, rendered once per change.

    Rendering is serialised: parallel threads would only compete for the interpreter lock.
    """
    with _DRAWING, table.lock:
        if table.shown is None or table.shown[0] != table.key:
            table.shown = table.key, json.dumps(table_view(table)).encode()
        return Response(table.shown[1], media_type="application/json")


def _add_replays(app: FastAPI, server: Server) -> None:
    @app.post("/api/replays")
    def open_record(data: Annotated[dict[str, Any], Body()]) -> Json:
        name = string("game", data.get("game"))
        server.check_game(name)
        options = data.get("options")
        if isinstance(options, Mapping):
            safe_options(get_game(name), options)
        record = GameRecord.from_dict(data)
        game = get_game(record.game, record.options)
        replay = Replay(record, game, list(record.replay()), log(record))
        return {"id": server.replays.add(replay)}

    @app.get("/api/replays/{name}/{ply}")
    def position(name: str, ply: int, seat: int | None = None) -> Json:
        replay = server.replays.get(name)
        state, game = replay.position(ply), replay.game
        if seat is not None:
            integer("seat", seat, 0, replay.record.num_players - 1)
        return {
            "game": game.name,
            "title": game.title,
            "players": replay.record.num_players,
            "roles": list(game.roles(replay.record.options)),
            "ply": ply,
            "plies": len(replay.positions) - 1,
            "over": bool(state.seat < 0),
            "winners": winners(state),
            "svg": picture(game, state, seat),
            "text": game.drawing.text(state, seat),
            "log": replay.log,
        }

    @app.post("/api/replays/{name}/{ply}/analysis")
    async def evaluate(name: str, ply: int, wanted: _Analysis) -> Json:
        replay = server.replays.get(name)
        future = await asyncio.to_thread(_analyse_replay, server, replay, ply, wanted.agent)
        return await asyncio.wrap_future(future)

    @app.post("/api/replays/{name}/values")
    async def values(name: str, wanted: _Analysis) -> Json:
        replay = server.replays.get(name)
        spec = read_agent(wanted.agent, id_of(replay.game), server.custom_agents)
        future = server.players.submit(spec, replay.game, along, replay.record)
        return await asyncio.wrap_future(future)


def _analyse_replay(server: Server, replay: Replay, ply: int, agent: str) -> Future[Json]:
    state, game = replay.position(ply), replay.game
    spec = read_agent(agent, id_of(game), server.custom_agents)
    return server.players.submit(spec, game, analyse, game, state, replay.record.seed)


def _report_errors(app: FastAPI) -> None:
    """Makes each error one line of JSON; a message may hold any characters."""
    statuses = {UnknownError: 404, RefusedError: 409, BusyError: 429}

    def report(_: Request, error: Exception) -> JSONResponse:
        if isinstance(error, RequestValidationError):
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"][1:]))
            status, message = 422, f"{where[:200]}: {first['msg']}"
        elif isinstance(error, HTTPException):
            status, message = error.status_code, str(error.detail)
        else:
            status, message = statuses.get(type(error), 400), str(error)
        line = " ".join(message.split())[:1000].encode(errors="replace").decode()
        return JSONResponse({"error": line}, status)

    for kind in (ValueError, RecursionError, *statuses, RequestValidationError, HTTPException):
        app.add_exception_handler(kind, report)
