"""HTTP routes of the server; they answer with JSON."""

from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import Field
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from linkzoo import GameRecord, get_game
from linkzoo_training.web.catalogue import catalogue
from linkzoo_training.web.players import HUMAN, AbandonedError, BusyError, read_agent
from linkzoo_training.web.records import find_saved, list_saved
from linkzoo_training.web.replay_routes import add_replays
from linkzoo_training.web.rulebook import rulebook
from linkzoo_training.web.safety import Address, Guard, without_paths
from linkzoo_training.web.server import Server, Text, Wanted
from linkzoo_training.web.sessions import UnknownError
from linkzoo_training.web.table_routes import add_moves, add_outcomes, add_tables
from linkzoo_training.web.tables import RefusedError
from linkzoo_training.web.views import Json, cards

STATIC = Path(__file__).with_name("static")
_STATUSES = {UnknownError: 404, RefusedError: 409, BusyError: 429, AbandonedError: 503}


class _Agents(Wanted):
    agents: Annotated[list[Text], Field(max_length=8)]  # as of the seats


def create_app(server: Server, address: Address) -> ASGIApp:
    """Returns the server's application, behind the guard."""
    app = FastAPI(title="linkzoo", docs_url=None, redoc_url=None, openapi_url=None)
    _report_errors(app)
    _add_choices(app, server, address)
    _add_records(app, server)
    add_tables(app, server)
    add_moves(app, server)
    add_outcomes(app, server)
    add_replays(app, server)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return Guard(app, address)


def _add_choices(app: FastAPI, server: Server, address: Address) -> None:
    @app.get("/api/catalogue")
    def choices() -> Json:
        shared = address.token is not None
        offered = catalogue(server.games, server.custom_agents)
        return {**offered, "address": address.url, "shared": shared}

    @app.get("/api/strength")
    def strength() -> Json:
        return cards(server.games)

    @app.get("/api/games/{name}/rules")
    def rules(name: str) -> Json:
        server.check_game(name)
        return rulebook(name)

    @app.post("/api/games/{name}/prepare")
    def prepare(name: str, wanted: _Agents) -> Json:
        server.check_game(name)
        game, found = get_game(name), {who for who in wanted.agents if who != HUMAN}
        agents = [read_agent(who, name, server.custom_agents) for who in sorted(found)]
        server.players.load((agent, game) for agent in agents)
        return {"ready": server.players.prepare(agents, game)}


def _add_records(app: FastAPI, server: Server) -> None:
    """Adds the routes of saved games."""

    @app.get("/api/records")
    def saved() -> Json:
        return {"records": list_saved(server.records)}

    @app.get("/api/records/{file}")
    def show(file: str) -> Json:
        path = find_saved(server.records, file)
        if any(table.file == file and table.secret for table in server.tables):
            raise RefusedError("the record holds what is hidden: it can be had at the end")
        return GameRecord.load(path).to_dict()

    @app.delete("/api/records/{file}")
    def delete(file: str) -> Json:
        find_saved(server.records, file).unlink()
        return {}


def _report_errors(app: FastAPI) -> None:
    """Makes each error one line of JSON without paths; a message may hold any characters."""

    def report(_: Request, error: Exception) -> JSONResponse:
        if isinstance(error, RequestValidationError):
            first = error.errors()[0]
            where = ".".join(map(str, first["loc"][1:]))
            status, message = 422, f"{where[:200]}: {first['msg']}"
        elif isinstance(error, HTTPException):
            status, message = error.status_code, str(error.detail)
        elif isinstance(error, OSError):
            status, message = 507, f"the file can't be used: {error.strerror}"
        else:
            status, message = _STATUSES.get(type(error), 400), str(error)
        line = without_paths(message)[:1000].encode(errors="replace").decode()
        return JSONResponse({"error": line}, status)

    kinds = (ValueError, OSError, RecursionError, RequestValidationError, HTTPException)
    for kind in (*kinds, *_STATUSES):
        app.add_exception_handler(kind, report)
