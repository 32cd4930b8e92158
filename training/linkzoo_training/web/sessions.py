"""What the server holds for pages, by ids that can't be guessed; idle ones are dropped."""

import secrets
import threading
import time
from typing import Generic, TypeVar

from linkzoo_training.web.players import BusyError

T = TypeVar("T")


class UnknownError(Exception):
    """There is nothing of that id, or no longer."""


class Sessions(Generic[T]):
    """Up to `most` things; one that nobody asks for in `idle` seconds may be dropped.

    With `crowding` a new one takes the place of the longest unused; otherwise it is refused.
    """

    def __init__(self, most: int, idle: float, *, crowding: bool = False) -> None:
        self.most, self.idle, self._crowding = most, idle, crowding
        self._lock = threading.Lock()
        self._held: dict[str, tuple[float, T]] = {}  # the longest unused first

    def __len__(self) -> int:
        return len(self._held)

    def check_room(self) -> None:
        """BusyError if there is no room for another."""
        with self._lock:
            self._drop_idle()
            while self._crowding and len(self._held) >= self.most:
                del self._held[next(iter(self._held))]
            if len(self._held) >= self.most:
                raise BusyError(f"there are {self.most} games already: close one, or try later")

    def add(self, thing: T) -> str:
        """The id of something new; BusyError if there is no room."""
        self.check_room()
        name = secrets.token_urlsafe(18)
        with self._lock:
            self._held[name] = (time.monotonic(), thing)
        return name

    def get(self, name: str) -> T:
        """What has this id; UnknownError if nothing has."""
        with self._lock:
            self._drop_idle()
            if name not in self._held:
                raise UnknownError("no such game: it was closed, or not used for long")
            thing = self._held.pop(name)[1]
            self._held[name] = (time.monotonic(), thing)
            return thing

    def close(self, name: str) -> None:
        """Drops what has this id, if anything has."""
        with self._lock:
            self._held.pop(name, None)

    def _drop_idle(self) -> None:
        since = time.monotonic() - self.idle
        for name in [name for name, (used, _) in self._held.items() if used < since]:
            del self._held[name]
