"""The clocks of a game's people: a budget for the game, and seconds added per move (Fischer)."""

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MOST_MINUTES = 180
MOST_INCREMENT = 180  # seconds


@dataclass(frozen=True)
class TimeControl:
    """The time of each person.

    Attributes:
        minutes: The budget for a game.
        increment: Seconds that each timed move adds.
    """

    minutes: float
    increment: int


class Clock:
    """The remaining time of people, of whom at most one runs out of it.

    The time is measured by the server's monotonic clock. Callers hold the lock of the session.

    Args:
        control: The time of each person.
        seats: The seats of people.
        ran_out: Called in a thread of its own with the seat whose time has run out.

    Attributes:
        control: The time of each person.
        running: The seat whose time runs, else None.
    """

    def __init__(
        self, control: TimeControl, seats: Sequence[int], ran_out: Callable[[int], None]
    ) -> None:
        self.control = control
        self.running: int | None = None
        self._left = dict.fromkeys(seats, 60.0 * control.minutes)
        self._ran_out = ran_out
        self._since = 0.0
        self._rewarded = 0  # moves; a move that replaces one of them adds no time
        self._timer: threading.Timer | None = None

    def left(self, seat: int) -> float:
        """Returns the remaining seconds of a seat."""
        left = self._left[seat]
        if seat == self.running:
            left -= time.monotonic() - self._since
        return max(left, 0.0)

    def run(self, seat: int) -> None:
        """Lets the time of a seat run."""
        self.stop()
        self.running = seat
        self._since = time.monotonic()
        self._timer = threading.Timer(self._left[seat], self._ran_out, [seat])
        self._timer.daemon = True
        self._timer.start()

    def stop(self) -> None:
        """Stops the time that runs."""
        if self._timer is not None:
            self._timer.cancel()
        if self.running is not None:
            self._left[self.running] = self.left(self.running)
            self.running = None

    def reward(self, ply: int) -> None:
        """Stops the time that runs, and adds the increment for the move after `ply` moves."""
        seat = self.running
        self.stop()
        if seat is not None and ply >= self._rewarded:
            self._left[seat] += self.control.increment
        self._rewarded = max(self._rewarded, ply + 1)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the control, the seconds left by seat, and the seat that runs."""
        left = {str(seat): round(self.left(seat), 2) for seat in self._left}
        return {**asdict(self.control), "left": left, "running": self.running}

    def restore(self, data: Mapping[str, Any], moves: int) -> None:
        """Takes the remaining time of a stored clock after a number of moves."""
        self._left = {int(seat): float(left) for seat, left in data["left"].items()}
        self._rewarded = moves
