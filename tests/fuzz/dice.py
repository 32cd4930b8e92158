"""What one mutant is made of: choices that its number decides, nasty values, and mutations."""

import copy
import hashlib
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")


class Dice:
    """All choices of one mutant, as a function of a key. `note` says what they led to."""

    def __init__(self, *key: object, note: Callable[[str], None] = lambda _: None) -> None:
        digest = hashlib.sha256(repr(key).encode()).digest()
        philox = np.random.Philox(key=int.from_bytes(digest[:16], "big"))
        self._generator = np.random.Generator(philox)
        self._note = note

    def note(self, text: str) -> None:
        """Tells the runner what this mutant is, in case that nobody lives to tell it later."""
        self._note(text)

    def below(self, bound: int) -> int:
        """A uniform integer in 0..bound-1."""
        return int(self._generator.integers(bound))

    def chance(self, share: float) -> bool:
        """True in this share of the mutants."""
        return bool(self._generator.random() < share)

    def pick(self, items: Sequence[T]) -> T:
        """One of the items."""
        return items[self.below(len(items))]

    def bytes(self, count: int) -> bytes:
        """Random bytes."""
        return self._generator.bytes(count)


def nested(depth: int) -> list[Any]:
    """A list in a list in a list, and so on."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


_DEEP = 3000  # deeper than Python recurses
_SIZES = (7, 8, 15, 16, 31, 32, 53, 63, 64)
INTEGERS: list[int] = [
    *(0, 1, -1, 2, -2, 3, 5, 7, 10, 49, 63, 64, 99, 100, 1000, 10**6, 10**30, -(10**30), 10**400),
    *(2**bits + step for bits in _SIZES for step in (-1, 0, 1)),
    *(-(2**bits) + step for bits in _SIZES for step in (-1, 0, 1)),
]
FLOATS: list[float] = [
    *(0.0, -0.0, 1.0, -1.0, 0.5, 1.5, 3.0, 1e-9, 5e-324, 1e9, 1e30, 1e308, -1e308),
    *(float("nan"), float("inf"), float("-inf")),
]
STRINGS: list[str] = [
    *("", " ", "\n", "0", "1", "-1", "1.0", "1e3", "null", "None", "true", "nan", "player_0"),
    *("player_-1", "linkage", "é", "\u0661", "\u00b2", "\uff11", "\x00", "\ud800", "\u202e"),
    *("x" * 300, "x" * 5000, ".", "..", "../..", "/", "/dev/null", "~", "a=b", "%s", "{0}", "[b]"),
]
# What JSON can hold, and what Python's json module reads besides (NaN).
JSON: list[Any] = [
    *(None, True, False, *INTEGERS, *FLOATS, *STRINGS, [], {}, [[]], [None], {"": None}),
    *([0] * 1000, {"a": {"b": []}}, nested(50)),
]
# What is no JSON at all: kinds of number, kinds of array, shapes, and the rest as functions, since
# somebody could change what they return.
_KINDS: list[Any] = [
    *(np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64),
    *(np.bool_, np.complex128, Decimal, Fraction, complex, bytes, bytearray),
    lambda number: np.timedelta64(number, "s"),
]
_ARRAYS = ["i1", "i8", "u8", "f4", "?", "O", "U1", "m8[s]"]
_SHAPES: list[Any] = [0, 1, 2, (1, 1), (0, 3)]
_OTHERS: list[Callable[[], Any]] = [
    lambda: np.float64("nan"),
    lambda: np.timedelta64("NaT", "s"),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.str_("1"),
    lambda: np.bytes_(b"1"),
    lambda: np.uint64(2**64 - 1),
    lambda: np.ma.masked,
    lambda: b"",
    lambda: memoryview(b"abc"),
    lambda: {1, 2},
    lambda: (0,),
    lambda: (),
    lambda: range(3),
    lambda: iter([1]),
    lambda: slice(None),
    lambda: ...,
    object,
    lambda: object,
    lambda: Dice,
]


def json_value(dice: Dice) -> Any:
    """A nasty value that a JSON file can hold."""
    return copy.deepcopy(dice.pick(JSON)) if dice.chance(0.9) else dice.below(2**40)


def any_value(dice: Dice) -> Any:
    """A nasty value of any type."""
    kind = dice.below(8)
    if kind < 2:
        return dice.pick(_KINDS)(dice.below(2))
    if kind == 2:
        return np.array(1, dice.pick(_ARRAYS))
    if kind == 3:
        return np.zeros(dice.pick(_SHAPES), dice.pick(_ARRAYS))
    if kind == 4:
        return dice.pick(_OTHERS)()
    return nested(_DEEP) if dice.chance(0.01) else json_value(dice)


def short(value: Any) -> str:
    """A value as text that fits a line."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        text = f"<{type(value).__name__} without repr>"
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"


# Text and bytes


def mutate_bytes(dice: Dice, data: bytes) -> bytes:
    """Changes a few bits, bytes or lengths."""
    changed = bytearray(data)
    for _ in range(1 + dice.below(3)):
        at, kind = dice.below(len(changed) + 1), dice.below(8)
        span = 1 + dice.below(min(16, len(changed) + 1))
        if kind == 0 and at < len(changed):
            changed[at] ^= 1 << dice.below(8)
        elif kind == 1:
            changed[at : at + 1] = dice.pick([b"\x00", b"\xff", b"\x7f", b"\x80", b"\x01"])
        elif kind == 2:
            changed[at : at + span] = dice.bytes(span)
        elif kind == 3:
            del changed[at:]
        elif kind == 4:
            del changed[at : at + span]
        elif kind == 5:
            changed[at:at] = dice.bytes(span)
        elif kind == 6:
            changed[at:at] = changed[at : at + span]
        else:
            other = dice.below(len(changed) + 1)
            changed[at : at + span] = changed[other : other + span]
    return bytes(changed)


_PIECES = [
    *("", " ", "\n", "\t", "-", "--", "0", "1", "9", "99", "a", "A", "z", ",", ":", ";", "=", "."),
    *(
        "[",
        "]",
        "{",
        "}",
        '"',
        "'",
        "\\",
        "/",
        "#",
        "&a",
        "*a",
        "!!python/name:os.system",
        "%",
        "@",
    ),
    *("~", "null", "NaN", "Infinity", "1e999", "true", "é", "\u0661", "\uff11", "\x00", "\ud800"),
    *("(", ")", "+", ">", "<", "|", "?", "!", "9" * 30, "9" * 5000, "[" * 3000, '{"a":' * 3000),
]


_WAYS: list[Callable[[str], str]] = [str.upper, str.lower, str.swapcase, str.strip, str.title]


def mutate_text(dice: Dice, text: str) -> str:
    """Changes, drops, doubles or inserts a few characters, words or lines."""
    for _ in range(1 + dice.below(3)):
        kind, at = dice.below(7), dice.below(len(text) + 1)
        span = 1 + dice.below(4)
        if kind == 0:
            text = text[:at] + dice.pick(_PIECES) + text[at:]
        elif kind == 1:
            text = text[:at] + dice.pick(_PIECES) + text[at + 1 :]
        elif kind == 2:
            text = text[:at] + text[at + span :]
        elif kind == 3:
            text = text[:at] if dice.chance(0.5) else text[at:]
        elif kind == 4:
            text = dice.pick(_WAYS)(text)
        else:
            parts = text.split(dice.pick([" ", "\n", ",", "-"]))
            one, two = dice.below(len(parts)), dice.below(len(parts))
            parts[one], parts[two] = parts[two], (parts[one] if kind == 5 else parts[two])
            text = " ".join(parts) if "\n" not in text else "\n".join(parts)
    return text


# Data as JSON holds it


def mutate_json(dice: Dice, data: Any, donor: Any = None) -> Any:
    """A changed copy of JSON data; `donor` is data of the same kind, whose parts it may get."""
    data = copy.deepcopy(data)
    for _ in range(1 if dice.chance(0.6) else 1 + dice.below(3)):
        data = _changed(dice, data, donor)
    if dice.chance(0.01) and isinstance(data, dict) and data:
        data[dice.pick(list(data))] = nested(_DEEP)
    return data


def _changed(dice: Dice, data: Any, donor: Any) -> Any:
    """Goes down a random path and changes what is there; returns what takes the place of `data`."""
    if isinstance(data, dict | list) and data and dice.chance(0.75 if _deep(data) else 0.5):
        keys = list(data) if isinstance(data, dict) else list(range(len(data)))
        key = dice.pick(keys)
        inside = isinstance(donor, dict) and key in donor
        inside |= isinstance(donor, list) and isinstance(key, int) and key < len(donor)
        data[key] = _changed(dice, data[key], donor[key] if inside else None)
        return data
    kind = dice.below(10)
    if isinstance(data, dict) and data:
        return _changed_dict(dice, data, donor, kind)
    if isinstance(data, list) and data:
        return _changed_list(dice, data, donor, kind)
    return _changed_scalar(dice, data, donor, kind)


def _deep(data: Any) -> bool:
    values = data.values() if isinstance(data, dict) else data
    return any(isinstance(value, dict | list) for value in values)


def _changed_dict(dice: Dice, data: dict[str, Any], donor: Any, kind: int) -> Any:
    one, two = dice.pick(list(data)), dice.pick(list(data))
    if kind < 3:
        data[one], data[two] = data[two], data[one]
    elif kind == 3:
        del data[one]
    elif kind == 4:
        data[dice.pick(STRINGS)] = json_value(dice)
    elif kind < 8 and isinstance(donor, dict) and donor:
        key = dice.pick(list(donor))
        data[key] = copy.deepcopy(donor[key])
    else:
        return json_value(dice)
    return data


def _changed_list(dice: Dice, data: list[Any], donor: Any, kind: int) -> Any:
    one, two = dice.below(len(data)), dice.below(len(data))
    if kind < 4:
        data[one], data[two] = data[two], data[one]
    elif kind == 4:
        del data[one]
    elif kind == 5:
        data.insert(one, copy.deepcopy(data[two]))
    elif kind == 6:
        data[one] = copy.deepcopy(data[two])
    elif kind == 7 and isinstance(donor, list):
        return copy.deepcopy(donor)
    elif kind == 8:
        data.insert(one, json_value(dice))
    else:
        return json_value(dice)
    return data


def _changed_scalar(dice: Dice, data: Any, donor: Any, kind: int) -> Any:
    if isinstance(data, bool) and kind < 5:
        return not data
    if isinstance(data, int) and not isinstance(data, bool) and kind < 6:
        return float(data) if kind == 5 and abs(data) < 2**53 else data + dice.pick([1, -1, 2, -2])
    if isinstance(data, str) and kind < 3:
        return mutate_text(dice, data)
    if donor is not None and kind < 8:
        return copy.deepcopy(donor)
    return json_value(dice)


def same(one: Any, other: Any) -> bool:
    """Whether JSON data are equal, types included: 1 is neither 1.0 nor True."""
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple) and isinstance(other, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and bool(one == other)


def leaves(data: Any) -> Iterator[Any]:
    """All numbers, texts, truth values and Nones in JSON data."""
    if isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:
            yield from leaves(value)
    else:
        yield data
