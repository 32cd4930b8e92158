"""The contract of a game: a record of integers and plain functions over it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from struct import Struct
from typing import Any, Protocol

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from linkzoo.core import defaults
from linkzoo.core.arguments import (
    agrees,
    integer,
    is_integer,
    json_object,
    mapping,
    shown,
)
from linkzoo.core.contract import Chance, Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.guide import Guide, GuideClass
from linkzoo.core.names import versioned_name
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.options import (
    Options,
    check_option_fields,
    full_options,
    option_names,
    read_options,
    write_options,
)
from linkzoo.core.positions import FieldsJson, JsonHeader
from linkzoo.core.protocols import Determinize, Draw, Heuristic, SeatValues, ToDict, Validate
from linkzoo.core.solver import ExactSolver
from linkzoo.core.state import Bounds, Field, Record, Records, record_dtype
from linkzoo.engine.compiled import compiled

_HEADER = Struct("=QIhbb")
MAX_PLAYERS = 32  # bits of `winners`
SPECTATOR = MAX_PLAYERS  # as a seat that nobody has: its views have public information only
_MAX_VERSION = 2**31 - 1


class WithOptions(Protocol):
    """Makes a game with other compiled-in options (`FixedOptions.with_options`)."""

    def __call__(self, options: Mapping[str, Any]) -> "Game":
        """Returns the game; ValueError if there is no such option or value."""


@dataclass(frozen=True, kw_only=True)
class FixedOptions:
    """Options that are compiled in, such as a board; others are fields of the record.

    Attributes:
        values: The values of these options in this game.
        digest: Digest of the values' content, at most 48 bits; stored in the records' field
            `digest`. 0: standard values, which neither records nor JSON name.
        with_options: Returns the game with other options.
    """

    values: Mapping[str, Any] = field(default_factory=dict)
    digest: int = 0
    with_options: "WithOptions | None" = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Game:
    """A game: facts, compiled rules over a record, and notation in plain Python.

    Parts that are None get defaults; the properties below return them in any case.

    Attributes:
        name: An identifier.
        version: The number in the environment's name, `linkage_v0`. Raised by any change to rules,
            observations or rewards.
        title: The display name.
        players: The smallest and the largest number of players.
        num_actions: The number of actions.
        fields: The record's fields: first the options, then the game's own.
        options: A frozen dataclass derived from `linkzoo.Options`. Its values are fields of the
            record (a `Literal` as the index of its value), except for the options in `fixed`.
        rules: The compiled rules.
        observation: Observations of a seat.
        notation: Moves as text, positions as JSON.
        drawing: Drawings for people.
        facts: Facts that can't be derived from the rules.
        fixed: Options that are compiled in.
        editions: The options of each small edition by its name, such as `{"board_size": 4,
            "threshold": 5}`. Editions are small enough to be solved exactly.
        guide_class: `linkzoo.Guide` or a class derived from it, which makes `guide`.
        solver: The exact solver.
        compatible_versions: Other versions whose files (cards, records, positions, data sets) this
            version reads unchanged.
        chance: How the rules draw, for exact trees. None: the game has no chance, or it can't be
            enumerated.

    Raises:
        TypeError: A part is missing.
        ValueError: Parts contradict one another.
    """

    name: str
    version: int
    title: str
    players: tuple[int, int]
    num_actions: int
    fields: tuple[Field, ...]
    rules: Rules
    observation: Observation
    notation: Notation
    drawing: Drawing
    facts: Facts
    options: type[Options] = Options
    fixed: FixedOptions = FixedOptions()
    editions: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    guide_class: GuideClass = Guide
    solver: ExactSolver | None = None
    compatible_versions: tuple[int, ...] = ()
    chance: Chance | None = None

    def __post_init__(self) -> None:
        facts = self.facts
        hides = self.hides
        if not self.name.isidentifier():
            raise ValueError(f"name: {shown(self.name)} is not an identifier")
        for number in (self.version, *self.compatible_versions):
            integer("version", number, 0, _MAX_VERSION)
        integer("players", self.players[0], 1, self.players[1])
        integer("players", self.players[1], 1, MAX_PLAYERS)
        integer("typical_length", facts.typical_length, 1, facts.max_length)
        if facts.playout_plies is not None:
            integer("playout_plies", facts.playout_plies, 1, 2**31 - 1)
        if (hides or facts.chance) and self.rules.determinize is None:
            raise ValueError(
                "determinize: a game with hidden information or chance needs one "
                "(Facts(chance=False) says that the seed decides nothing)"
            )
        if hides and self.notation.to_dict is None and not any(f.hidden for f in self.fields):
            raise ValueError(
                "fields: a game with hidden information says what a seat's JSON leaves out "
                "(Field(..., hidden='others') or 'all'), or has its own to_dict and from_dict"
            )
        if Options not in getattr(self.options, "__mro__", ()):
            raise ValueError(f"options: {shown(self.options)} doesn't derive from linkzoo.Options")
        self._check_fields()

    def _check_fields(self) -> None:
        """Raises ValueError if options, editions or chance name what isn't there."""
        declared = set(self.state.names or ())
        if self.chance is not None:
            for field_name in (self.chance.pile, self.chance.size):
                if field_name is not None and field_name not in declared:
                    raise ValueError(f"chance: {shown(field_name)} is no field")
        for option in option_names(self.options):
            if option not in declared | set(self.fixed.values):
                raise ValueError(f"fields: the option {option} is no field")
        check_option_fields(self.options, self.fields)
        for name, edition in self.editions.items():
            for option in mapping(f"editions: {name}", edition):
                if option not in option_names(self.options):
                    raise ValueError(f"editions: {name}: the game has no option {shown(option)}")
        if self.facts.balanced_options:
            self.blank(None, self.facts.balanced_options)  # raises for options that don't exist

    def __deepcopy__(self, memo: dict[int, Any]) -> "Game":
        return self

    def __str__(self) -> str:
        if not self.fixed.digest:
            return self.name
        fixed = ", ".join(f"{name}={value}" for name, value in self.fixed.values.items())
        return f"{self.name} ({fixed})"

    @property
    def key(self) -> tuple[str, int, int]:
        """Key of the rules; boards or card tables of equal content have equal keys."""
        return self.name, self.version, self.fixed.digest

    @property
    def versioned_name(self) -> str:
        """The environment's name, such as `linkage_v0`."""
        return versioned_name(self.name, self.version)

    @property
    def digest(self) -> str | None:
        """Digest of the compiled-in data, as positions and records hold it; None without such."""
        if not self.fixed.digest:
            return None
        return f"{self.fixed.digest:012x}"

    @property
    def min_players(self) -> int:
        """The smallest number of players."""
        return self.players[0]

    @property
    def max_players(self) -> int:
        """The largest number of players."""
        return self.players[1]

    @cached_property
    def state(self) -> np.dtype[Any]:
        """The dtype of a record."""
        return record_dtype(self.fields)

    @cached_property
    def payoffs(self) -> SeatValues:
        """Fills the payoffs of a finished game (compiled)."""
        return self.rules.payoffs or defaults.make_payoffs(self._first_seats)

    @cached_property
    def score_margins(self) -> SeatValues:
        """Fills the score margins, at any ply (compiled)."""
        if self.rules.score_margins is not None:
            return self.rules.score_margins
        if self.rules.scores is None:
            return self.payoffs
        return defaults.make_score_margins(
            self._first_seats, self.rules.scores, self.facts.score_scale
        )

    @property
    def determinize(self) -> Determinize:
        """Samples a world consistent with a seat's information (compiled)."""
        return self.rules.determinize or defaults.set_seed

    @cached_property
    def heuristic(self) -> Heuristic:
        """Rates an action for a seat (compiled)."""
        return self.rules.heuristic or defaults.make_heuristic(self.score_margins)

    @cached_property
    def validate(self) -> Validate:
        """Returns the error of a record within its bounds, or "" (compiled)."""
        return self.rules.validate or defaults.make_validate(
            self.num_actions, self.rules.legal_actions
        )

    @cached_property
    def to_dict(self) -> ToDict:
        """Returns the position as JSON data: the referee's view or a seat's view."""
        return self.notation.to_dict or self._json.to_dict

    @cached_property
    def draw_svg(self) -> Draw:
        """Returns the position as SVG: the referee's view or a seat's view."""
        return self.drawing.svg or defaults.make_svg(self.title, self.drawing.text)

    @property
    def hides(self) -> bool:
        """Whether anything is hidden from a seat."""
        return self.observation.privileged_spec is not None

    @cached_property
    def draw_page(self) -> Draw:
        """Returns the position as SVG for a page that shows the turn itself."""
        return self.drawing.page or self.draw_svg

    @cached_property
    def draw_tall(self) -> Draw:
        """Returns the position as SVG for a narrow screen, such as a phone."""
        return self.drawing.tall or self.draw_svg

    @cached_property
    def guide(self) -> Guide:
        """The game in words for people: prompts, a log, spoken moves, scores and rules."""
        secret = self.hides and not self.facts.open_moves
        return self.guide_class(self.notation, self.rules, self.num_actions, secret)

    def roles(self, options: Mapping[str, Any]) -> tuple[str, ...]:
        """Returns the roles of the seats under these options.

        Args:
            options: Options by name; standard values by default.

        Returns:
            A name per seat, or nothing if roles are chosen in play.
        """
        standard = self.options()
        for name in self.facts.role_options:
            if name in options and options[name] != getattr(standard, name):
                return ()
        return self.facts.seat_names

    def one_of_each_side(self, num_players: int) -> tuple[int, ...]:
        """Returns the first seat of every side, by side."""
        sides = self.facts.sides(num_players)
        return tuple(sides.index(side) for side in range(max(sides) + 1))

    def state_space(self) -> Box:
        """The space of full information: the flat observation, then the hidden information."""
        spec = self.observation.spec
        parts = spec.parts
        if self.observation.privileged_spec is not None:
            parts += self.observation.privileged_spec.parts
        return ObservationSpec(parts, dtype=spec.dtype).space()

    def blank(
        self, num_players: int | None = None, options: Mapping[str, Any] | None = None
    ) -> Record:
        """Returns a record with the number of players and the options set, before `new_game`.

        Args:
            num_players: The number of players; None for the smallest.
            options: Options by name; standard values by default, and the values that are compiled
                in.

        Raises:
            ValueError: The number of players, an option or its value is invalid.
        """
        players = self.min_players
        if num_players is not None:
            players = integer("num_players", num_players, players, self.max_players)
        options = mapping("options", {} if options is None else options)
        names = option_names(self.options)
        for name in options:
            if name not in names:
                raise ValueError(f"{self.name} has no option {shown(name)}; it has {names}")
        record: Record = np.zeros(1, self.state)[0]
        record["num_players"] = players
        chosen = self.options(**{**self.fixed.values, **options})
        write_options(record, chosen, self.fields, self.fixed.values, self.fixed.digest)
        return record

    def chosen_options(self, state: Record) -> dict[str, Any]:
        """Returns the options of a record as keyword arguments of `make`.

        Compiled-in standard data without a digest isn't named.
        """
        return read_options(state, self.options, self.fixed.values, self.fixed.digest)

    def check_version(self, version: object) -> None:
        """Raises ValueError unless this version reads the files of another, or it is the same."""
        readable = (self.version, *self.compatible_versions)
        if not is_integer(version) or int(version) not in readable:
            raise ValueError(
                f"version: this is version {self.version} of {self.name}, which reads files of "
                f"version {' or '.join(map(str, sorted(readable)))}, not of {shown(version)}"
            )

    def from_dict(self, data: Mapping[str, Any]) -> Record:
        """Parses and validates the result of `to_dict`.

        Args:
            data: The referee's view, or a seat's view where nothing is hidden (the seed is 0 then).

        Raises:
            ValueError: The position is of another game, or a field is missing, unknown, invalid or
                contradicts the others.
        """
        if "version" in json_object("position", data):
            self.check_version(data["version"])
        try:
            record = (self.notation.from_dict or self._json.from_dict)(data)
        except ValueError:
            raise
        except Exception as error:  # a game's own reader needn't check what it reads
            kind = type(error).__name__
            raise ValueError(f"this is no position of {self.name}: {kind}: {error}") from error
        checked = self.from_bytes(record.tobytes())
        for name, value in self.to_dict(checked).items():
            if name == "options":
                given = full_options(data[name], self.options, self.fixed.values, self.fixed.digest)
                agrees(name, given, value)
            elif name in data and name != "version":
                agrees(name, data[name], value, ordered=name not in self.notation.unordered)
        return checked

    def from_bytes(self, data: bytes) -> Record:
        """Parses and validates the result of `tobytes`.

        Raises:
            ValueError: The length is wrong, a number is out of bounds, the board or card table
                differs, or fields contradict one another.
        """
        if not isinstance(data, bytes | bytearray):
            raise ValueError(f"{shown(data)} is not a state as bytes")
        if len(data) != self.state.itemsize:
            raise ValueError(
                f"a state of {self.name} has {self.state.itemsize} bytes, not {len(data)}"
            )
        states = np.frombuffer(bytearray(data + data), self.state)
        fixed = self.fixed
        if fixed.digest and states["digest"][0] != fixed.digest:
            raise ValueError(
                f"these bytes are of another {' and '.join(fixed.values)} than {dict(fixed.values)}"
            )
        _, winners, ply, seat, num_players = _HEADER.unpack_from(data)
        players = integer("num_players", num_players, self.min_players, self.max_players)
        over = integer("seat", seat, -1, players - 1) < 0
        integer("ply", ply, 0, 2**15 - 1 - self.facts.max_length)
        integer("winners", winners, 0, 2**players - 1)
        if over != bool(winners):
            if over:
                raise ValueError("winners: nobody has won, but the game is over")
            raise ValueError("winners: somebody has won, but the game goes on")
        self._bounds.check(states[:1])
        error = self._validate_first(states)
        if error:
            raise ValueError(error)
        record: Record = np.frombuffer(bytearray(data), self.state)[0]
        return record

    @cached_property
    def _bounds(self) -> Bounds:
        return Bounds(self.state, self.fields)

    @cached_property
    def _validate_first(self) -> Callable[[Records], str]:
        validate = self.validate

        @compiled
        def validate_first(states: Records) -> str:  # the second is scratch space
            return validate(states[0], states[1])

        return validate_first

    @cached_property
    def _first_seats(self) -> NDArray[np.int64]:
        return defaults.first_seats(self.facts.sides, *self.players)

    @cached_property
    def _json(self) -> FieldsJson:
        header = JsonHeader(
            self.name,
            self.version,
            self.options,
            self.fields,
            self.players,
            self.facts.max_length,
            self.fixed.values,
            self.fixed.digest,
        )
        options = option_names(self.options)
        return FieldsJson(header, [field for field in self.fields if field.name not in options])
