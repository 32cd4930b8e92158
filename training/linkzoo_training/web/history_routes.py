"""Routes of the history: games on disk, their replays, and records to bring in."""

import time
from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import Body, FastAPI, Query

from linkzoo import GameRecord, get_game
from linkzoo.core.arguments import shown, string
from linkzoo.core.state import winners_of
from linkzoo.record import new_file_name
from linkzoo_training.web.game_session import RefusedError, safe_options
from linkzoo_training.web.game_store import StoredGame, player_names
from linkzoo_training.web.players import HUMAN
from linkzoo_training.web.replays import Replay
from linkzoo_training.web.server import Server, Text
from linkzoo_training.web.session_store import UnknownError
from linkzoo_training.web.views import Json

MOST_LISTED = 100  # links that a page asks for at once


def add_history(app: FastAPI, server: Server) -> None:
    """Adds the routes of games on disk; a page asks for those of the links that it knows."""

    @app.get("/api/history")
    def games(ids: Annotated[list[Text], Query(max_length=MOST_LISTED)]) -> Json:
        rows = [row for link in ids for row in _rows(server, link)]
        rows.sort(key=lambda row: -row["began"])
        return {"games": rows, "error": server.store.error}

    @app.get("/api/history/{link}/{file}")
    def record(link: str, file: str) -> Json:
        return record_of(_open_game(server, link, file)).to_dict()

    @app.post("/api/history/{link}/{file}/replay")
    def replay(link: str, file: str) -> Json:
        stored = _open_game(server, link, file)
        with server.working("replays a game"):
            opened = Replay(record_of(stored), people_of(stored))
        (name,) = server.replays.add(opened)
        return {"id": name}

    @app.post("/api/history")
    def bring_in(data: Annotated[dict[str, Any], Body()]) -> Json:
        stored = _read(server, data)
        (link,) = server.sessions.new_ids(1)
        server.store.add([link])
        server.store.put(link, stored)
        return {"id": link}


def record_of(stored: StoredGame) -> GameRecord:
    """Returns the record of a stored game, with the names of its players."""
    game = get_game(stored.game, stored.options)
    players = len(stored.seats)
    record = GameRecord.of(game, game.blank(players, stored.options))
    record.seed = stored.seed
    record.actions = list(stored.actions)
    record.comments = {int(index): text for index, text in stored.comments.items()}
    record.names = player_names(stored.players, stored.names)
    return record


def people_of(stored: StoredGame) -> list[int] | None:
    """Returns the seats of people; None in a game without people."""
    return [seat for seat, player in enumerate(stored.seats) if player == HUMAN] or None


def _rows(server: Server, link: str) -> list[Json]:
    """Returns the games of a link's session, as far as its viewer may know them."""
    stored = server.store.games(link)
    if not stored:
        return []
    number = server.store.number(link)
    return [_row(link, game, number, latest=game is stored[0]) for game in stored]


def _row(link: str, stored: StoredGame, number: int, *, latest: bool) -> Json:
    moves: int | None = None
    ended: float | None = None
    if stored.over:  # the number and the times of hidden moves can be secret before
        moves = len(stored.actions)
        ended = stored.changed
    return {
        "id": link,
        "file": stored.file,
        "title": get_game(stored.game).title,
        "seats": stored.players,
        "names": stored.names,
        "own_seat": stored.own_seat(number),
        "over": stored.over,
        "resigned": stored.resigned,
        "timed_out": stored.timed_out,
        "winners": stored.winners,
        "moves": moves,
        "began": stored.began,
        "ended": ended,
        "current": latest,
        "secret": _is_secret(stored),
    }


def _is_secret(stored: StoredGame) -> bool:
    """Returns whether a game's record holds information that is hidden from a person in it."""
    hides = get_game(stored.game, stored.options).hides
    return hides and not stored.over and HUMAN in stored.seats


def _open_game(server: Server, link: str, file: str) -> StoredGame:
    """Returns a game of a link's session.

    Raises:
        UnknownError: There is no such game.
        RefusedError: It holds hidden information.
    """
    for stored in server.store.games(link):
        if stored.file == file:
            if _is_secret(stored):
                raise RefusedError("the record holds hidden information until the end")
            return stored
    raise UnknownError("no such game in the history")


def _read(server: Server, data: Mapping[str, Any]) -> StoredGame:
    """Returns the game of a record, which people continue if it isn't over.

    Raises:
        ValueError: It is no record, or its game began with another position than the set-up.
    """
    name = string("game", data.get("game"))
    server.check_game(name)
    options = data.get("options")
    if isinstance(options, Mapping):
        safe_options(get_game(name), options)
    record = GameRecord.from_dict(data)
    if record.start is not None:
        raise ValueError(f"start: {shown(record.start)}, but a history has whole games only")
    *_, end = record.replay()
    names = record.names or [""] * record.num_players
    now = time.time()
    return StoredGame(
        file=new_file_name(record),
        game=name,
        seats=[HUMAN] * record.num_players,
        players=[HUMAN] * record.num_players,
        names=names,
        apart=False,
        options=record.options,
        seed=record.seed,
        actions=record.actions,
        comments={str(index): text for index, text in record.comments.items()},
        resigned=None,
        over=bool(end.seat < 0),
        winners=winners_of(end) if end.seat < 0 else [],
        began=now,
        changed=now,
    )
