"""Server-side sessions with unguessable ids; idle ones are dropped."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from linkzoo_training.web.players import BusyError

T = TypeVar("T")


class UnknownError(Exception):
    """The id is unknown or has expired."""


@dataclass
class _Session(Generic[T]):
    thing: T
    names: tuple[str, ...]  # all its ids
    used: float


class Sessions(Generic[T]):
    """Up to `most` sessions, each with one or more ids.

    Args:
        most: The limit.
        idle: Seconds without use after which a session is dropped.
        spare: Seconds without use after which a new one may take its place, if there is no room.
        closed: Called with what is dropped.
    """

    def __init__(
        self, most: int, idle: float, spare: float, closed: Callable[[T], None] = lambda _: None
    ) -> None:
        self.most, self.idle, self.spare, self._closed = most, idle, spare, closed
        self._lock = threading.RLock()
        self._held: dict[str, _Session[T]] = {}  # by the first id, least recently used first
        self._ids: dict[str, str] = {}  # all ids, with the first of their session

    def check_room(self) -> None:
        """Makes room for another session; BusyError if all are in use."""
        with self._lock:
            self._drop_idle()
            while len(self._held) >= self.most:
                first = next(iter(self._held.values()), None)
                if first is None or first.used > time.monotonic() - self.spare:
                    raise BusyError(f"{self.most} games are being played: try again in a while")
                self._drop(first)

    def add(self, thing: T, ids: int = 1) -> tuple[str, ...]:
        """Adds a session and returns its ids; BusyError if there is no room."""
        names = tuple(secrets.token_urlsafe(18) for _ in range(ids))
        with self._lock:
            self.check_room()
            self._held[names[0]] = _Session(thing, names, time.monotonic())
            self._ids.update(dict.fromkeys(names, names[0]))
        return names

    def get(self, name: str) -> tuple[T, int]:
        """Returns the session of an id, and which of its ids it is; UnknownError without one."""
        with self._lock:
            self._drop_idle()
            found = self._held.get(self._ids.get(name, ""))
            if found is None:
                raise UnknownError("no such game: it was closed, or not used for long")
            found.used = time.monotonic()
            self._held[found.names[0]] = self._held.pop(found.names[0])
            return found.thing, found.names.index(name)

    def peek(self, name: str) -> tuple[T, int] | None:
        """Returns what `get` does, without counting as use; None for an unknown id."""
        with self._lock:
            found = self._held.get(self._ids.get(name, ""))
            return None if found is None else (found.thing, found.names.index(name))

    def close(self, name: str) -> None:
        """Forgets an id, and drops its session if that was the last."""
        with self._lock:
            found = self._held.get(self._ids.pop(name, ""))
            if found is not None and not any(own in self._ids for own in found.names):
                self._drop(found)

    def __iter__(self) -> Iterator[T]:
        with self._lock:
            return iter([held.thing for held in self._held.values()])

    def _drop_idle(self) -> None:
        since = time.monotonic() - self.idle
        for held in [held for held in self._held.values() if held.used < since]:
            self._drop(held)

    def _drop(self, held: _Session[T]) -> None:
        del self._held[held.names[0]]
        for own in held.names:
            self._ids.pop(own, None)
        self._closed(held.thing)
