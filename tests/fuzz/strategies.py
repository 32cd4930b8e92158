"""Hypothesis strategies: values that nobody expects, and changed JSON data, text and bytes."""

import copy
import json
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from io import BytesIO, TextIOWrapper
from typing import Any

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

Draw = st.DrawFn

# Values


def nested(depth: int) -> list[Any]:
    """Returns a list in a list in a list, and so on."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


TOO_DEEP = 3000  # deeper than Python recurses
_EDGES = [
    *(2**bits + step for bits in (7, 8, 15, 16, 31, 32, 53, 63, 64) for step in (-1, 0, 1)),
    *(-(2**bits) - step for bits in (7, 15, 31, 63) for step in (0, 1)),
    *(-2, 2, 3, 5, 7, 10, 49, 63, 64, 99, 100, 1000, 10**6, 10**30, -(10**30), 10**400),
]
_FLOATS = [0.0, -0.0, 1.0, -1.0, 0.5, 1e-9, 5e-324, 1e9, 1e30, 1e308, -1e308]
_NOT_FINITE = [float("nan"), float("inf"), float("-inf")]
_TEXTS = [
    *("", " ", "\n", "0", "1", "-1", "1.0", "1e3", "null", "None", "true", "nan", "player_0"),
    *("player_-1", "é", "\u0661", "\u00b2", "\uff11", "\x00", "\ud800", "\u202e", "x" * 300),
    *("x" * 5000, ".", "..", "../..", "/", "/dev/null", "~", "a=b", "%s", "{0}", "[b]"),
]

_edges = st.sampled_from(_EDGES)
integers = st.sampled_from([-1, 0, 1]) | _edges | _edges | st.integers(0, 2**40)
floats = st.sampled_from([*_FLOATS, *_NOT_FINITE])
texts = st.sampled_from(_TEXTS)
# What a JSON file can hold, and what Python's json module reads besides (NaN).
_scalars = st.none() | st.booleans() | integers | floats | texts
_json_kinds = [
    *(st.none(), st.booleans(), integers, integers, integers, floats, texts, texts),
    st.lists(_scalars, max_size=2),
    st.dictionaries(texts, _scalars, max_size=2),
    st.builds(nested, st.just(50)),
    st.builds(lambda: [0] * 1000),
]
json_values = st.sampled_from(_json_kinds).flatmap(lambda kind: kind)
_number_types = [
    *(np.int8, np.uint8, np.int32, np.int64, np.uint64, np.float16, np.float32, np.float64),
    *(np.bool_, np.complex128, Decimal, Fraction, complex, bytes, bytearray),
]
_array_types = ["i1", "i8", "u8", "f4", "?", "O", "U1", "m8[s]"]
# Built anew for each example: a function may change its argument.
_others: list[Callable[[], Any]] = [
    *(
        lambda: np.float64("nan"),
        lambda: np.timedelta64("NaT", "s"),
        lambda: np.timedelta64(1, "s"),
    ),
    *(lambda: np.datetime64("2020-01-01"), lambda: np.str_("1"), lambda: np.bytes_(b"1")),
    *(lambda: np.uint64(2**64 - 1), lambda: np.ma.masked, lambda: b"", lambda: memoryview(b"abc")),
    *(lambda: {1, 2}, lambda: (0,), lambda: (), lambda: range(3), lambda: iter([1])),
    *(lambda: slice(None), lambda: ..., object, lambda: object, lambda: nested(TOO_DEEP)),
]
_numbers = st.builds(
    lambda kind, number: kind(number), st.sampled_from(_number_types), st.integers(0, 1)
)
_arrays = st.builds(
    np.zeros,
    arrays.array_shapes(min_dims=0, max_dims=2, min_side=0, max_side=3),
    st.sampled_from(_array_types),
) | st.sampled_from(_array_types).map(lambda kind: np.array(1, kind))
_other_values = st.sampled_from(_others).map(lambda make: make())
_kinds = [json_values, json_values, json_values, _numbers, _arrays, _other_values]
any_values = st.sampled_from(_kinds).flatmap(lambda kind: kind)


# JSON data


@st.composite
def changed_json(draw: Draw, data: Any, donor: Any = None) -> Any:
    """A copy of JSON data in which up to three values are changed, moved, dropped or added.

    Args:
        draw: Hypothesis' argument.
        data: The JSON data.
        donor: Data of the same kind; its values may replace those at the same place.
    """
    if draw(st.integers(0, 50)) == 50:
        return draw(json_values)
    if not isinstance(data, dict | list):
        return _near(draw, data)
    changed = copy.deepcopy(data)
    for _ in range(draw(st.sampled_from([1, 1, 2, 3]))):
        container, model = _container(draw, changed, donor)
        if isinstance(container, dict):
            _change_dict(draw, container, model)
        elif isinstance(container, list):
            _change_list(draw, container, model)
    return changed


def _container(draw: Draw, data: Any, donor: Any) -> tuple[Any, Any]:
    """Walks down from the top; returns a dict or list, and the donor's at the same place."""
    while True:
        keys = [key for key, value in _items(data) if isinstance(value, dict | list) and value]
        if not keys or draw(st.booleans()):
            return data, donor
        key = draw(st.sampled_from(keys))
        data = data[key]
        donor = dict(_items(donor)).get(key)


def _items(data: Any) -> list[tuple[Any, Any]]:
    """Returns the keys and values of a dict, or the indices and values of a list."""
    if isinstance(data, dict):
        return list(data.items())
    return list(enumerate(data)) if isinstance(data, list) else []


def _change_dict(draw: Draw, data: dict[str, Any], donor: Any) -> None:
    names = sorted(data)
    if not names:
        data[draw(texts)] = draw(json_values)
        return
    name, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    way = draw(st.sampled_from(["near", "near", "value", "value", "donor", "swap", "drop", "add"]))
    if way == "drop":
        del data[name]
    elif way == "add":
        data[draw(texts)] = draw(json_values)
    elif way == "swap":
        data[name], data[other] = data[other], data[name]
    elif way == "donor" and isinstance(donor, dict) and name in donor:
        data[name] = copy.deepcopy(donor[name])
    elif way == "near":
        data[name] = _near(draw, data[name])
    else:
        data[name] = draw(json_values)


def _change_list(draw: Draw, data: list[Any], donor: Any) -> None:
    if not data:
        data.append(draw(json_values))
        return
    index, other = draw(st.integers(0, len(data) - 1)), draw(st.integers(0, len(data) - 1))
    way = draw(
        st.sampled_from(["near", "near", "value", "donor", "swap", "copy", "double", "drop"])
    )
    if way == "drop":
        del data[index]
    elif way == "double":
        data.insert(index, copy.deepcopy(data[other]))
    elif way == "copy":
        data[index] = copy.deepcopy(data[other])
    elif way == "swap":
        data[index], data[other] = data[other], data[index]
    elif way == "donor" and isinstance(donor, list) and donor:
        data[:] = copy.deepcopy(donor)
    elif way == "near":
        data[index] = _near(draw, data[index])
    else:
        data[index] = draw(json_values)


def _near(draw: Draw, value: Any) -> Any:
    """Returns another number, truth value or text; a third of the numbers are nearby."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, int) and abs(value) < 2**53:
        nearby = st.sampled_from([value + 1, value - 1, value + 2, value - 2, float(value)])
        return draw(draw(st.sampled_from([nearby, integers, integers])))
    if isinstance(value, str):
        return draw(changed_text(value))
    return draw(json_values)


def same_json(data: Any, other: Any) -> bool:
    """Whether JSON data are equal, types included: 1 is neither 1.0 nor True."""
    if isinstance(data, dict) and isinstance(other, dict):
        return data.keys() == other.keys() and all(same_json(data[key], other[key]) for key in data)
    if isinstance(data, list | tuple) and isinstance(other, list | tuple):
        return len(data) == len(other) and all(map(same_json, data, other))
    return type(data) is type(other) and bool(data == other)


def json_text(data: Any) -> str:
    """Returns JSON data as text; opening brackets alone if they are too deep to be written."""
    try:
        return json.dumps(data, ensure_ascii=False)
    except RecursionError:
        return "[" * 100_000


def leaves(data: Any) -> Iterator[Any]:
    """Yields all numbers, texts, truth values and Nones in JSON data."""
    if isinstance(data, dict | list | tuple):
        for value in data.values() if isinstance(data, dict) else data:
            yield from leaves(value)
    else:
        yield data


# Text and bytes

_PIECES = [
    *("", " ", "\n", "\t", "-", "--", "0", "1", "9", "99", "a", "A", "z", ",", ":", ";", "=", "."),
    *("[", "]", "{", "}", '"', "'", "\\", "/", "#", "&a", "*a", "!!python/name:os.system", "%"),
    *("@", "~", "null", "NaN", "Infinity", "1e999", "true", "é", "\u0661", "\uff11", "\x00"),
    *("\ud800", "(", ")", "+", ">", "<", "|", "?", "!", "9" * 30, "9" * 5000, "[" * 3000),
    '{"a":' * 3000,
]
_CASES: list[Callable[[str], str]] = [str.upper, str.lower, str.swapcase, str.strip, str.title]


@st.composite
def changed_text(draw: Draw, text: str) -> str:
    """A text in which a few characters, words or lines are changed, dropped, doubled or added."""
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(["insert", "replace", "drop", "cut", "case", "words", "words"]))
        at = draw(st.integers(0, len(text)))
        if way == "insert":
            text = text[:at] + draw(st.sampled_from(_PIECES)) + text[at:]
        elif way == "replace":
            text = text[:at] + draw(st.sampled_from(_PIECES)) + text[at + 1 :]
        elif way == "drop":
            text = text[:at] + text[at + draw(st.integers(1, 4)) :]
        elif way == "cut":
            text = draw(st.sampled_from([text[:at], text[at:]]))
        elif way == "case":
            text = draw(st.sampled_from(_CASES))(text)
        else:
            separator = draw(st.sampled_from([" ", "\n", ",", "-"]))
            words = text.split(separator)
            _move(draw, words)
            text = separator.join(words)
    return text


def _move(draw: Draw, words: list[str]) -> None:
    """Swaps two words, or writes one over another."""
    first = draw(st.integers(0, len(words) - 1))
    second = draw(st.integers(0, len(words) - 1))
    if draw(st.booleans()):
        words[first], words[second] = words[second], words[first]
    else:
        words[first] = words[second]


_BYTES = [b"\x00", b"\xff", b"\x7f", b"\x80", b"\x01"]


@st.composite
def changed_bytes(draw: Draw, data: bytes) -> bytes:
    """Bytes with a few bits, bytes or lengths changed."""
    changed = bytearray(data)
    for _ in range(draw(st.integers(1, 3))):
        way = draw(st.sampled_from(["bit", "byte", "random", "insert", "double", "drop", "cut"]))
        at = draw(st.integers(0, len(changed)))
        span = slice(at, at + draw(st.integers(1, 16)))
        if way == "bit" and at < len(changed):
            changed[at] ^= 1 << draw(st.integers(0, 7))
        elif way == "random":
            changed[span] = draw(st.binary(min_size=1, max_size=16))
        elif way == "insert":
            changed[at:at] = draw(st.binary(min_size=1, max_size=16))
        elif way == "double":
            changed[at:at] = changed[span]
        elif way == "drop":
            del changed[span]
        elif way == "cut":
            del changed[at:]
        else:
            changed[at : at + 1] = draw(st.sampled_from(_BYTES))
    return bytes(changed)


@st.composite
def damaged_file(draw: Draw, text: str) -> bytes:
    """The bytes of a text file after changes of its text, or of its bytes."""
    if draw(st.integers(0, 3)):
        return draw(changed_text(text)).encode("utf-8", "surrogatepass")
    return draw(changed_bytes(text.encode()))


# Consoles, most of which can't show every character.
consoles = st.sampled_from(
    ["utf-8", "cp1252", "ascii", "latin-1", "cp437", "utf-16", "shift_jis"]
).map(lambda encoding: TextIOWrapper(BytesIO(), encoding=encoding))


def short(value: Any) -> str:
    """Returns a value as text that fits a line."""
    try:
        text = repr(value)
    except (RecursionError, ValueError):
        text = f"<{type(value).__name__} without repr>"
    return text if len(text) <= 80 else f"{text[:60]}… ({len(text)} characters)"
