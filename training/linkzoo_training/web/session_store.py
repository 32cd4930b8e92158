"""Objects of the server under unguessable ids; unused ones are dropped."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from linkzoo_training.web.players import BusyError

T = TypeVar("T")
WATCHING = -1  # the number of an id that only watches


class UnknownError(Exception):
    """The id is unknown or has expired."""


@dataclass
class _Entry(Generic[T]):
    item: T
    ids: tuple[str, ...]
    last_used: float
    watching: list[str] = field(default_factory=list)  # ids that keep nothing alive

    def number(self, name: str) -> int:
        """Returns the number of an id; WATCHING for one that only watches."""
        return self.ids.index(name) if name in self.ids else WATCHING


class SessionStore(Generic[T]):
    """Up to `most` objects, such as games in progress, each with one or more ids.

    Args:
        most: The limit.
        idle: Seconds without use after which an object is dropped.
        spare: Seconds without use after which a new object may replace it if the store is full.
        closed: Called with each dropped object.
    """

    def __init__(
        self, most: int, idle: float, spare: float, closed: Callable[[T], None] = lambda _: None
    ) -> None:
        self.most = most
        self.idle = idle
        self.spare = spare
        self._closed = closed
        self._lock = threading.RLock()
        self._entries: dict[str, _Entry[T]] = {}  # by the first id, least recently used first
        self._first_ids: dict[str, str] = {}  # by id: the first id of its entry

    def check_room(self) -> None:
        """Makes room for another object; BusyError if all are in use."""
        with self._lock:
            self._drop_idle()
            while len(self._entries) >= self.most:
                oldest = next(iter(self._entries.values()), None)
                if oldest is None or oldest.last_used > time.monotonic() - self.spare:
                    raise BusyError(f"{self.most} games are being played: try again in a while")
                self._drop(oldest)

    def add(self, item: T, count: int = 1) -> tuple[str, ...]:
        """Adds an object and returns its `count` ids; BusyError if there is no room."""
        ids = self.new_ids(count)
        self.restore(item, ids)
        return ids

    @staticmethod
    def new_ids(count: int) -> tuple[str, ...]:
        """Returns unguessable ids."""
        return tuple(secrets.token_urlsafe(18) for _ in range(count))

    def restore(self, item: T, ids: tuple[str, ...]) -> None:
        """Adds an object with ids that it has had; BusyError if there is no room."""
        with self._lock:
            self.check_room()
            self._entries[ids[0]] = _Entry(item, ids, time.monotonic())
            self._first_ids.update(dict.fromkeys(ids, ids[0]))

    def watch(self, name: str, watching: str) -> None:
        """Adds an id that only watches to the object of an id; nothing for an unknown one."""
        with self._lock:
            entry = self._entry(name)
            if entry is not None:
                entry.watching.append(watching)
                self._first_ids[watching] = entry.ids[0]

    def get(self, name: str) -> tuple[T, int]:
        """Returns the object of an id, and the id's number, or WATCHING.

        Raises:
            UnknownError: There is no such id.
        """
        with self._lock:
            self._drop_idle()
            entry = self._entry(name)
            if entry is None:
                raise UnknownError("no such game: it was closed, or not used for long")
            entry.last_used = time.monotonic()
            self._entries[entry.ids[0]] = self._entries.pop(entry.ids[0])
            return entry.item, entry.number(name)

    def peek(self, name: str) -> tuple[T, int] | None:
        """Returns the same as `get`, without counting as use; None for an unknown id."""
        with self._lock:
            entry = self._entry(name)
            if entry is None:
                return None
            return entry.item, entry.number(name)

    def close(self, name: str) -> None:
        """Forgets an id, and drops its object if that was the last id."""
        with self._lock:
            entry = self._entry(name)
            self._first_ids.pop(name, None)
            if entry is not None and not any(other in self._first_ids for other in entry.ids):
                self._drop(entry)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter([entry.item for entry in self._entries.values()])

    def _entry(self, name: str) -> _Entry[T] | None:
        return self._entries.get(self._first_ids.get(name, ""))

    def _drop_idle(self) -> None:
        since = time.monotonic() - self.idle
        for entry in [entry for entry in self._entries.values() if entry.last_used < since]:
            self._drop(entry)

    def _drop(self, entry: _Entry[T]) -> None:
        del self._entries[entry.ids[0]]
        for name in (*entry.ids, *entry.watching):
            self._first_ids.pop(name, None)
        self._closed(entry.item)
