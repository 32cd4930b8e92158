"""The record of a game: one fixed-size NumPy record of integers, and the bounds of its fields."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import integer

Record = np.record  # one game; fields are attributes
Records = NDArray[Any]  # games [N], one record each
Mask = NDArray[np.int8]  # [num_actions], 1 for legal actions
Masks = NDArray[np.int8]  # [N, num_actions]
Actions = NDArray[np.int64]  # [N]
Seeds = NDArray[np.uint64]  # [N]
SeatFloats = NDArray[np.float32]  # [P] or [N, P], a number for each seat

# Header of every record, widest first. `seat` is the seat to act, -1 when the game is over; `ply`
# counts the actions taken; `winners` has a bit per seat that won: at the end at least one, all for
# a draw.
HEADER: list[tuple[str, str]] = [
    ("seed", "u8"),
    ("winners", "u4"),
    ("ply", "i2"),
    ("seat", "i1"),
    ("num_players", "i1"),
]
OVER = -1  # `seat` when the game is over


class Field(NamedTuple):
    """A field of a record.

    Attributes:
        name: An identifier; attributes of `np.record`, such as `round` or `size`, aren't allowed.
        dtype: The integer NumPy type, such as `"i1"` or `"u8"`.
        shape: The shape; `()` for a single number.
        low: The smallest value in any reachable position; None for the type's minimum. Fields used
            as an index or a count need both bounds.
        high: The largest value, inclusive.
        hidden: The part that the JSON of a seat's view leaves out: `"others"`, all elements but
            the seat's own in a field with an element per seat, or `"all"`. None: everything is
            shown.
    """

    name: str
    dtype: str
    shape: tuple[int, ...] = ()
    low: int | None = None
    high: int | None = None
    hidden: Literal["others", "all"] | None = None


SKIP_FORCED = Field("skip_forced", "i1", (), 0, 1)  # an option of every game


def field_bounds(field: Field) -> tuple[int, int]:
    """Returns the smallest and the largest value of a field, inclusive."""
    info = np.iinfo(field.dtype)
    low = int(info.min) if field.low is None else field.low
    high = int(info.max) if field.high is None else field.high
    return low, high


def winners_of(state: Record) -> list[int]:
    """Returns the seats that have won; none before the end."""
    return [seat for seat in range(int(state.num_players)) if int(state.winners) >> seat & 1]


class QuickRecord(np.record):  # type: ignore[misc]  # np.record is final in the stubs alone
    """A record with faster attribute access: np.record looks attributes up in Python first.

    With np.record, `Game.to_dict` takes 1.3 to 1.7 times as long.
    """

    __getattribute__ = np.void.__getattribute__

    def __getattr__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except ValueError:
            raise AttributeError(f"a record of this game has no field {name!r}") from None


def record_dtype(fields: Sequence[Field]) -> np.dtype[Any]:
    """Returns the dtype of a game's records: the header, then `fields`, widest first.

    Fields are aligned without padding, so equal records have equal bytes.

    Args:
        fields: The fields of the options and of the game itself.

    Raises:
        ValueError: A field isn't integer, a name occurs twice, a name is an attribute of
            `np.record`, or `hidden` isn't one of its values or needs an element per seat.
    """
    declared = [SKIP_FORCED, *fields]
    names = [name for name, _ in HEADER]
    for field in declared:
        if np.dtype(field.dtype).kind not in "iu":
            raise ValueError(f"field {field.name!r}: {field.dtype} is not an integer type")
        if hasattr(np.record, field.name):
            raise ValueError(f"field {field.name!r}: the name is an attribute of np.record")
        if field.name in names:
            raise ValueError(f"field {field.name!r} is declared twice")
        if field.hidden not in (None, "others", "all"):
            raise ValueError(f"field {field.name!r}: hidden is 'others' or 'all'")
        if field.hidden == "others" and not field.shape:
            raise ValueError(f"field {field.name!r}: hidden='others' needs an element per seat")
        names.append(field.name)
    declared.sort(key=lambda field: -np.dtype(field.dtype).itemsize)
    ordered = [field[:3] for field in declared]
    packed = np.dtype([*HEADER, *ordered])
    padding = -packed.itemsize % np.dtype(HEADER[0][1]).itemsize
    if padding:
        ordered.append(("_padding", "i1", (padding,)))
    return np.dtype((QuickRecord, np.dtype([*HEADER, *ordered], align=True)))


class Bounds:
    """Bounds of a record's fields, checked over arrays of records."""

    def __init__(self, state: np.dtype[Any], fields: Sequence[Field]) -> None:
        low = np.zeros(1, state)  # padding stays 0
        high = np.zeros(1, state)
        declared = {field.name: field for field in (SKIP_FORCED, *fields)}
        for name in set(state.names or ()) - {"_padding"}:
            field = declared.get(name, Field(name, state[name].base.str))
            low[name], high[name] = field_bounds(field)
        starts = {name: int(state.fields[name][1]) for name in state.names or ()}  # type: ignore[index]  # a record has fields
        self._fields = {start: name for name, start in starts.items()}  # fields by first byte
        # Runs of one dtype: their bytes and bounds.
        self._runs = []
        for kind, run in groupby(starts, key=lambda name: state[name].base):
            names = list(run)
            span = slice(starts[names[0]], starts[names[-1]] + state[names[-1]].itemsize)
            least, most = (_bytes(bound)[:, span].view(kind) for bound in (low, high))
            if (least > np.iinfo(kind).min).any() or (most < np.iinfo(kind).max).any():
                self._runs.append((span, kind, least, most))

    def check(self, states: Records) -> None:
        """Checks records [N].

        Raises:
            ValueError: A field is out of bounds; the message names it.
        """
        raw = _bytes(states)
        for span, kind, low, high in self._runs:
            values = raw[:, span].view(kind)
            allowed = np.minimum(np.maximum(values, low), high)
            if allowed.tobytes() != values.tobytes():  # several times as fast as two comparisons
                row, column = np.argwhere(allowed != values)[0]
                byte = span.start + column * kind.itemsize
                start = max(start for start in self._fields if start <= byte)
                integer(self._fields[start], values[row, column], low[0, column], high[0, column])


def _bytes(states: Records) -> NDArray[np.uint8]:
    """Returns records as bytes [N, size]."""
    return states.view(np.uint8).reshape(len(states), states.itemsize)
