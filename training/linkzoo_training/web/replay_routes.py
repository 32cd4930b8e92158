"""Routes of opened records."""

import asyncio
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Body, FastAPI, Request

from linkzoo import GameRecord, get_game
from linkzoo.core.arguments import string
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.analysis import along, analyse
from linkzoo_training.web.game_session import safe_options
from linkzoo_training.web.offers import judges, read_agent, reporters
from linkzoo_training.web.players import Task
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.report import report
from linkzoo_training.web.server import AgentWanted, Server
from linkzoo_training.web.views import Json


def add_replays(app: FastAPI, server: Server) -> None:
    """Adds the routes of opened records."""

    @app.post("/api/replays")
    def open_record(data: Annotated[dict[str, Any], Body()]) -> Json:
        name = string("game", data.get("game"))
        server.check_game(name)
        options = data.get("options")
        if isinstance(options, Mapping):
            safe_options(get_game(name), options)
        with server.working("replays a record, for which it may compile the game"):
            replay = Replay(GameRecord.from_dict(data))
        (link,) = server.replays.add(replay)
        return {"id": link}

    @app.get("/api/replays/{name}")
    def head(name: str, seat: int | None = None) -> Json:
        replay, _ = server.replays.get(name)
        record = replay.record
        known = judges(replay.game, record.num_players, record.options, server.custom_agents)
        reports = bool(
            reporters(replay.game, record.num_players, record.options, server.custom_agents)
        )
        return {**replay.head(seat), "judges": known, "reports": reports}

    @app.get("/api/replays/{name}/{ply}")
    def position(name: str, ply: int, seat: int | None = None, *, tall: bool = False) -> Json:
        replay, _ = server.replays.get(name)
        return {**replay.words(ply, seat), "svg": replay.picture(ply, seat, tall=tall)}

    @app.post("/api/replays/{name}/{ply}/analysis")
    async def evaluate(name: str, ply: int, wanted: AgentWanted, request: Request) -> Json:
        replay, _ = server.replays.get(name)
        task = await asyncio.to_thread(_analyse, server, replay, ply, wanted.agent)
        return await server.finished(request, task)

    @app.post("/api/replays/{name}/values")
    async def values(name: str, wanted: AgentWanted, request: Request) -> Json:
        replay, _ = server.replays.get(name)
        spec = _read_agent(server, replay, wanted.agent)
        task = server.players.submit(spec, replay.game, along, replay.record)
        return await server.finished(request, task)

    @app.post("/api/replays/{name}/report")
    async def judge(name: str, request: Request) -> Json:
        replay, _ = server.replays.get(name)
        async with replay.reporting:  # one request writes the report, the others wait for it
            if replay.report is None:
                task = await asyncio.to_thread(_report, server, replay)
                replay.report = await server.finished(request, task)
        return replay.report


def _report(server: Server, replay: Replay) -> Task[Json]:
    """Submits the report on a game to the policy that judges best who wins."""
    record = replay.record
    names = reporters(replay.game, record.num_players, record.options, server.custom_agents)
    if not names:
        raise ValueError("no agent with values plays such games")
    seats = range(record.num_players) if replay.people is None else replay.people
    spec = _read_agent(server, replay, names[0])
    return server.players.submit(spec, replay.game, report, record, list(seats))


def _analyse(server: Server, replay: Replay, ply: int, agent: str) -> Task[Json]:
    game = replay.game
    state = replay.position(ply)
    spec = _read_agent(server, replay, agent)
    return server.players.submit(spec, game, analyse, game, state)


def _read_agent(server: Server, replay: Replay, agent: str) -> AgentSpec:
    record = replay.record
    players = record.num_players
    return read_agent(agent, replay.game, players, record.options, server.custom_agents)
