"""The cards of Love Formula, read from a CSV table (section "Cards" of RULES.md) and checked."""

import csv
import hashlib
import io
import os
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import file_text, integer, parse_json, sequence

STANDARD = "standard"  # the table of the package
_SHIPPED = Path(__file__).with_name("cards.csv")
_COLUMNS = (
    "id name type subtype priority copies requirements trigger target turns static on_resolve "
    "on_turn_start on_expire text provenance source note flags"
).split()

KINDS = ("preparation", "couple", "obstacle", "action", "reaction")
PREPARATION, COUPLE, OBSTACLE, ACTION, REACTION = range(5)
COUNTS = (57, 24, 18, 17, 8)  # cards of each kind (R1)
SUBTYPES = ("event", "location", "item")
_DURATIONS = ("instant", "lasting", "delayed", "permanent")
JOBS = 4  # copies of the card that every player gets (R2)

# R19: the triggers of reactions, each with the ops of which such a reaction has one.
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

# What the ops on a target work on; their cards must have such a target.
_ON_TARGET = {
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
    static: Mapping[str, Any]
    ops: tuple[tuple[Op, ...], ...]  # by LISTS
    text: str
    job: bool  # one for each player, never discarded


@dataclass(frozen=True, eq=False)
class Cards:
    """A table of cards by type. `digest` is of the file."""

    cards: tuple[Card, ...]
    digest: str

    def of_kind(self, kind: int) -> list[int]:
        """The types of a kind, in order."""
        return [number for number, card in enumerate(self.cards) if card.kind == kind]


def full_name(name: str) -> str:
    """The name of the table of the package, or the whole path of a file."""
    return name if name == STANDARD else os.path.abspath(name)  # noqa: PTH100  # takes any string


def load_cards(name: str) -> Cards:
    """The table of the package, or that of a CSV file as it is now.

    ValueError names the row and what is wrong with it.
    """
    text = file_text("cards", str(_SHIPPED) if name == STANDARD else name)
    if text is None:
        wrong = f"cards: no table {name[:80]!r}; there is {STANDARD!r}, or give a CSV file"
        raise ValueError(wrong)
    return _parse(text)


@cache
def _parse(text: str) -> Cards:
    return read_cards(text, hashlib.sha256(text.encode()).hexdigest()[:12])


def _require(holds: bool, wrong: str) -> None:
    """ValueError with what is wrong, unless something holds."""
    if not holds:
        raise ValueError(wrong)


def read_cards(text: str, digest: str = "") -> Cards:
    """The table of CSV text; ValueError names the row and what is wrong with it.

    Columns are separated by what separates those of the first line: `,`, `;` or a tab.
    """
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.DictReader(io.StringIO(text), delimiter=separator)
    found: list[Card] = []
    try:
        columns = list(reader.fieldnames or ())
        wrong = f"cards: columns {str(columns)[:300]}, not {_COLUMNS} between ',', ';' or tabs"
        _require(columns == _COLUMNS, wrong)
        for number, row in enumerate(reader):
            try:
                found.append(_read_card(number, row))
            except ValueError as error:
                raise ValueError(f"cards: row {number} ({row['name']}): {error}") from error
    except csv.Error as error:
        raise ValueError(f"cards: line {reader.line_num}: {error}") from error
    _check_table(found)
    return Cards(tuple(found), digest)


def _read_card(number: int, row: Mapping[str, str | None]) -> Card:
    _require(None not in row and None not in row.values(), f"not {len(_COLUMNS)} fields")
    data = {name: str(value) for name, value in row.items()}
    _require(data["id"] == str(number), f"id: {data['id']!r}, not {number}")
    kind = KINDS.index(_one_of("type", data["type"], KINDS))
    subtypes = {PREPARATION: SUBTYPES, OBSTACLE: _DURATIONS}.get(kind, ("",))
    flags = set(filter(None, data["flags"].split("|")))
    _require(
        flags in (set(), {"one_per_player", "undiscardable"}),
        f"flags: {data['flags']!r} is neither empty nor 'one_per_player|undiscardable'",
    )
    # Reactions have no priority; only obstacles stay for no time (-1).
    _require(kind != REACTION or not data["priority"], "priority: a reaction has none")
    turns = data["turns"] if kind == OBSTACLE else data["turns"] or "0"
    # Names stand in the notation between `/` and `#`; free slots begin with a seat's number.
    name = data["name"]
    plain = bool(name) and name == name.strip() and not set("/#\n") & set(name)
    _require(plain, f"name: {name!r} is empty, or has '/', '#', a line break or outer spaces")
    _require(kind != COUPLE or not name.isdigit(), f"name: {name!r} is a number")
    card = Card(
        name=name,
        kind=kind,
        subtype=_one_of("subtype", data["subtype"], subtypes),
        priority=0 if kind == REACTION else _number("priority", data["priority"], 0, _MAX_PRIORITY),
        copies=_number("copies", data["copies"], 1, COUNTS[kind]),
        requirements=tuple(filter(None, data["requirements"].split("|"))),
        trigger=_one_of("trigger", data["trigger"], TRIGGERS if kind == REACTION else ("",)),
        target=_one_of("target", data["target"], _TARGETS_OF.get(kind, ("none",))),
        turns=_number("turns", turns, -1 if kind == OBSTACLE else 0, _MAX_TURNS),
        static=_read_static(kind, data["static"]),
        ops=tuple(
            tuple(_read_op(each, op) for op in sequence(each, _json(each, data[each]), 0, MAX_OPS))
            for each in LISTS
        ),
        text=data["text"],
        job=bool(flags),
    )
    _require(
        not card.job or (kind, card.copies) == (ACTION, JOBS),
        f"flags: one for each player, but not an action of {JOBS} copies",
    )
    _check_ops(card)
    return card


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
    wanted = OPS[op[0]]
    fits = len(op) - 1 == len(wanted) and all(map(_is_argument, wanted, op[1:]))
    named = [f"{each} ({_ALLOWED[each]})" if each in _ALLOWED else each for each in wanted]
    _require(fits, f"{name}: {op!r} is not {op[0]} with {', '.join(named) or 'nothing'}")
    looks_too_far = op[0] == "LOOK_TOP" and op[1] > MAX_LOOK
    _require(not looks_too_far, f"{name}: {op!r} looks at more than {MAX_LOOK} cards")
    return tuple(op)


def _is_argument(wanted: str, value: Any) -> bool:
    if wanted in ("n", "k"):
        return type(value) is int and 1 <= value <= MAX_NUMBER
    return value in {"who": WHO, "chooser": CHOOSERS}.get(wanted, (wanted,))


def _check_ops(card: Card) -> None:
    """Ops stand where they can work."""
    if card.kind == REACTION:
        allowed, (first, *others) = TRIGGERS[card.trigger], card.ops
        fits = len(first) == 1 and first[0][0] in allowed and not any(others)
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
    needed = _ON_TARGET.get(op[0], ("opp",) if "target" in op else (card.target,))
    _require(card.target in needed, f"{name}: {list(op)} needs a target out of {list(needed)}")


def _check_table(cards: list[Card]) -> None:
    """R1, R2: the numbers of cards, and what holds between rows."""
    fits = len(cards) <= MAX_TYPES
    _require(fits, f"cards: row {MAX_TYPES}: {len(cards)} types, not {MAX_TYPES} at most")
    for kind, count in enumerate(COUNTS):
        held = sum(card.copies for card in cards if card.kind == kind)
        _require(held == count, f"cards: {held} cards of type {KINDS[kind]}, not {count}")
    names = Counter(card.name for card in cards)
    preparations = [card.name for card in cards if card.kind == PREPARATION]
    for number, card in enumerate(cards):
        where, needs = f"cards: row {number} ({card.name})", card.requirements
        _require(names[card.name] == 1, f"{where}: name: occurs {names[card.name]} times")
        if card.kind != COUPLE:
            _require(not needs, f"{where}: requirements: not a couple")
            continue
        _require(card.copies == 1, f"{where}: copies: {card.copies}, but a couple has 1")
        for name in needs:
            _require(name in preparations, f"{where}: requirements: no preparation {name!r}")
        fits = len(needs) == len(set(needs)) and len(needs) in (2, 3)
        _require(fits, f"{where}: requirements: not 2 or 3 different ones")
    jobs = [card.name for card in cards if card.job]
    _require(len(jobs) == 1, f"cards: one_per_player: {jobs}, not exactly one type")
