"""The cards of Love Formula, read from a CSV table (section "Cards" of RULES.md) and checked."""

import csv
import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from linkzoo.core.arguments import file_text

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

TRIGGERS = ("OBSTACLE_ON_ME", "OPP_ACTION", "MY_PREP_DISCARDED", "REACTION_PLAYED")  # R19
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
_OF_OBSTACLES = (
    "CHOOSE_DISCARD",
    "PAY_TO_REMOVE",
    "DISCARD_AFFECTED_PREP",
    "RETURN_AFFECTED_PREP",
    "DISCARD_COUPLE_IF_INCOMPLETE",
)
# The one op that a reaction may have, by its trigger.
_OF_REACTIONS = {
    "OBSTACLE_ON_ME": ("CANCEL_EVENT", "REDIRECT_EVENT"),
    "OPP_ACTION": ("CANCEL_EVENT",),
    "MY_PREP_DISCARDED": ("RECOVER_EVENT_CARD",),
    "REACTION_PLAYED": ("CANCEL_EVENT",),
}
_TARGETS_OF = {
    OBSTACLE: ("opp_couple", "opp_couple_incomplete"),
    ACTION: tuple(name for name in TARGETS if "couple" not in name or name.startswith("discard")),
}
_STATICS = {
    "no_attach": "bool",
    "priority_mod": "int",
    "vp_halve": "bool",
    "vp": "int",
    "reveal_hand": "bool",
}

# Bounds of the record.
MAX_TYPES = 64
MAX_LOOK = 5
MAX_OPS = 4
MAX_NUMBER = 20  # in an op
_MAX_PRIORITY = 9
_MAX_TURNS = 20
_MAX_POINTS = 9

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


@dataclass(frozen=True)
class Cards:
    """A table of cards by type. `digest` is of the file."""

    cards: tuple[Card, ...]
    digest: str

    def of_kind(self, kind: int) -> list[int]:
        """The types of a kind, in order."""
        return [number for number, card in enumerate(self.cards) if card.kind == kind]


@cache
def load_cards(name: str) -> Cards:
    """The table of the package, or that of a CSV file; each is read once.

    ValueError names the row and what is wrong with it.
    """
    text = file_text("cards", str(_SHIPPED) if name == STANDARD else name)
    if text is None:
        raise ValueError(
            f"cards: no table {name[:80]!r}; there is {STANDARD!r}, or give a CSV file"
        )
    return read_cards(text, hashlib.sha256(text.encode()).hexdigest()[:12])


def read_cards(text: str, digest: str = "") -> Cards:
    """The table of CSV text; ValueError names the row and what is wrong with it."""
    reader = csv.DictReader(text.splitlines())
    if list(reader.fieldnames or ()) != _COLUMNS:
        raise ValueError(f"cards: columns {str(reader.fieldnames)[:300]}, not {_COLUMNS}")
    found = []
    for number, row in enumerate(reader):
        try:
            found.append(_read_card(number, row))
        except ValueError as error:
            raise ValueError(f"cards: row {number} ({row['name']}): {error}") from error
    _check_table(found)
    return Cards(tuple(found), digest)


def _read_card(number: int, row: Mapping[str, str | None]) -> Card:
    if None in row.values() or None in row:
        raise ValueError(f"not {len(_COLUMNS)} fields")
    data = {name: str(value) for name, value in row.items()}
    if data["id"] != str(number):
        raise ValueError(f"id: {data['id']!r}, not {number}")
    kind = KINDS.index(_one_of("type", data["type"], KINDS))
    job = _read_flags(data["flags"])
    card = Card(
        name=_read_name(data["name"], kind),
        kind=kind,
        subtype=_read_subtype(kind, data["subtype"]),
        priority=_read_priority(kind, data["priority"]),
        copies=_number("copies", data["copies"], 1, COUNTS[kind]),
        requirements=tuple(filter(None, data["requirements"].split("|"))),
        trigger=_one_of("trigger", data["trigger"], TRIGGERS if kind == REACTION else ("",)),
        target=_one_of("target", data["target"], _TARGETS_OF.get(kind, ("none",))),
        turns=_read_turns(kind, data["turns"]),
        static=_read_static(kind, data["static"]),
        ops=tuple(_read_ops(name, data[name]) for name in LISTS),
        text=data["text"],
        job=job,
    )
    if job and (kind, card.copies) != (ACTION, JOBS):
        raise ValueError(f"flags: one for each player, but not an action of {JOBS} copies")
    _check_ops(card)
    return card


def _one_of(name: str, value: str, allowed: Any) -> str:
    if value not in allowed:
        raise ValueError(f"{name}: {value!r} is not one of {list(allowed)}")
    return value


def _number(name: str, text: str, low: int, high: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise ValueError(f"{name}: {text!r} is not an integer") from None
    if not low <= number <= high:
        raise ValueError(f"{name}: {number} is not in {low}..{high}")
    return number


def _read_name(name: str, kind: int) -> str:
    """Names stand in the notation between `/` and `#`; free slots begin with a seat's number."""
    if not name or name != name.strip() or "/" in name or "#" in name:
        raise ValueError(f"name: {name!r} is empty, or has '/', '#' or outer spaces")
    if kind == COUPLE and name.isdigit():
        raise ValueError(f"name: {name!r} is a number")
    return name


def _read_subtype(kind: int, subtype: str) -> str:
    if kind == PREPARATION:
        return _one_of("subtype", subtype, SUBTYPES)
    return _one_of("subtype", subtype, _DURATIONS if kind == OBSTACLE else ("",))


def _read_priority(kind: int, priority: str) -> int:
    if kind != REACTION:
        return _number("priority", priority, 0, _MAX_PRIORITY)
    _one_of("priority", priority, ("",))
    return 0


def _read_turns(kind: int, turns: str) -> int:
    if kind == OBSTACLE:
        return _number("turns", turns, -1, _MAX_TURNS)
    return _number("turns", turns, 0, _MAX_TURNS) if turns else 0


def _read_flags(text: str) -> bool:
    flags = set(filter(None, text.split("|")))
    if flags not in (set(), {"one_per_player", "undiscardable"}):
        raise ValueError(f"flags: {text!r} is neither empty nor 'one_per_player|undiscardable'")
    return bool(flags)


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{name}: not valid JSON ({error})") from error


def _read_static(kind: int, text: str) -> dict[str, Any]:
    static: Any = _json("static", text)
    if not isinstance(static, dict) or (static and kind != OBSTACLE):
        raise ValueError(f"static: {text} is not a JSON object, or not of an obstacle")
    for name, value in static.items():
        if type(value).__name__ != _STATICS.get(name):
            raise ValueError(f"static: {name}: {value!r} is not one of {list(_STATICS)}")
        if not -_MAX_POINTS <= value <= _MAX_POINTS:
            raise ValueError(f"static: {name}: {value} is not in -{_MAX_POINTS}..{_MAX_POINTS}")
    return static


def _read_ops(name: str, text: str) -> tuple[Op, ...]:
    ops = _json(name, text)
    if not isinstance(ops, list) or len(ops) > MAX_OPS:
        raise ValueError(f"{name}: {text} is no list of 0..{MAX_OPS} ops")
    return tuple(_read_op(name, op) for op in ops)


_ARGUMENTS: dict[str, Callable[[Any], bool]] = {
    "who": lambda value: value in WHO,
    "chooser": lambda value: value in CHOOSERS,
    "n": lambda value: type(value) is int and 1 <= value <= MAX_NUMBER,
    "k": lambda value: type(value) is int and 1 <= value <= MAX_NUMBER,
}


def _read_op(name: str, op: Any) -> Op:
    if not isinstance(op, list) or not op or op[0] not in OPS:
        raise ValueError(f"{name}: {op!r} is no op; there are {list(OPS)}")
    wanted = OPS[op[0]]
    if len(op) - 1 != len(wanted) or not all(
        _ARGUMENTS[want](value) if want in _ARGUMENTS else value == want
        for want, value in zip(wanted, op[1:], strict=True)
    ):
        raise ValueError(f"{name}: {op!r} is not {op[0]} with {list(wanted)}")
    if op[0] == "LOOK_TOP" and op[1] > MAX_LOOK:
        raise ValueError(f"{name}: {op!r} looks at more than {MAX_LOOK} cards")
    return tuple(op)


def _check_ops(card: Card) -> None:
    """Ops stand where they can work."""
    if card.kind == REACTION:
        allowed = _OF_REACTIONS[card.trigger]
        if [len(ops) for ops in card.ops] != [1, 0, 0] or card.ops[0][0][0] not in allowed:
            raise ValueError(f"on_resolve: not one op out of {list(allowed)}")
        return
    for name, ops in zip(LISTS, card.ops, strict=True):
        if ops and (card.kind < OBSTACLE or (card.kind == ACTION and name != "on_resolve")):
            raise ValueError(f"{name}: has ops, but the card is a {KINDS[card.kind]}")
        for op in ops:
            _check_op(card, name, op)
    used = [op[0] for op in card.ops[0] if op[0] in _ON_TARGET]
    if len(used) > 1:
        raise ValueError(f"on_resolve: {used} all work on the target")


def _check_op(card: Card, name: str, op: Op) -> None:
    if op[0] in ("CANCEL_EVENT", "REDIRECT_EVENT", "RECOVER_EVENT_CARD"):
        raise ValueError(f"{name}: {op[0]} is for reactions")
    if card.kind != OBSTACLE and (op[0] in _OF_OBSTACLES or "couple_controller" in op):
        raise ValueError(f"{name}: {list(op)} is for obstacles")
    if card.kind != ACTION and op[0] == "SELF_TO_HAND":
        raise ValueError(f"{name}: {op[0]} is for actions")
    needed = _ON_TARGET.get(op[0], ("opp",) if "target" in op else (card.target,))
    if card.target not in needed:
        raise ValueError(f"{name}: {list(op)} needs a target out of {list(needed)}")


def _check_table(cards: list[Card]) -> None:
    """R1, R2: the numbers of cards, and what holds between rows."""
    if len(cards) > MAX_TYPES:
        raise ValueError(f"cards: row {MAX_TYPES}: {len(cards)} types, not {MAX_TYPES} at most")
    for kind, count in zip(KINDS, COUNTS, strict=True):
        held = sum(card.copies for card in cards if KINDS[card.kind] == kind)
        if held != count:
            raise ValueError(f"cards: {held} cards of type {kind}, not {count}")
    names = Counter(card.name for card in cards)
    subtypes = {card.name: card.subtype for card in cards if card.kind == PREPARATION}
    for number, card in enumerate(cards):
        where = f"cards: row {number} ({card.name})"
        if names[card.name] > 1:
            raise ValueError(f"{where}: name: occurs {names[card.name]} times")
        if card.kind == COUPLE:
            _check_couple(where, card, subtypes)
        elif card.requirements:
            raise ValueError(f"{where}: requirements: not a couple")
    jobs = [card.name for card in cards if card.job]
    if len(jobs) != 1:
        raise ValueError(f"cards: one_per_player: {jobs}, not exactly one type")


def _check_couple(where: str, card: Card, subtypes: Mapping[str, str]) -> None:
    if card.copies != 1:
        raise ValueError(f"{where}: copies: {card.copies}, but a couple has 1")
    for name in card.requirements:
        if name not in subtypes:
            raise ValueError(f"{where}: requirements: no preparation {name!r}")
    if len(card.requirements) not in (2, 3) or len(set(card.requirements)) < len(card.requirements):
        raise ValueError(f"{where}: requirements: not 2 or 3 different ones")
