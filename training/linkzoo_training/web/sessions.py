"""Server-side sessions with unguessable ids; idle ones are dropped."""

import secrets
import threading
import time
from typing import Generic, TypeVar

from linkzoo_training.web.players import BusyError

T = TypeVar("T")


class UnknownError(Exception):
    """The id is unknown or has expired."""


class Sessions(Generic[T]):
    """Up to `most` sessions; they may be dropped after `idle` seconds without use.

    If full, a new one replaces the least recently used with `crowding`, else it is refused.
    """

    def __init__(self, most: int, idle: float, *, crowding: bool = False) -> None:
        self.most, self.idle, self._crowding = most, idle, crowding
        self._lock = threading.Lock()
        self._held: dict[str, tuple[float, T]] = {}  # least recently used first

    def check_room(self) -> None:
        """Raises BusyError if there is no room for another session."""
        with self._lock:
            self._drop_idle()
            while len(self._held) >= self.most:
                if not self._crowding:
                    raise BusyError(f"there are {self.most} games already: close one, or try later")
                del self._held[next(iter(self._held))]

    def add(self, thing: T) -> str:
        """Adds a session and returns its id; BusyError if there is no room."""
        self.check_room()
        name = secrets.token_urlsafe(18)
        with self._lock:
            self._held[name] = (time.monotonic(), thing)
        return name

    def get(self, name: str) -> T:
        """Returns the session of an id; UnknownError if there is none."""
        with self._lock:
            self._drop_idle()
            if name not in self._held:
                raise UnknownError("no such game: it was closed, or not used for long")
            thing = self._held.pop(name)[1]
            self._held[name] = (time.monotonic(), thing)
            return thing

    def close(self, name: str) -> None:
        """Drops the session of an id, if it exists."""
        with self._lock:
            self._held.pop(name, None)

    def _drop_idle(self) -> None:
        since = time.monotonic() - self.idle
        for name in [name for name, (used, _) in self._held.items() if used < since]:
            del self._held[name]
