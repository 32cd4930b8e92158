"""The contract that every game fulfils: a record of integers and plain functions over it."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import Field as OptionField
from dataclasses import dataclass, field, fields
from functools import cached_property
from itertools import groupby
from math import prod
from struct import Struct
from types import ModuleType
from typing import Any, Literal, NamedTuple, get_args, get_origin

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import DTypeLike, NDArray

from linkzoo.engine.compiled import Record, specialise
from linkzoo.core.arguments import boolean, integer, mapping, shown

# Every record starts with these fields, widest first. `seat` is the seat to act, -1 when the game
# is over; `ply` counts the actions taken; `winners` has a bit per seat, set for all who won: at the
# end at least one, with the bits of all seats set for a draw.
HEADER: list[tuple[str, str]] = [
    ("seed", "u8"),
    ("winners", "u4"),
    ("ply", "i2"),
    ("seat", "i1"),
    ("num_players", "i1"),
]
_HEADER = Struct("=QIhbb")


class Field(NamedTuple):
    """A field of a record: its name, NumPy type and shape.

    `low` and `high` are inclusive bounds of every element in every position that the rules can be
    in; without them all numbers of the type are allowed.
    """

    name: str
    kind: str
    shape: tuple[int, ...] = ()
    low: int | None = None
    high: int | None = None


@dataclass(frozen=True)
class Options:
    """The option of every game, from which a game's own options derive.

    - `skip_forced`: a decision with one legal action is taken without asking.

    ValueError names a value that isn't of an option's type, if that is bool or a Literal.
    """

    skip_forced: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value, allowed = getattr(self, option.name), get_args(option.type)
            if option.type is bool:
                boolean(option.name, value)
            elif get_origin(option.type) is Literal and value not in allowed:
                raise ValueError(f"{option.name}: {shown(value)} is not one of {list(allowed)}")


SKIP_FORCED = Field("skip_forced", "i1", (), 0, 1)  # an option of every game


class QuickRecord(np.record):  # type: ignore[misc]  # np.record is final in the stubs alone
    """A record with quicker attributes than np.record's, which Python looks up before C does."""

    __getattribute__ = np.void.__getattribute__

    def __getattr__(self, name: str) -> Any:
        try:
            return np.void.__getitem__(self, name)
        except ValueError:
            raise AttributeError(f"a record of this game has no field {name!r}") from None


def record_dtype(fields: Sequence[Any]) -> np.dtype[Any]:
    """A game's record: the header, then its options' and own fields (`Field`s), widest first.

    Fields are aligned and no byte is left between or behind them, so that equal records have
    equal bytes.
    """
    ordered = sorted(
        [field[:3] for field in (SKIP_FORCED, *fields)],
        key=lambda field: -np.dtype(field[1]).itemsize,
    )
    packed = np.dtype([*HEADER, *ordered])
    padding = -packed.itemsize % np.dtype(HEADER[0][1]).itemsize
    if padding:
        ordered.append(("_padding", "i1", (padding,)))
    return np.dtype((QuickRecord, np.dtype([*HEADER, *ordered], align=True)))


class Bounds:
    """The bounds of a record's fields, checked over whole arrays of records."""

    def __init__(self, state: np.dtype[Any], fields: Sequence[Field]) -> None:
        low, high = np.zeros(1, state), np.zeros(1, state)  # padding is 0
        declared = {field.name: field for field in (SKIP_FORCED, *fields)}
        self._starts: dict[int, str] = {}  # fields by their first byte
        for name in set(state.names or ()) - {"_padding"}:
            info = np.iinfo(state[name].base)
            field = declared.get(name, Field(name, ""))
            low[name] = info.min if field.low is None else field.low
            high[name] = info.max if field.high is None else field.high
        places = {name: int(state.fields[name][1]) for name in state.names or ()}  # type: ignore[index]  # a record has fields
        self._starts = {start: name for name, start in places.items()}
        # Runs of one type: where they lie, and their bounds.
        self._runs = []
        for kind, run in groupby(places, key=lambda name: state[name].base):
            names = list(run)
            where = slice(places[names[0]], places[names[-1]] + state[names[-1]].itemsize)
            least, most = (_bytes(bound)[:, where].view(kind) for bound in (low, high))
            if (least > np.iinfo(kind).min).any() or (most < np.iinfo(kind).max).any():
                self._runs.append((where, kind, least, most))

    def check(self, states: NDArray[Any]) -> None:
        """ValueError names a field of the records [N] that is out of its bounds."""
        raw = _bytes(states)
        for where, kind, low, high in self._runs:
            values = raw[:, where].view(kind)
            allowed = np.minimum(np.maximum(values, low), high)
            if allowed.tobytes() != values.tobytes():  # several times as fast as comparing twice
                row, place = np.argwhere(allowed != values)[0]
                start = max(s for s in self._starts if s <= where.start + place * kind.itemsize)
                integer(self._starts[start], values[row, place], low[0, place], high[0, place])


def _bytes(states: NDArray[Any]) -> NDArray[np.uint8]:
    """Records as bytes [N, size]."""
    return states.view(np.uint8).reshape(len(states), states.itemsize)


# What `Game.find_flaw` binds to a game's function.
flaw: Callable[..., str]


def _flaw_of_first(states: Any) -> Any:
    """What is wrong with the first of two equal records; the second is to work on."""
    return flaw(states[0], states[1])


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
            raise KeyError(f"no piece {shown(name)}; there are {[p.name for p in self.pieces]}")
        batch = observation.shape[: observation.ndim - len(self.shape)]
        flat = observation.reshape(*batch, self.size)
        return flat[..., self.slices()[name]].reshape(*batch, *piece.shape)


class Graph(NamedTuple):
    """How an observation lies on a graph: N cells that are told of alike, in G groups.

    Elements are numbers of the flat observation, -1 where a cell or a group has no such element.
    """

    cells: NDArray[np.int64]  # [N, C]: the elements that tell of each cell
    neighbours: NDArray[np.int64]  # [N, K]: of each cell by each kind of edge; -1: it has none
    group: NDArray[np.int64]  # [N]: of each cell
    groups: NDArray[np.int64]  # [G, D]: the elements that tell of each group


def write_options(state: Record, options: Any, fixed: Mapping[str, Any], digest: int = 0) -> None:
    """Sets a record's options: a number as it is, a Literal as the index of its value.

    Those in `fixed` are no fields of the record, which has the `digest` of what is compiled in;
    ValueError if one has another value.
    """
    if fixed:
        state["digest"] = digest
    for option in fields(options):
        value = getattr(options, option.name)
        if option.name in fixed:
            if value != fixed[option.name]:
                raise ValueError(
                    f"{option.name}: {shown(value)}, but this Game is made for "
                    f"{fixed[option.name]!r}; get_game with these options gives the other"
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


def _option_value(option: OptionField[Any], number: int) -> Any:
    if get_origin(option.type) is Literal:
        values = get_args(option.type)
        return values[integer(option.name, number, 0, len(values) - 1)]
    return bool(number) if option.type is bool else number


def each_for_itself(num_players: int) -> tuple[int, ...]:
    """Every seat is a side of its own."""
    return tuple(range(num_players))


_FUNCTIONS = (
    "new_game legal_actions apply observe payoffs scores margins redeal reveal appraise flaw "
    "action_to_text text_to_action action_parts to_dict from_dict draw_text draw_svg sides "
    "graph symmetries with_options"
).split()
_ESSENTIAL = (
    "name min_players max_players typical_length max_length fields num_actions observation "
    "new_game legal_actions apply observe action_to_text text_to_action draw_text"
).split()
_OF_HIDDEN = ("reveal", "redeal", "to_dict", "from_dict")


def _found_in(modules: Sequence[object]) -> dict[str, Any]:
    """The parts of a game that modules define, by their names in the contract."""
    found = {}
    for name in (part.name for part in fields(Game)):
        named = "Options" if name == "options" else name if name in _FUNCTIONS else name.upper()
        for module in modules:
            if hasattr(module, named):
                found[name] = getattr(module, named)
    return found


@dataclass(frozen=True)
class Game:
    """One game: declared facts, compiled rules over one record, and notation in plain Python.

    `Game.of` makes one of its modules, and derives what follows from the rest.

    Compiled functions (R a record, changed in place where its rules say so):

    - `new_game(R, seed)`: sets the game up; `num_players` and the options are set already
    - `legal_actions(R, mask)`: fills int8 `mask[num_actions]` with 0/1; zeros when over
    - `apply(R, action)`: plays a legal action and runs on until a seat has a choice, or the end
    - `observe(R, seat, out)`: fills the flat `out` with what `seat` may know
    - `payoffs(R, out)`: float32 per seat at the end, zero-sum
    - `scores(R, out)`, where a game has them: float32 per seat at any ply, whole numbers, those of
      seats of one side the same
    - `margins(R, out)`: float32 per seat at any ply: the own score less the mean of the other
      sides', on the scale of the rules, `score_scale` (`reward="score"` pays it at the end)
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

    `action_parts(R, action)`, where a game has it, names what a person points at to make a legal
    action, in order: at `draw_svg`'s elements whose `data-part` is such a name, or at a choice of
    words where the picture has none. No legal action's names, in whatever order, are all among
    another's.

    `fields` describes the fields of the record, the options' included, and `flaw(R, S)`, compiled,
    says what is wrong with a record within these bounds, or "": it may use S, a copy of R. Whatever
    passes both can be played to its end, observed, redealt, written and drawn; so positions from
    elsewhere do (`find_flaw`, `from_bytes`).

    `with_options(options)`, where options are `fixed`, is the Game that plays these options.

    `digest` identifies what the options in `fixed` name, whatever the name: 48 bits at most. It is
    the field `digest` of their records.

    `chance` says whether a game's seed decides anything, with any option.

    `sides(num_players)` is the side that each seat plays for: seats of one side share payoffs and
    win together. Sides that win together share the win; if all do, it is a draw.

    `typical_length` is the mean number of decisions of a random game, `max_length` a bound.

    `seat_names` are roles that belong to the seats, unless one of the options in `role_options`
    isn't the standard one.

    `uct_c` is the exploration constant of UCB1, on payoffs of -1..1, with which tree search with
    random rollouts plays the game best.

    `action_cells` (int64[num_actions]) is where an action lies on the board of an observation of
    planes [C, H, W], or on the graph: plane * cells + cell, with planes of the action's own; -1 for
    an action that lies nowhere. None for games with neither.

    `graph()`, where a game has one, is the Graph that its observation lies on.

    `solver` is the module of its exact solver, where a game has one (`linkzoo.core.solver`).

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
    graph: Callable[[], Graph] | None = None
    symmetries: Callable[[], tuple[NDArray[np.int64], ...]] | None = None
    seat_names: tuple[str, ...] = ()
    role_options: tuple[str, ...] = ()
    uct_c: float = 1.0  # what suits most of the games that it was tuned on
    hidden: ObservationSpec | None = None
    reveal: Callable[..., Any] | None = None
    appraise: Callable[..., Any] | None = None
    scores: Callable[..., Any] | None = None
    score_scale: int = 1
    solver: ModuleType | None = None
    chance: bool = True
    fixed: Mapping[str, Any] = field(default_factory=dict)
    digest: int = 0
    with_options: "Callable[[Mapping[str, Any]], Game] | None" = None
    fields: tuple[Field, ...] = ()
    flaw: Callable[..., Any] | None = None
    action_parts: Callable[[Record, int], tuple[str, ...]] | None = None

    @classmethod
    def of(cls, *modules: object, **facts: Any) -> "Game":
        """The game whose parts are in these modules (or other objects); `facts` are parts too.

        Functions have their names in the contract (`new_game`, …), constants have them in capitals
        (`NUM_ACTIONS`, `OBSERVATION`, `FIELDS`, `HIDDEN`, …), and the options are `Options`. What
        isn't there is derived: `state` from the fields; `payoffs` from winners and sides; `margins`
        from the scores, without them they are the payoffs; `draw_svg` shows the text; `flaw` asks
        for a legal action; `options` are `skip_forced` alone. Of a game that hides nothing,
        `to_dict` and `from_dict` show the fields, and if it has no chance either, `redeal` sets the
        seed. ValueError names what is missing.
        """
        from linkzoo.core import defaults as derived

        parts: dict[str, Any] = {"version": 1, "options": Options, **_found_in(modules)}
        parts |= facts
        missing = [name for name in _ESSENTIAL if name not in parts]
        if "hidden" in parts:
            missing += [name for name in _OF_HIDDEN if name not in parts]
        elif parts.get("chance", True) and "redeal" not in parts:
            missing += ["redeal (or chance=False)"]
        if missing:
            raise ValueError(f"a game without {', '.join(missing)}")
        return derived.complete(parts)

    @property
    def key(self) -> str:
        """Names this game, its `fixed` options included, in the names of compiled code."""
        return f"{self.name}_{self.apply.__name__}" if self.fixed else self.name

    def roles(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The roles that belong to the seats with these options; none if they are chosen in play.

        Options that aren't given are the standard ones.
        """
        standard = self.options()
        moved = (
            name in options and options[name] != getattr(standard, name)
            for name in self.role_options
        )
        return () if any(moved) else self.seat_names

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

    @property
    def id(self) -> str:
        """The name by which another process finds this game, too: `name`, or `module:name`."""
        from linkzoo.registry import id_of

        return id_of(self)

    def __reduce__(self) -> Any:
        from linkzoo.registry import get_game

        return get_game, (self.id, dict(self.fixed))

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
        options = {} if options is None else mapping("options", options)
        for name in options:
            if name not in names:
                raise ValueError(f"{self.name} has no option {shown(name)}; it has {names}")
        chosen = self.options(**options)
        record: Record = np.zeros(1, self.state)[0]
        record["num_players"] = players
        write_options(record, chosen, self.fixed, self.digest)
        return record

    def chosen_options(self, state: Record) -> dict[str, Any]:
        """The options of a record, as keyword arguments of `make`."""
        return read_options(state, self.options, self.fixed)

    def from_bytes(self, data: bytes) -> Record:
        """The record that `tobytes` wrote.

        ValueError names what is wrong: the length, a number out of its bounds, another board or
        table of cards, or fields that contradict one another.
        """
        if not isinstance(data, bytes | bytearray):
            raise ValueError(f"{shown(data)} is not a state as bytes")
        if len(data) != self.state.itemsize:
            raise ValueError(
                f"a state of {self.name} has {self.state.itemsize} bytes, not {len(data)}"
            )
        states = np.frombuffer(bytearray(data + data), self.state)
        if self.fixed and states["digest"][0] != self.digest:
            raise ValueError(
                f"these bytes are of another {' and '.join(self.fixed)} than {dict(self.fixed)}"
            )
        _, winners, ply, seat, num_players = _HEADER.unpack_from(data)
        players = integer("num_players", num_players, self.min_players, self.max_players)
        over = integer("seat", seat, -1, players - 1) < 0
        integer("ply", ply, 0, 2**15 - 1 - self.max_length)
        integer("winners", winners, int(over), (2**players - 1) * over)
        self._bounds.check(states[:1])
        wrong = "" if self._flaw is None else self._flaw(states)
        if wrong:
            raise ValueError(wrong)
        record: Record = np.frombuffer(bytearray(data), self.state)[0]
        return record

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.state, self.fields)

    @cached_property
    def _flaw(self) -> Callable[..., str] | None:
        return self.flaw and specialise(_flaw_of_first, self.key, flaw=self.flaw)
