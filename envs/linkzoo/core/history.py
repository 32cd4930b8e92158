"""The past of a game, as far as each seat may know it."""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import integer
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record

T = TypeVar("T")


class Event(NamedTuple):
    """A move as a seat saw it.

    Attributes:
        seat: The seat that moved; None where that is secret.
        action: The action; None where the seat can't know it.
        words: A sentence or more about the move and its consequences, such as those of a log.
        observation: The observation of the seat that remembers, before the move, [*spec.shape]. Of
            its own moves this is what it decided on.
    """

    seat: int | None
    action: int | None
    words: str
    observation: NDArray[Any]


class History:
    """The moves of a game so far; events are computed when they are asked for.

    Equal in all worlds that a seat can't tell apart by what it has seen and done: moves of which it
    sees nothing are left out, since their number can be secret.

    Args:
        game: The game.
        start: The position in which the game began.
        actions: The actions of the game. They are read at each call of `events`: a list may grow,
            or lose moves that were taken back.
    """

    def __init__(self, game: Game, start: Record, actions: Iterable[int]) -> None:
        self._game = game
        self._actions = actions
        self._played: list[int] = []
        self._positions = [start.reshape(1).copy()]  # before each action, and after the last
        self._events: dict[int, list[Event | None]] = {}  # by seat; None is hidden
        self._lines: dict[int, list[str]] = {}  # by seat; "" is hidden

    def events(self, seat: int) -> list[Event]:
        """Returns the moves that a seat saw, the earliest first.

        Args:
            seat: The seat.

        Raises:
            ValueError: An action isn't legal, or there is no such seat.
        """
        events = self._seen_by(seat, self._events, self._event)
        return [event for event in events if event is not None]

    def lines(self, seat: int) -> list[str]:
        """Returns the moves that a seat saw in notation (`Guide.line`), the earliest first.

        Args:
            seat: The seat.

        Raises:
            ValueError: An action isn't legal, or there is no such seat.
        """
        return [line for line in self._seen_by(seat, self._lines, self._line) if line]

    def _seen_by(
        self, seat: int, known: dict[int, list[T]], make: Callable[[int, int], T]
    ) -> list[T]:
        """Returns the values of a seat for all moves, of which `known` keeps those made before.

        Args:
            seat: The seat.
            known: The values by seat.
            make: Makes the value of a move, given its index and the seat.
        """
        seat = integer("seat", seat, 0, int(self._positions[0]["num_players"][0]) - 1)
        self._follow()
        values = known.setdefault(seat, [])
        for index in range(len(values), len(self._played)):
            values.append(make(index, seat))
        return values

    def _follow(self) -> None:
        """Plays the new actions, without those that were taken back."""
        actions = [integer("action", action, 0, 2**31) for action in self._actions]
        kept = 0
        for played, action in zip(self._played, actions, strict=False):
            if played != action:
                break
            kept += 1
        del self._played[kept:], self._positions[kept + 1 :]
        for events in self._events.values():
            del events[kept:]
        for lines in self._lines.values():
            del lines[kept:]
        mask = np.empty((1, self._game.num_actions), np.int8)
        kernels(self._game).fill_masks.serial(self._positions[-1], mask)
        for action in actions[kept:]:
            if action >= self._game.num_actions or not mask[0, action]:
                raise ValueError(f"actions[{len(self._played)}]: {action} is not legal")
            states = self._positions[-1].copy()
            kernels(self._game).play_one(states, action, mask[0])
            self._positions.append(states)
            self._played.append(action)

    def _line(self, index: int, seat: int) -> str:
        """Returns a move in notation; "" if the seat saw nothing of it."""
        before: Record = self._positions[index][0]
        return self._game.guide.line(before, self._played[index], seat)

    def _event(self, index: int, seat: int) -> Event | None:
        """Returns a move as a seat saw it; None if it saw nothing of it."""
        states = self._positions[index]
        state: Record = states[0]
        action = self._played[index]
        guide = self._game.guide
        words = guide.event(state, action, seat)
        own = bool(state.seat == seat)
        if not words and not own:
            return None
        spec = self._game.observation.spec
        observation = np.empty(spec.shape, spec.dtype)
        kernels(self._game).observe_one(states, seat, observation)
        known = own or not guide.secret
        return Event(
            seat=seat_to_act(self._game, state, seat),
            action=action if known else None,
            words=words,
            observation=observation,
        )


def seat_to_act(game: Game, state: Record, viewer: int | None) -> int | None:
    """Returns the seat to act; None in a finished game, and where it is hidden from the viewer."""
    if state.seat < 0:
        return None
    if not game.hides or viewer in (None, state.seat):
        return int(state.seat)
    seat: int | None = game.to_dict(state, viewer).get("seat")
    return seat
