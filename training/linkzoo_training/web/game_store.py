"""The server's games on disk: they survive leaving, reloading and restarts of the server."""

import json
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from linkzoo_training.web.players import HUMAN
from linkzoo_training.web.session_store import WATCHING

_SCHEMA = """
CREATE TABLE IF NOT EXISTS links (link TEXT PRIMARY KEY, first TEXT NOT NULL, number INTEGER);
CREATE TABLE IF NOT EXISTS games (
    file TEXT PRIMARY KEY, first TEXT NOT NULL, began REAL, changed REAL, data TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS games_of_a_session ON games (first, began);
"""


@dataclass
class StoredGame:
    """A game with everything that is needed to continue it.

    Attributes:
        file: The name of its file, unique.
        game: The name of the game.
        seats: `human` or an agent's name for each seat, as they were wanted.
        players: The agents' names as they are shown, by seat.
        names: People's names, by seat.
        apart: Whether each person has an own screen.
        options: Options of the game, as they were wanted.
        seed: The seed of the game.
        actions: The actions played.
        comments: Comments of the agents, by index of the action.
        resigned: The seat that gave up, else None.
        over: Whether the game is over.
        winners: The seats that have won.
        began: When it began, in seconds since 1970.
        changed: When it changed, in seconds since 1970.
        clock: The clocks of people (`Clock.to_dict`), else None.
    """

    file: str
    game: str
    seats: list[str]
    players: list[str]
    names: list[str]
    apart: bool
    options: dict[str, Any]
    seed: int
    actions: list[int]
    comments: dict[str, str]
    resigned: int | None
    over: bool
    winners: list[int]
    began: float
    changed: float
    clock: dict[str, Any] | None = None

    @property
    def timed_out(self) -> bool:
        """Whether the seat that gave up had no time left."""
        return self.clock is not None and self.clock["left"].get(str(self.resigned)) == 0

    def own_seat(self, number: int) -> int | None:
        """Returns the seat of a session's link; None for spectators and for a shared screen."""
        if number == WATCHING:
            return None
        people = [seat for seat, player in enumerate(self.seats) if player == HUMAN]
        if self.apart or len(people) == 1:
            return people[number]
        return None


def player_names(players: Sequence[str], names: Sequence[str]) -> list[str]:
    """Returns people's names, and the agents' names as they are shown, by seat."""
    pairs = zip(players, names, strict=True)
    return [name if player == HUMAN else player for player, name in pairs]


class GameStore:
    """Games by the links of their sessions, in an SQLite file; one connection writes it.

    A session has the same links for a game and its rematches.

    Args:
        file: The file; its folder exists.

    Attributes:
        error: Why the latest game couldn't be written, else "".
    """

    def __init__(self, file: Path) -> None:
        self.error = ""
        self._lock = threading.Lock()
        self._database = sqlite3.connect(file, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode=WAL")
        self._database.execute("PRAGMA synchronous=NORMAL")  # safe unless the machine stops
        self._database.executescript(_SCHEMA)

    def add(self, links: Iterable[str]) -> None:
        """Adds the links of a session."""
        links = list(links)
        rows = [(link, links[0], number) for number, link in enumerate(links)]
        self._write("INSERT INTO links VALUES (?, ?, ?)", rows)

    def watch(self, link: str) -> str:
        """Returns the link that watches the session of a link, "" if there is none."""
        first = self._first(link)
        if first is None:
            return ""
        rows = self._read("SELECT link FROM links WHERE number < 0 AND first = ?", first)
        return rows[0][0] if rows else ""

    def add_watch(self, link: str, watching: str) -> None:
        """Adds a link that watches the session of a link."""
        first = self._first(link)
        if first is not None:
            self._write("INSERT INTO links VALUES (?, ?, ?)", [(watching, first, WATCHING)])

    def put(self, first: str, game: StoredGame) -> None:
        """Writes a game of the session with a first link; it replaces its earlier state.

        A full disk ends no game: `error` says why.
        """
        row = (game.file, first, game.began, game.changed, json.dumps(asdict(game)))
        self._write("INSERT OR REPLACE INTO games VALUES (?, ?, ?, ?, ?)", [row])

    def remove(self, link: str) -> None:
        """Forgets a link, and the games of its session with the last link."""
        first = self._first(link)
        self._write("DELETE FROM links WHERE link = ?", [(link,)])
        players = "SELECT 1 FROM links WHERE first = ? AND number >= 0"
        if first is not None and not self._read(players, first):
            self._write("DELETE FROM games WHERE first = ?", [(first,)])
            self._write("DELETE FROM links WHERE first = ?", [(first,)])

    def links(self, link: str) -> list[str]:
        """Returns the players' links of a link's session, in order; none for an unknown link."""
        first = self._first(link)
        if first is None:
            return []
        rows = self._read(
            "SELECT link FROM links WHERE first = ? AND number >= 0 ORDER BY number", first
        )
        return [name for (name,) in rows]

    def number(self, link: str) -> int:
        """Returns the number of a known link among the links of its session, or WATCHING."""
        ((number,),) = self._read("SELECT number FROM links WHERE link = ?", link)
        return int(number)

    def games(self, link: str) -> list[StoredGame]:
        """Returns the games of a link's session, the latest first."""
        first = self._first(link)
        if first is None:
            return []
        rows = self._read("SELECT data FROM games WHERE first = ? ORDER BY began DESC", first)
        return [StoredGame(**json.loads(data)) for (data,) in rows]

    def close(self) -> None:
        """Closes the file; later changes are lost."""
        with self._lock:
            self._database.close()

    def _first(self, link: str) -> str | None:
        rows = self._read("SELECT first FROM links WHERE link = ?", link)
        return rows[0][0] if rows else None

    def _read(self, query: str, key: str) -> list[Any]:
        try:
            with self._lock, closing(self._database.execute(query, (key,))) as rows:
                return rows.fetchall()
        except sqlite3.ProgrammingError:  # the server ends, and the file is closed
            return []

    def _write(self, statement: str, rows: list[Any]) -> None:
        try:
            with self._lock, self._database:
                self._database.executemany(statement, rows)
            self.error = ""
        except sqlite3.Error as error:
            self.error = str(error)
