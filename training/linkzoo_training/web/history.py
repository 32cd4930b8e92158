"""The moves of a game in progress, as each viewer may know them."""

from collections.abc import Iterable
from typing import NamedTuple

from linkzoo import Game
from linkzoo.core.state import Record

Viewer = int | None  # a seat, or None for the referee


class Event(NamedTuple):
    """A move as a viewer knows it; without words it is hidden.

    Attributes:
        ply: The number of moves before it.
        seat: Who moved.
        words: A sentence about it.
        touched: The items of the drawing after it that it placed or changed.
    """

    ply: int
    seat: int
    words: str
    touched: tuple[str, ...]


class History:
    """The moves of a game, in words, for the referee and for the seats with people.

    Args:
        game: The game.
        seats: The seats that look.
    """

    def __init__(self, game: Game, seats: Iterable[int]) -> None:
        self._game = game
        self._events: dict[Viewer, list[Event]] = {
            viewer: [] for viewer in [None, *(seats if game.hides else [])]
        }

    def __len__(self) -> int:
        return len(self._events[None])

    def add(self, state: Record, action: int) -> None:
        """Adds a move that is played in `state`."""
        seat = int(state.seat)
        guide = self._game.guide
        for viewer, events in self._events.items():
            sentence = guide.event(state, action, viewer)
            touched = guide.touched(state, action, viewer) if sentence else ()
            events.append(Event(len(events), seat, sentence, touched))

    def cut(self, length: int) -> None:
        """Drops all moves but the first `length`."""
        for events in self._events.values():
            del events[length:]

    def seen(self, viewer: Viewer) -> list[Event]:
        """Returns the moves that a viewer knows of, the earliest first."""
        return [each for each in self._events[viewer if self._game.hides else None] if each.words]

    def last_of(self, seats: Iterable[int | None]) -> int | None:
        """Returns the ply of the last move of these seats; None if there is none."""
        own = set(seats)
        return next((e.ply for e in reversed(self._events[None]) if e.seat in own), None)
