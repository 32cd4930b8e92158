"""Checks of JSON and of arguments. Errors name the field and the allowed values."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any, TypeGuard

import numpy as np


class _ShortRepr(Repr):
    """Abbreviates values alike with every Python; 3.14 writes the address of a large integer."""

    def repr_int(self, x: int, level: int) -> str:
        """Formats an integer; a ValueError from thousands of digits goes through."""
        text = repr(x)
        if len(text) > self.maxlong:
            return super().repr_int(x, level)
        return text


_MAX_SHOWN = 400
_SHORT = _ShortRepr()
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 20
_SHORT.maxstring = _SHORT.maxother = 80


def shown(value: object) -> str:
    """Formats a value for error messages, abbreviated."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "a number of too many digits"
    if len(text) > _MAX_SHOWN:
        return f"{text[:_MAX_SHOWN]}..."
    return text


def check_keys(
    name: str, data: object, required: Collection[str], optional: Collection[str] = ()
) -> None:
    """Raises ValueError unless `data` is an object with these required and optional keys."""
    given = json_object(name, data)
    missing = [key for key in required if key not in given]
    unknown = [key for key in given if key not in required and key not in optional]
    problems = []
    if missing:
        problems.append(f"missing fields {missing}")
    if unknown:
        problems.append(f"unknown fields {shown(unknown)}")
    if problems:
        raise ValueError(f"{name}: {', '.join(problems)}")


def json_object(name: str, value: object) -> Mapping[Any, Any]:
    """Returns `value` if it is a JSON object."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: {shown(value)} is not a JSON object")
    return value


def mapping(name: str, value: object) -> Mapping[Any, Any]:
    """Returns `value` if it is a mapping."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: {shown(value)} is not a dict")
    return value


def is_integer(value: object) -> TypeGuard[int | np.integer[Any]]:
    """Returns whether a value is an integer of Python or NumPy, a 0-d array included; no bool."""
    if isinstance(value, np.ndarray):
        return value.ndim == 0 and value.dtype.kind in "iu"
    none = isinstance(value, bool | np.timedelta64)  # timedelta64 is a signedinteger
    return isinstance(value, int | np.integer) and not none


def integer(name: str, value: object, low: int, high: int) -> int:
    """Returns `value` as an int if it is an integer (`is_integer`) in low..high."""
    if type(value) is int and low <= value <= high:
        return value  # the usual case, four times as fast
    if not is_integer(value):
        raise ValueError(f"{name}: {shown(value)} is not an integer in {low}..{high}")
    number = int(value)
    if not low <= number <= high:
        within = "" if low == high else "in "
        raise ValueError(f"{name}: {shown(number)} is not {within}{_span(low, high)}")
    return number


def real(name: str, value: object, low: float, high: float) -> float:
    """Returns `value` as a float if it is a number in low..high."""
    if not is_integer(value) and not isinstance(value, float | np.floating):
        raise ValueError(f"{name}: {shown(value)} is not a number in {low}..{high}")
    if not low <= value <= high:
        raise ValueError(f"{name}: {shown(value)} is not in {low}..{high}")
    return float(value)


def boolean(name: str, value: object) -> bool:
    """Returns `value` if it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: {shown(value)} is not true or false")
    return value


def string(name: str, value: object) -> str:
    """Returns `value` if it is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: {shown(value)} is not a string")
    return value


def one_of(name: str, value: object, allowed: Collection[object]) -> None:
    """Raises ValueError unless `value` is one of the allowed strings, or None if that is one."""
    if not isinstance(value, str | None) or value not in allowed:
        raise ValueError(f"{name}={shown(value)} is not one of {list(allowed)}")


def sequence(name: str, value: object, low: int, high: int) -> list[Any]:
    """Returns `value` if it is a list of low..high items."""
    if not isinstance(value, list | tuple) or not low <= len(value) <= high:
        count = _span(low, high)
        raise ValueError(f"{name}: {shown(value)} is not a list of {count} items")
    return list(value)


def _span(low: int, high: int) -> str:
    """Returns a range in words: `2..4`, or `2` for a range of one value."""
    return f"{low}" if low == high else f"{low}..{high}"


def agrees(name: str, value: object, expected: object, *, ordered: bool = True) -> None:
    """Raises ValueError unless `value` equals `expected`, types included.

    Unless `ordered`, the order of lists is no matter.
    """
    if not ordered and not _same(value, expected):
        value, expected = _in_order(value), _in_order(expected)
    if not _same(value, expected):
        raise ValueError(
            f"{name}: {shown(value)}, but the rest of the position says {shown(expected)}"
        )


def _in_order(value: object) -> object:
    """Returns JSON data with all lists sorted, for order-independent comparison."""
    if isinstance(value, Mapping):
        return {key: _in_order(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return sorted(map(_in_order, value), key=repr)
    return value


_SINGLE = frozenset({str, int, bool, float, type(None)})


def _same(value: object, expected: object) -> bool:
    """Compares values; 1, 1.0 and True differ, tuples equal lists."""
    kind = type(expected)
    if kind in _SINGLE and type(value) is kind:
        return value == expected  # the usual case, four times as fast
    if isinstance(expected, list | tuple):
        return (
            isinstance(value, list | tuple)
            and len(value) == len(expected)
            and all(map(_same, value, expected))
        )
    if isinstance(expected, Mapping):
        return (
            isinstance(value, Mapping)
            and value.keys() == expected.keys()
            and all(_same(value[key], expected[key]) for key in expected)
        )
    if is_integer(expected):
        return is_integer(value) and bool(value == expected)
    return type(value) is type(expected) and bool(value == expected)


def parse_json(text: str | bytes) -> Any:
    """Returns JSON data; ValueError for invalid or too deeply nested text, or a key set twice."""
    try:
        return json.loads(text, object_pairs_hook=_object)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(f"{shown(max(names, key=names.count))} is set twice")
    return data


def file_text(name: str, path: str) -> str | None:
    """Returns the text of a file, None if it doesn't exist; ValueError if it can't be read.

    A byte order mark isn't part of the text.
    """
    try:
        if not Path(path).is_file():
            return None
        text = Path(path).read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name}: {path[:80]!r} isn't UTF-8 text: save it as UTF-8") from error
    except (OSError, ValueError) as error:  # name too long, null byte, no permission
        raise ValueError(f"{name}: can't read {path[:80]!r} ({type(error).__name__})") from error
    if "\0" in text:
        raise ValueError(f"{name}: {path[:80]!r} isn't text: it has NUL bytes")
    return text
