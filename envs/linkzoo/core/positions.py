"""JSON positions: the common header, and the record's fields."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from linkzoo.core.arguments import agrees, check_keys, integer, sequence, shown
from linkzoo.core.options import Options, read_options, write_options, written_names
from linkzoo.core.protocols import ToDict
from linkzoo.core.state import Field, Record, field_bounds, record_dtype, winners_of

_RECENT = 16  # shared views of a game


@dataclass(frozen=True)
class JsonHeader:
    """Writes and reads the common header of JSON positions."""

    name: str  # of the game
    version: int
    options: type[Options]
    fields: Sequence[Field]  # of its records
    players: tuple[int, int]  # the smallest and the largest number
    max_length: int  # upper bound on the number of decisions
    fixed: Mapping[str, Any] = field(default_factory=dict)  # options that are compiled in
    digest: int = 0  # of the compiled-in data

    def write(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """Returns the header, up to the ply; with a `seat`, the seat's view without the seed."""
        data: dict[str, Any] = {
            "game": self.name,
            "version": self.version,
            "options": read_options(state, self.options, self.fixed, self.digest),
        }
        if seat is None:
            data["seed"] = int(state.seed)
        data["num_players"] = int(state.num_players)
        data["seat"] = or_none(state.seat)
        data["ply"] = int(state.ply)
        return data

    def read(
        self, data: Mapping[str, Any], required: Collection[str], optional: Collection[str] = ()
    ) -> Record:
        """Returns a record with the header and the ply; all other fields are 0.

        Args:
            data: The position; the seed defaults to 0.
            required: The required fields.
            optional: The optional fields.

        Raises:
            ValueError: The position is of another game, or a field is missing, unknown or invalid.
        """
        game = data.get("game", self.name)
        if not isinstance(game, str) or game != self.name:
            raise ValueError(f"game: this is a position of {shown(game)}, not of {self.name!r}")
        check_keys("position", data, required, optional)
        names = written_names(self.options, self.fixed, self.digest)
        check_keys("options", data["options"], names)
        state: Record = np.zeros(1, self._state)[0]
        chosen = self.options(**data["options"])
        for name in names:  # positions must name all options
            if name not in self.fixed:  # these may be paths, and are compared below
                agrees(f"options: {name}", data["options"][name], getattr(chosen, name))
        write_options(state, chosen, self.fields, self.fixed, self.digest)
        if "digest" in data:  # digest of the compiled-in data when written
            agrees("digest", data["digest"], f"{self.digest:012x}")
        state.num_players = integer("num_players", data["num_players"], *self.players)
        state.seed = np.uint64(integer("seed", data.get("seed", 0), 0, 2**64 - 1))
        # The record must still fit the rest of the game.
        state.ply = integer("ply", data["ply"], 0, 2**15 - 1 - self.max_length)
        return state

    @cached_property
    def _state(self) -> np.dtype[Any]:
        """The dtype of a record."""
        return record_dtype(self.fields)


class FieldsJson:
    """JSON positions: the record's fields by name; null where one is hidden from a seat."""

    def __init__(self, header: JsonHeader, fields: Sequence[Field]) -> None:
        self._header = header
        self._fields = {field.name: field for field in fields}

    def to_dict(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """Returns the position; with a `seat`, the seat's view without the seed."""
        values = {name: _shown(state, field, seat) for name, field in self._fields.items()}
        return {**self._header.write(state, seat), "winners": winners_of(state), **values}

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Parses the result of `to_dict`.

        Raises:
            ValueError: A field is invalid.
        """
        names = "game version options num_players seat ply winners".split()
        state = self._header.read(data, [*names, *self._fields], optional=("seed",))
        players = int(state.num_players)
        state.seat = none_or_integer("seat", data["seat"], 0, players - 1)
        state.winners = read_winners(data["winners"], players)
        for name, declared in self._fields.items():
            state[name] = _numbers(name, data[name], declared, declared.shape)
        return state


def _shown(state: Record, field: Field, seat: int | None) -> Any:
    """Returns a field as JSON data; with a `seat`, None in place of hidden values."""
    values = state[field.name].tolist()
    if seat is None or field.hidden is None:
        return values
    if field.hidden == "all":
        return None
    shown: list[Any] = [None] * len(values)
    shown[seat] = values[seat]
    return shown


class SharedViews:
    """Positions as JSON data for readers only: drawings and texts share the recent ones.

    Args:
        to_dict: Returns a view; its result follows from the record and the seat.
    """

    def __init__(self, to_dict: ToDict) -> None:
        self._to_dict = to_dict
        self._views: dict[tuple[bytes, int | None], dict[str, Any]] = {}

    def __call__(self, state: Record, seat: int | None = None) -> dict[str, Any]:
        """Returns the referee's view or a seat's view, which must not be changed."""
        key = state.tobytes(), seat
        view = self._views.get(key)
        if view is None:
            view = self._to_dict(state, seat)
            if len(self._views) >= _RECENT:
                self._views.clear()
            self._views[key] = view
        return view


def read_winners(value: Any, num_players: int) -> int:
    """Returns the bits of the seats from `winners_of`; ValueError if they are invalid."""
    seats = sequence("winners", value, 0, num_players)
    return sum({1 << integer("winners", seat, 0, num_players - 1) for seat in seats})


def or_none(number: Any) -> int | None:
    """Returns a record's number, None for -1."""
    if number == -1:
        return None
    return int(number)


def none_or_integer(name: str, value: Any, low: int, high: int) -> int:
    """Returns -1 for None, else an integer in low..high; ValueError names the field."""
    if value is None:
        return -1
    return integer(name, value, low, high)


def _numbers(name: str, value: Any, field: Field, shape: tuple[int, ...]) -> Any:
    """Returns the numbers of a field from nested lists; ValueError names the element."""
    if shape:
        items = sequence(name, value, shape[0], shape[0])
        return [_numbers(f"{name}[{i}]", item, field, shape[1:]) for i, item in enumerate(items)]
    low, high = field_bounds(field)
    return integer(name, value, low, high)
