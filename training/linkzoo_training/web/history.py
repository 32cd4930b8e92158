"""The moves of a game in words, limited to each viewer's information."""

from collections.abc import Iterable
from typing import NamedTuple

from linkzoo import Game
from linkzoo.core.history import seat_to_act
from linkzoo.core.state import Record

Viewer = int | None  # a seat, or None for the referee


class Event(NamedTuple):
    """A move from a viewer's perspective.

    Attributes:
        ply: The number of moves before it.
        seat: The seat that moved; None where that is hidden from the viewer.
        words: A sentence about it; "" if it is hidden from the viewer.
        touched: The items of the next drawing that the move placed or changed.
    """

    ply: int
    seat: int | None
    words: str
    touched: tuple[str, ...]


class History:
    """The moves of a game, in words, for the referee and for seats.

    Args:
        game: The game.
        seats: The seats with a view of their own, if the game hides information.
    """

    def __init__(self, game: Game, seats: Iterable[int]) -> None:
        self._game = game
        self._events: dict[Viewer, list[Event]] = {None: []}
        if game.hides:
            self._events |= {seat: [] for seat in seats}

    def __len__(self) -> int:
        return len(self._events[None])

    def add(self, state: Record, action: int) -> None:
        """Adds a move that is played in `state`."""
        guide = self._game.guide
        for viewer, events in self._events.items():
            touched: tuple[str, ...] = ()
            sentence = guide.event(state, action, viewer)
            if sentence:
                touched = guide.touched(state, action, viewer)
            seat = seat_to_act(self._game, state, viewer)
            events.append(Event(len(events), seat, sentence, touched))

    def cut(self, length: int) -> None:
        """Drops all moves but the first `length`."""
        for events in self._events.values():
            del events[length:]

    def seen(self, viewer: Viewer) -> list[Event]:
        """Returns the moves that aren't hidden from a viewer, the earliest first."""
        if not self._game.hides:
            viewer = None
        return [event for event in self._events[viewer] if event.words]

    def last_of(self, seats: Iterable[int | None]) -> int | None:
        """Returns the ply of the last move of these seats; None if there is none."""
        movers = set(seats)
        events = reversed(self._events[None])
        return next((event.ply for event in events if event.seat in movers), None)
