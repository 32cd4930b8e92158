"""One rate limit for all requests of this process to a server's model."""

import time
from functools import cache
from threading import Lock


class RateLimit:
    """Spaces requests evenly.

    Args:
        per_minute: The largest number of requests in a minute.
    """

    def __init__(self, per_minute: float) -> None:
        self._pause = 60 / per_minute
        self._lock = Lock()
        self._next = 0.0  # the time of the next free slot

    def wait(self) -> None:
        """Returns when the next request may be sent."""
        with self._lock:
            now = time.monotonic()
            slot = max(self._next, now)
            self._next = slot + self._pause
        time.sleep(slot - now)


@cache
def shared_limit(base_url: str | None, model: str, per_minute: float) -> RateLimit:
    """Returns the rate limit of all agents that ask a model on a server."""
    del base_url, model  # they only tell limits apart
    return RateLimit(per_minute)
