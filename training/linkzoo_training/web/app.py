"""HTTP routes of the server; they answer with JSON."""

from pathlib import Path
from typing import Annotated

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.staticfiles import StaticFiles
from pydantic import Field, StrictBool, StrictInt
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp

from linkzoo import GameRecord, get_game
from linkzoo_training.web.catalogue import catalogue
from linkzoo_training.web.game_session import RefusedError, safe_options
from linkzoo_training.web.history_routes import add_history
from linkzoo_training.web.offers import read_agent
from linkzoo_training.web.players import HUMAN, AbandonedError, BusyError
from linkzoo_training.web.puzzles import puzzle_numbers, puzzle_view
from linkzoo_training.web.records import find_saved, list_saved
from linkzoo_training.web.replay_routes import add_replays
from linkzoo_training.web.rulebook import rule_pictures, rulebook
from linkzoo_training.web.safety import Address, Guard, without_paths
from linkzoo_training.web.server import Server, Text, Wanted
from linkzoo_training.web.session_routes import (
    HIDDEN_RECORD,
    add_moves,
    add_outcomes,
    add_sessions,
)
from linkzoo_training.web.session_store import UnknownError
from linkzoo_training.web.tutorials import head, step_view, tutorial_names
from linkzoo_training.web.views import Json, cards

STATIC = Path(__file__).with_name("static")
_STATUSES = {UnknownError: 404, RefusedError: 409, BusyError: 429, AbandonedError: 503}


class _Agents(Wanted):
    agents: Annotated[list[Text], Field(max_length=8)]  # `human` or an agent for each seat
    options: Annotated[dict[Text, StrictBool | StrictInt | Text], Field(default_factory=dict)]
    players: StrictInt | None = None  # None: as few as the game has


def create_app(server: Server, address: Address) -> ASGIApp:
    """Returns the server's application, behind the guard."""
    app = FastAPI(title="linkzoo", docs_url=None, redoc_url=None, openapi_url=None)
    _report_errors(app)
    _add_choices(app, server, address)
    _add_records(app, server)
    add_sessions(app, server)
    add_moves(app, server)
    add_outcomes(app, server)
    add_history(app, server)
    add_replays(app, server)
    app.mount("/", StaticFiles(directory=STATIC, html=True))
    return Guard(app, address)


def _add_choices(app: FastAPI, server: Server, address: Address) -> None:
    @app.get("/api/catalogue")
    def choices() -> Json:
        games = catalogue(server.games, server.custom_agents)
        return {**games, "address": address.url, "shared": address.token is not None}

    @app.get("/api/strength")
    def strength() -> Json:
        return cards(server.games)

    @app.get("/api/games/{name}/rules")
    def rules(name: str) -> Json:
        server.check_game(name)
        return rulebook(name)

    @app.get("/api/games/{name}/rules/pictures")
    def pictures(name: str) -> Json:
        server.check_game(name)
        with server.working(
            f"draws the rules of {get_game(name).title}, for which it plays a game"
        ):
            return {"pictures": rule_pictures(name)}

    @app.get("/api/tutorials")
    def tutorials() -> Json:
        names = tutorial_names(server.games)
        puzzles = puzzle_numbers(names)
        return {
            "games": [
                {
                    "name": name,
                    "title": get_game(name).title,
                    "puzzles": puzzles.get(name, 0),
                }
                for name in names
            ]
        }

    @app.get("/api/games/{name}/puzzles/{number}")
    def puzzle(name: str, number: int, *, tall: bool = False) -> Json:
        server.check_game(name)
        with server.working(f"solves a puzzle of {get_game(name).title}"):
            return puzzle_view(name, number, tall=tall)

    @app.get("/api/games/{name}/tutorial")
    def tutorial(name: str) -> Json:
        server.check_game(name)
        return head(name)

    @app.get("/api/games/{name}/tutorial/{step}")
    def tutorial_step(name: str, step: int, *, tall: bool = False) -> Json:
        server.check_game(name)
        with server.working(f"compiles {get_game(name).title}, at its first use"):
            return step_view(name, step, tall=tall)

    @app.get("/api/waiting")
    async def waiting() -> Json:
        return {"reasons": server.reasons()}

    @app.post("/api/games/{name}/prepare")
    def prepare(name: str, wanted: _Agents) -> Json:
        server.check_game(name)
        safe_options(get_game(name), wanted.options)
        game = get_game(name, wanted.options)
        players = wanted.players or game.min_players
        names = {player for player in wanted.agents if player != HUMAN}
        agents = [
            read_agent(agent, game, players, wanted.options, server.custom_agents)
            for agent in sorted(names)
        ]
        server.players.load((agent, game) for agent in agents)
        return {"ready": server.players.prepare(agents, game)}


def _add_records(app: FastAPI, server: Server) -> None:
    """Adds the routes of saved games."""

    @app.get("/api/records")
    def saved() -> Json:
        secret = {session.file for session in server.sessions if session.secret}
        return {"records": [row for row in list_saved(server.records) if row["file"] not in secret]}

    @app.get("/api/records/{file}")
    def show(file: str) -> Json:
        path = find_saved(server.records, file)
        if any(session.file == file and session.secret for session in server.sessions):
            raise RefusedError(HIDDEN_RECORD)
        return GameRecord.load(path).to_dict()

    @app.delete("/api/records/{file}")
    def delete(file: str) -> Json:
        find_saved(server.records, file).unlink()
        return {}


def _report_errors(app: FastAPI) -> None:
    """Makes each error one line of JSON without paths; a message may hold any characters."""

    def report(_: Request, error: Exception) -> JSONResponse:
        status, message = _status_and_message(error)
        line = without_paths(message)[:1000].encode(errors="replace").decode()
        return JSONResponse({"error": line}, status)

    kinds = (ValueError, OSError, RecursionError, RequestValidationError, HTTPException)
    for kind in (*kinds, *_STATUSES):
        app.add_exception_handler(kind, report)


def _status_and_message(error: Exception) -> tuple[int, str]:
    if isinstance(error, RequestValidationError):
        first = error.errors()[0]
        field = ".".join(map(str, first["loc"][1:]))
        return 422, f"{field[:200]}: {first['msg']}"
    if isinstance(error, HTTPException):
        return error.status_code, str(error.detail)
    if isinstance(error, OSError):
        return 507, f"the file can't be used: {error.strerror}"
    return _STATUSES.get(type(error), 400), str(error)
