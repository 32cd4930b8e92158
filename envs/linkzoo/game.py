"""The contract that every game fulfils: a record of integers and plain functions over it."""

from collections.abc import Callable, Mapping
from dataclasses import Field, dataclass, field, fields
from math import prod
from typing import Any, Literal, get_args, get_origin

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import DTypeLike, NDArray

from linkzoo.compiled import Record
from linkzoo.fields import integer

# Every record starts with these fields, widest first. `seat` is the seat to act, -1 when the game
# is over; `ply` counts the actions taken; `winners` has a bit per seat.
HEADER: list[tuple[str, str]] = [
    ("seed", "u8"),
    ("winners", "u4"),
    ("ply", "i2"),
    ("seat", "i1"),
    ("num_players", "i1"),
]


def record_dtype(options: list[Any], fields: list[Any]) -> np.dtype[Any]:
    """A game's record: the header, then its options and own fields, widest first.

    Fields are aligned and no byte is left between or behind them, so that equal records have
    equal bytes.
    """
    ordered = sorted(
        [("skip_forced", "i1"), *options, *fields], key=lambda field: -np.dtype(field[1]).itemsize
    )
    packed = np.dtype([*HEADER, *ordered])
    padding = -packed.itemsize % np.dtype(HEADER[0][1]).itemsize
    if padding:
        ordered.append(("_padding", "i1", (padding,)))
    return np.dtype((np.record, np.dtype([*HEADER, *ordered], align=True)))


@dataclass(frozen=True)
class Piece:
    """A named piece of an observation.

    `low` and `high` are inclusive bounds of every element. A `broadcast` piece holds one number
    per leading index, repeated over the two board axes. The numbers of a `categorical` piece tell
    kinds apart; of others they are amounts.
    """

    name: str
    shape: tuple[int, ...]
    low: int
    high: int
    meaning: str
    broadcast: bool = False
    categorical: bool = False


@dataclass(frozen=True)
class ObservationSpec:
    """What a seat sees: named pieces laid one after the other in one array of integers."""

    pieces: tuple[Piece, ...]
    shape: tuple[int, ...]
    dtype: DTypeLike = np.int8

    def __post_init__(self) -> None:
        size = sum(prod(piece.shape) for piece in self.pieces)
        if size != prod(self.shape):
            raise ValueError(f"the pieces hold {size} numbers, the shape {self.shape}")

    @property
    def size(self) -> int:
        """The number of elements."""
        return prod(self.shape)

    def slices(self) -> dict[str, slice]:
        """Where each piece lies in the flattened observation."""
        found, start = {}, 0
        for piece in self.pieces:
            found[piece.name] = slice(start, start + prod(piece.shape))
            start += prod(piece.shape)
        return found

    def space(self) -> Box:
        """The gymnasium space, with each piece's true bounds."""
        low, high = np.empty(self.size, self.dtype), np.empty(self.size, self.dtype)
        for piece, where in zip(self.pieces, self.slices().values(), strict=True):
            low[where], high[where] = piece.low, piece.high
        return Box(low.reshape(self.shape), high.reshape(self.shape), dtype=self.dtype)  # type: ignore[arg-type]

    def view(self, observation: NDArray[Any], name: str) -> NDArray[Any]:
        """The piece `name` of one observation or of a batch (leading axes are kept)."""
        piece = next((piece for piece in self.pieces if piece.name == name), None)
        if piece is None:
            raise KeyError(f"no piece {name!r}; there are {[p.name for p in self.pieces]}")
        batch = observation.shape[: observation.ndim - len(self.shape)]
        flat = observation.reshape(*batch, self.size)
        return flat[..., self.slices()[name]].reshape(*batch, *piece.shape)


def write_options(state: Record, options: Any, fixed: Mapping[str, Any]) -> None:
    """Sets a record's options: a number as it is, a Literal as the index of its value.

    Those in `fixed` are no fields of the record; ValueError if one has another value.
    """
    for option in fields(options):
        value = getattr(options, option.name)
        if option.name in fixed:
            if value != fixed[option.name]:
                raise ValueError(
                    f"{option.name}: {value!r}, but this Game is made for {fixed[option.name]!r}; "
                    "get_game with these options gives the other"
                )
        elif get_origin(option.type) is Literal:
            state[option.name] = get_args(option.type).index(value)
        else:
            state[option.name] = value


def read_options(state: Record, options: Any, fixed: Mapping[str, Any]) -> dict[str, Any]:
    """The options that `write_options` set, by name; ValueError for an index without a value."""
    return {
        option.name: fixed[option.name]
        if option.name in fixed
        else _option_value(option, int(state[option.name]))
        for option in fields(options)
    }


def _option_value(option: Field[Any], number: int) -> Any:
    if get_origin(option.type) is Literal:
        values = get_args(option.type)
        return values[integer(option.name, number, 0, len(values) - 1)]
    return bool(number) if option.type is bool else number


def each_for_itself(num_players: int) -> tuple[int, ...]:
    """Every seat is a side of its own."""
    return tuple(range(num_players))


@dataclass(frozen=True)
class Game:
    """One game: declared facts, compiled rules over one record, and notation in plain Python.

    Compiled functions (R a record, changed in place where its rules say so):

    - `new_game(R, seed)`: sets the game up; `num_players` and the options are set already
    - `legal_actions(R, mask)`: fills int8 `mask[num_actions]` with 0/1; zeros when over
    - `apply(R, action)`: plays a legal action and runs on until a seat has a choice, or the end
    - `observe(R, seat, out)`: fills the flat `out` with what `seat` may know
    - `payoffs(R, out)`: float32 per seat at the end, zero-sum
    - `margins(R, out)`: float32 per seat at any ply: the margin on the scale of the rules
      (`reward="score"` pays it at the end)
    - `redeal(R, seat, seed)`: a fresh world that `seat` can't tell from this one, its future
      chance included
    - `reveal(R, seat, out)`, in games that hide something: fills the flat `out` with what `seat`
      can't see, the pieces of `hidden`, for a critic that sees everything in training
    - `appraise(before, after, seat)`, where a game has it: how good an action was for `seat`, by
      the positions before and after it; without it, the margin of `after`

    Python functions: `options` makes the validated options of the game (a frozen dataclass whose
    field names are fields of the record, a `Literal` as the index of its value; but those in
    `fixed` are compiled in, with this one value); `action_to_text(R, action)`,
    `text_to_action(R, text)`; `to_dict(R, seat=None)` (`None`: the referee's view),
    `from_dict(data)`; `draw_text(R, seat)`, `draw_svg(R, seat)`.

    `chance` says whether a game's seed decides anything, with any option.

    `sides(num_players)` is the side that each seat plays for: seats of one side share payoffs and
    win together. `typical_length` is the mean number of decisions of a random game, `max_length` a
    bound.

    `action_cells` (int64[num_actions]) is where an action lies on the board of an observation of
    planes [C, H, W]: plane * H * W + cell, with planes of the action's own; -1 for an action that
    lies nowhere. None for games without a board.

    `symmetries()`, where a game has them, gives index arrays (observations int64[S, size], actions
    int64[S, num_actions], hidden int64[S, hidden size]) of its standard options, the identity
    first: in the position that symmetry s makes, a seat sees `flat_observation[observations[s]]`,
    action a is `actions[s, a]`, and `reveal` gives `revealed[hidden[s]]`.
    """

    name: str
    title: str
    version: int
    min_players: int
    max_players: int
    typical_length: int
    max_length: int
    state: np.dtype[Any]
    num_actions: int
    observation: ObservationSpec
    options: Callable[..., Any]
    new_game: Callable[..., Any]
    legal_actions: Callable[..., Any]
    apply: Callable[..., Any]
    observe: Callable[..., Any]
    payoffs: Callable[..., Any]
    margins: Callable[..., Any]
    redeal: Callable[..., Any]
    action_to_text: Callable[[Record, int], str]
    text_to_action: Callable[[Record, str], int]
    to_dict: Callable[..., dict[str, Any]]
    from_dict: Callable[[Mapping[str, Any]], Record]
    draw_text: Callable[..., str]
    draw_svg: Callable[..., str]
    sides: Callable[[int], tuple[int, ...]] = each_for_itself
    action_cells: NDArray[np.int64] | None = None
    symmetries: Callable[[], tuple[NDArray[np.int64], ...]] | None = None
    seat_names: tuple[str, ...] = ()  # roles that belong to the seats in the standard options
    hidden: ObservationSpec | None = None
    reveal: Callable[..., Any] | None = None
    appraise: Callable[..., Any] | None = None
    chance: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)

    @property
    def key(self) -> str:
        """Names this game, its `fixed` options included, in the names of compiled code."""
        return f"{self.name}_{self.apply.__name__}" if self.fixed else self.name

    def one_of_each_side(self, num_players: int) -> tuple[int, ...]:
        """The first seat of every side, by side: as many as there are sides."""
        sides = self.sides(num_players)
        return tuple(sides.index(side) for side in range(max(sides) + 1))

    def state_space(self) -> Box:
        """The space of everything: the observation of a seat, flat, then what is hidden from it."""
        hidden = () if self.hidden is None else self.hidden.pieces
        pieces = (*self.observation.pieces, *hidden)
        size = sum(prod(piece.shape) for piece in pieces)
        return ObservationSpec(pieces, (size,), self.observation.dtype).space()

    def __reduce__(self) -> Any:
        from linkzoo.games import get_game

        return get_game, (self.name, dict(self.fixed))

    def __hash__(self) -> int:
        return hash((self.name, self.version, *self.fixed.values()))

    def blank(
        self, num_players: int | None = None, options: Mapping[str, Any] | None = None
    ) -> Record:
        """A record with the number of players and the options set, before `new_game`.

        Raises ValueError for a number of players or an option that the game doesn't have.
        """
        players = self.min_players
        if num_players is not None:
            players = integer("num_players", num_players, players, self.max_players)
        names = [field.name for field in fields(self.options)]  # type: ignore[arg-type]
        for name in options or {}:
            if name not in names:
                raise ValueError(f"{self.name} has no option {name!r}; it has {names}")
        chosen = self.options(**(options or {}))
        record: Record = np.zeros(1, self.state)[0]
        record["num_players"] = players
        write_options(record, chosen, self.fixed)
        return record

    def chosen_options(self, state: Record) -> dict[str, Any]:
        """The options of a record, as keyword arguments of `make`."""
        return read_options(state, self.options, self.fixed)

    def from_bytes(self, data: bytes) -> Record:
        """The record that `tobytes` wrote.

        ValueError if the length, the number of players, the seat or an option is wrong. The other
        fields are trusted: they cost too much to check here (`from_dict` checks everything).
        """
        if len(data) != self.state.itemsize:
            raise ValueError(
                f"a state of {self.name} has {self.state.itemsize} bytes, not {len(data)}"
            )
        record: Record = np.frombuffer(data, self.state).copy()[0]
        players = integer("num_players", record.num_players, self.min_players, self.max_players)
        integer("seat", record.seat, -1, players - 1)
        self.options(**self.chosen_options(record))
        return record
