"""The cards of Love Formula, read from a CSV table (section "Cards" of RULES.md) and checked."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import (
    agrees,
    boolean,
    check_keys,
    integer,
    mapping,
    parse_json,
    sequence,
    shown,
    string,
)
from linkzoo.core.data_files import DataFiles

STANDARD = "standard"  # the table of the package
_TABLE = Path(__file__).with_name("cards.csv")
TABLES = DataFiles(
    "cards",
    "table",
    Path(__file__).with_name("editions"),
    others={STANDARD: _TABLE},
    kinds="CSV or JSON",
)
SCHEMA = "love-formula/1"  # of an edition
_COLUMNS = (
    "id name type subtype priority copies requirements trigger target turns static on_resolve "
    "on_turn_start on_expire text provenance source note flags"
).split()

KINDS = ("preparation", "couple", "obstacle", "action", "reaction")
PREPARATION, COUPLE, OBSTACLE, ACTION, REACTION = range(5)
COUNTS = (57, 24, 18, 17, 8)  # cards of each kind (R1)
SUBTYPES = ("event", "location", "item")
_DURATIONS = ("instant", "lasting", "delayed", "permanent")
MIN_PLAYERS = 2
JOBS = 4  # copies of the card that every player gets (R2)

# R19: the triggers of reactions, each with its ops: a reaction has one of them.
TRIGGERS = {
    "OBSTACLE_ON_ME": ("CANCEL_EVENT", "REDIRECT_EVENT"),
    "OPP_ACTION": ("CANCEL_EVENT",),
    "MY_PREP_DISCARDED": ("RECOVER_EVENT_CARD",),
    "REACTION_PLAYED": ("CANCEL_EVENT",),
}
TARGETS = (
    "none opp_couple opp_couple_incomplete opp_prep_open opp_prep_takable swap_pair own_obstacle "
    "discard_prep_or_couple opp"
).split()
LISTS = ("on_resolve", "on_turn_start", "on_expire")
WHO = ("me", "each_opp", "target", "couple_controller")
CHOOSERS = ("self", "me", "random")

# The arguments of each op: a number `n` or `k`, a `who`, a `chooser`, or a fixed word.
OPS = {
    "DRAW": ("who", "n"),
    "LOOK_TOP": ("n", "k"),
    "DISCARD_HAND": ("who", "n", "chooser"),
    "LOOK_HAND": ("who",),
    "DISCARD_PREP": ("target",),
    "TAKE_PREP": ("target",),
    "SWAP_PREP": (),
    "DISCARD_OBSTACLE": ("target",),
    "RECOVER": ("target",),
    "SHIELD": ("me", "n"),
    "SELF_TO_HAND": (),
    "CHOOSE_DISCARD": ("couple_controller", "n", "affected_prep"),
    "PAY_TO_REMOVE": ("couple_controller", "n"),
    "DISCARD_AFFECTED_PREP": ("couple_controller", "n"),
    "RETURN_AFFECTED_PREP": ("couple_controller", "n"),
    "DISCARD_COUPLE_IF_INCOMPLETE": (),
    "CANCEL_EVENT": (),
    "REDIRECT_EVENT": (),
    "RECOVER_EVENT_CARD": (),
}

# The kinds of targets that ops on targets need.
_ON_TARGET: dict[str, tuple[str, ...]] = {
    "DISCARD_PREP": ("opp_prep_open", "opp_prep_takable"),
    "TAKE_PREP": ("opp_prep_open", "opp_prep_takable"),
    "SWAP_PREP": ("swap_pair",),
    "DISCARD_OBSTACLE": ("own_obstacle",),
    "RECOVER": ("discard_prep_or_couple",),
}
_TARGETS_OF = {
    OBSTACLE: ("opp_couple", "opp_couple_incomplete"),
    ACTION: tuple(name for name in TARGETS if not name.startswith("opp_couple")),
}
_STATICS = {
    "no_attach": bool,
    "priority_mod": int,
    "vp_halve": bool,
    "vp": int,
    "reveal_hand": bool,
}

# Bounds of the record.
MAX_TYPES = 64
MAX_LOOK = 5
MAX_OPS = 4
MAX_NUMBER = 20  # in an op
_MAX_PRIORITY = 9
_MAX_TURNS = 20
_MAX_POINTS = 9

# Allowed arguments of ops, in words.
_ALLOWED = {
    **dict.fromkeys(("n", "k"), f"1..{MAX_NUMBER}"),
    "who": ", ".join(WHO),
    "chooser": ", ".join(CHOOSERS),
}

Op = tuple[Any, ...]


@dataclass(frozen=True)
class Card:
    """A type of card. `kind` is an index into KINDS, `turns` -1 instant, 0 permanent, N timed."""

    name: str
    kind: int
    subtype: str
    priority: int
    copies: int
    requirements: tuple[str, ...]
    trigger: str
    target: str
    turns: int
    static: Mapping[str, Any] = field(hash=False)
    ops: tuple[tuple[Op, ...], ...]  # by LISTS
    text: str
    job: bool  # one for each player, never discarded


@dataclass(frozen=True)
class Course:
    """The course of a game (R3, R4, R7); without arguments the standard game's.

    Attributes:
        picks: The number of cards that a seat picks in a draft, or is dealt without drafts.
        drafted: Whether there are drafts.
        turns: The number of turns of a play phase.
        halves: The number of play phases, each with a draft before it.
        typical_length: The mean number of decisions in a random game.
    """

    picks: int = 12
    drafted: bool = True
    turns: int = 10
    halves: int = 2
    typical_length: int = 400


MAX_COURSE = Course()


@dataclass(frozen=True, eq=False)
class Cards:
    """A table of cards by type. `digest` is of the file."""

    cards: tuple[Card, ...]
    digest: str
    course: Course = Course()

    @property
    def max_players(self) -> int:
        """The largest number of players for whom the deck surely lasts in each deal (R4)."""
        course = self.course
        deck = sum(card.copies for card in self.cards if not card.job)
        played = course.turns * (course.halves - 1)  # by a seat, at most, before the last deal
        return min(JOBS, deck // (course.picks + played))

    def of_kind(self, kind: int) -> list[int]:
        """Returns the types of a kind, in order."""
        return [number for number, card in enumerate(self.cards) if card.kind == kind]


def load_cards(name: str) -> Cards:
    """Returns a table of the package, or the table in a CSV or JSON file as it is now.

    Raises:
        ValueError: Names the row or the field and its error.
    """
    return TABLES.parsed(name, _parse)


@cache
def _parse(text: str) -> Cards:
    if text.lstrip().startswith("{"):
        table = _TABLE.read_text(encoding="utf-8")
        return _read_edition(_json("cards", text), read_cards(table), _digest(text + table))
    return read_cards(text, _digest(text))


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _read_edition(data: Any, table: Cards, digest: str) -> Cards:
    """Returns the edition of JSON data: some cards of the standard table, in a shorter game.

    Raises:
        ValueError: Names the field and its error.
    """
    required = "schema name cards picks drafted turns halves typical_length"
    check_keys("cards", data, required.split(), ("note",))
    agrees("schema", data["schema"], SCHEMA)
    string("name", data["name"])
    course = Course(
        picks=integer("picks", data["picks"], 1, MAX_COURSE.picks),
        drafted=boolean("drafted", data["drafted"]),
        turns=integer("turns", data["turns"], 1, MAX_COURSE.turns),
        halves=integer("halves", data["halves"], 1, MAX_COURSE.halves),
        typical_length=integer("typical_length", data["typical_length"], 1, 2**12 - 1),
    )
    copies = dict(mapping("cards", data["cards"]))
    chosen = []
    for card in table.cards:
        if card.job:
            chosen.append(card)
        elif card.name in copies:
            count = integer(f"cards: {card.name}", copies.pop(card.name), 1, card.copies)
            chosen.append(replace(card, copies=count))
    _require(not copies, f"cards: there are no {shown(list(copies))}")
    _check_edition(chosen)
    edition = Cards(tuple(chosen), digest, course)
    _require(
        edition.max_players >= MIN_PLAYERS,
        f"cards: too few for {course.picks} picks of two seats in each half",
    )
    return edition


def _check_edition(cards: Collection[Card]) -> None:
    """Raises a ValueError if a kind is missing, or a preparation that a couple requires."""
    names = [card.name for card in cards]
    for number, kind in enumerate(KINDS):
        _require(any(card.kind == number for card in cards), f"cards: no {kind}")
    for card in cards:
        for name in card.requirements:
            _require(name in names, f"cards: {card.name}: requires {name!r}")


def _require(holds: bool, error: str) -> None:
    """Raises a ValueError with this text unless the condition holds."""
    if not holds:
        raise ValueError(error)


def read_cards(text: str, digest: str = "") -> Cards:
    """Returns the table of CSV text, separated by `,`, `;` or tabs like its first line.

    Raises:
        ValueError: Names the row and its error.
    """
    first_line = text.partition("\n")[0]
    separator = max(",;\t", key=first_line.count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    cards: list[Card] = []
    try:
        columns = list(reader.fieldnames or ())
        _require(
            columns == _COLUMNS,
            f"cards: columns {str(columns)[:300]}, not {_COLUMNS} between ',', ';' or tabs",
        )
        for number, row in enumerate(reader):
            try:
                cards.append(_read_card(number, row))
            except ValueError as error:
                raise ValueError(f"cards: row {number} ({row['name']}): {error}") from error
    except csv.Error as error:
        raise ValueError(f"cards: line {reader.line_num}: {error}") from error
    _check_table(cards)
    return Cards(tuple(cards), digest)


def _read_card(number: int, row: Mapping[str, str | None]) -> Card:
    _require(None not in row and None not in row.values(), f"not {len(_COLUMNS)} fields")
    data = {column: str(value) for column, value in row.items()}
    _require(data["id"] == str(number), f"id: {data['id']!r}, not {number}")
    kind = KINDS.index(_one_of("type", data["type"], KINDS))
    subtypes = {PREPARATION: SUBTYPES, OBSTACLE: _DURATIONS}.get(kind, ("",))
    job = _read_job(data["flags"])
    _require(kind != REACTION or not data["priority"], "priority: a reaction has none")
    card = Card(
        name=_read_name(kind, data["name"]),
        kind=kind,
        subtype=_one_of("subtype", data["subtype"], subtypes),
        priority=_read_priority(kind, data["priority"]),
        copies=_number("copies", data["copies"], 1, COUNTS[kind]),
        requirements=_listed(data["requirements"]),
        trigger=_one_of("trigger", data["trigger"], TRIGGERS if kind == REACTION else ("",)),
        target=_one_of("target", data["target"], _TARGETS_OF.get(kind, ("none",))),
        turns=_read_turns(kind, data["turns"]),
        static=_read_static(kind, data["static"]),
        ops=tuple(_read_ops(name, data[name]) for name in LISTS),
        text=data["text"],
        job=job,
    )
    is_job = card.kind == ACTION and card.copies == JOBS
    _require(not job or is_job, f"flags: one for each player, but not an action of {JOBS} copies")
    _check_ops(card)
    return card


def _listed(text: str) -> tuple[str, ...]:
    """Returns the entries of a cell, joined by `|`; empty ones don't count."""
    return tuple(entry for entry in text.split("|") if entry)


def _read_job(text: str) -> bool:
    """Returns whether the flags are those of the Part-time Job."""
    flags = set(_listed(text))
    _require(
        flags in (set(), {"one_per_player", "undiscardable"}),
        f"flags: {text!r} is neither empty nor 'one_per_player|undiscardable'",
    )
    return bool(flags)


def _read_name(kind: int, name: str) -> str:
    """Returns a name; in moves it stands between `/` and `#`, and a number is a seat."""
    plain = bool(name) and name == name.strip() and not set("/#\n") & set(name)
    _require(plain, f"name: {name!r} is empty, or has '/', '#', a line break or outer spaces")
    _require(kind != COUPLE or not name.isdigit(), f"name: {name!r} is a number")
    return name


def _read_priority(kind: int, text: str) -> int:
    if kind == REACTION:
        return 0
    return _number("priority", text, 0, _MAX_PRIORITY)


def _read_turns(kind: int, text: str) -> int:
    """Returns the turns of a card; only obstacles must have some, or -1 for instant ones."""
    if kind == OBSTACLE:
        return _number("turns", text, -1, _MAX_TURNS)
    return _number("turns", text or "0", 0, _MAX_TURNS)


def _read_ops(name: str, text: str) -> tuple[Op, ...]:
    listed = sequence(name, _json(name, text), 0, MAX_OPS)
    return tuple(_read_op(name, op) for op in listed)


def _one_of(name: str, value: str, allowed: Collection[str]) -> str:
    _require(value in allowed, f"{name}: {value!r} is not one of {list(allowed)}")
    return value


def _number(name: str, text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{name}: {text!r} is not an integer") from None
    return integer(name, number, low, high)


def _json(name: str, text: str) -> Any:
    try:
        return parse_json(text)
    except ValueError as error:
        raise ValueError(f"{name}: not valid JSON ({error})") from error


def _read_static(kind: int, text: str) -> dict[str, Any]:
    static: Any = _json("static", text)
    fits = isinstance(static, dict) and (kind == OBSTACLE or not static)
    _require(fits, f"static: {text} is not a JSON object, or not of an obstacle")
    for name, value in static.items():
        known = type(value) is _STATICS.get(name)
        _require(known, f"static: {name}: {value!r} is not one of {list(_STATICS)}")
        integer(f"static: {name}", int(value), -_MAX_POINTS, _MAX_POINTS)
    return dict(static)


def _read_op(name: str, op: Any) -> Op:
    known = isinstance(op, list) and bool(op) and isinstance(op[0], str) and op[0] in OPS
    _require(known, f"{name}: {op!r} is no op; there are {list(OPS)}")
    parameters = OPS[op[0]]
    arguments = op[1:]
    fits = len(arguments) == len(parameters) and all(map(_is_argument, parameters, arguments))
    described = ", ".join(map(_described, parameters)) or "nothing"
    _require(fits, f"{name}: {op!r} is not {op[0]} with {described}")
    looks_too_far = op[0] == "LOOK_TOP" and op[1] > MAX_LOOK
    _require(not looks_too_far, f"{name}: {op!r} looks at more than {MAX_LOOK} cards")
    return tuple(op)


def _described(parameter: str) -> str:
    """Returns a parameter of an op with its allowed arguments, for errors."""
    if parameter in _ALLOWED:
        return f"{parameter} ({_ALLOWED[parameter]})"
    return parameter


def _is_argument(parameter: str, value: Any) -> bool:
    if parameter in ("n", "k"):
        return type(value) is int and 1 <= value <= MAX_NUMBER
    if parameter == "who":
        return value in WHO
    if parameter == "chooser":
        return value in CHOOSERS
    return bool(value == parameter)


def _check_ops(card: Card) -> None:
    """Raises a ValueError if the card can't have one of its ops, or at least not there."""
    if card.kind == REACTION:
        allowed = TRIGGERS[card.trigger]
        on_resolve, *others = card.ops
        fits = len(on_resolve) == 1 and on_resolve[0][0] in allowed and not any(others)
        _require(fits, f"on_resolve: not one op out of {list(allowed)}")
        return
    for name, ops in zip(LISTS, card.ops, strict=True):
        fits = card.kind == OBSTACLE or (card.kind == ACTION and name == "on_resolve")
        _require(fits or not ops, f"{name}: has ops, but the card is a {KINDS[card.kind]}")
        for op in ops:
            _check_op(card, name, op)
    used = [op[0] for op in card.ops[0] if op[0] in _ON_TARGET]
    _require(len(used) < 2, f"on_resolve: {used} all work on the target")


def _check_op(card: Card, name: str, op: Op) -> None:
    of_reactions = op[0] in ("CANCEL_EVENT", "REDIRECT_EVENT", "RECOVER_EVENT_CARD")
    _require(not of_reactions, f"{name}: {op[0]} is for reactions")
    of_obstacles = op[0] == "DISCARD_COUPLE_IF_INCOMPLETE" or "couple_controller" in op
    fits = card.kind == OBSTACLE or not of_obstacles
    _require(fits, f"{name}: {list(op)} is for obstacles")
    fits = card.kind == ACTION or op[0] != "SELF_TO_HAND"
    _require(fits, f"{name}: {op[0]} is for actions")
    needed = _ON_TARGET.get(op[0])
    if needed is None and "target" in op:
        needed = ("opp",)
    if needed is not None:
        _require(card.target in needed, f"{name}: {list(op)} needs a target out of {list(needed)}")


def _check_table(cards: list[Card]) -> None:
    """R1, R2: raises a ValueError for wrong numbers of cards, or rows that don't fit together."""
    fits = len(cards) <= MAX_TYPES
    _require(fits, f"cards: row {MAX_TYPES}: {len(cards)} types, not {MAX_TYPES} at most")
    for kind, count in enumerate(COUNTS):
        held = sum(card.copies for card in cards if card.kind == kind)
        _require(held == count, f"cards: {held} cards of type {KINDS[kind]}, not {count}")
    names = Counter(card.name for card in cards)
    preparations = [card.name for card in cards if card.kind == PREPARATION]
    for number, card in enumerate(cards):
        row = f"cards: row {number} ({card.name})"
        needs = card.requirements
        _require(names[card.name] == 1, f"{row}: name: occurs {names[card.name]} times")
        if card.kind != COUPLE:
            _require(not needs, f"{row}: requirements: not a couple")
            continue
        _require(card.copies == 1, f"{row}: copies: {card.copies}, but a couple has 1")
        for name in needs:
            _require(name in preparations, f"{row}: requirements: no preparation {name!r}")
        fits = len(needs) == len(set(needs)) and len(needs) in (2, 3)
        _require(fits, f"{row}: requirements: not 2 or 3 different ones")
    jobs = [card.name for card in cards if card.job]
    _require(len(jobs) == 1, f"cards: one_per_player: {jobs}, not exactly one type")
