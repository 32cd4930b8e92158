"""Checks of JSON and of arguments. Errors name the field and what is allowed."""

from collections.abc import Collection, Mapping
from pathlib import Path
from reprlib import Repr
from typing import Any

import numpy as np

_MOST_SHOWN = 400
_SHORT = Repr()
_SHORT.maxlevel = 4
_SHORT.maxlist = _SHORT.maxtuple = _SHORT.maxdict = 20
_SHORT.maxstring = _SHORT.maxother = 80


def shown(value: Any) -> str:
    """A value as error messages show it: short, however long or deep it is."""
    try:
        text = _SHORT.repr(value)
    except ValueError:  # Python writes no integers of thousands of digits
        return "a number of too many digits"
    return text if len(text) <= _MOST_SHOWN else f"{text[:_MOST_SHOWN]}..."


def check_keys(
    name: str, data: Any, required: Collection[str], optional: Collection[str] = ()
) -> None:
    """ValueError unless `data` is an object of the required keys, and perhaps the optional ones."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{name}: {shown(data)} is not a JSON object")
    missing = [key for key in required if key not in data]
    unknown = [key for key in data if key not in required and key not in optional]
    if missing or unknown:
        raise ValueError(f"{name}: missing fields {missing}, unknown fields {shown(unknown)}")


def mapping(name: str, value: Any) -> Mapping[Any, Any]:
    """`value` if it is a dict, or something like it."""
    if not isinstance(value, Mapping):
        raise ValueError(f"{name}: {shown(value)} is not a dict")
    return value


def is_integer(value: Any) -> bool:
    """Whether a value is an integer, Python's or NumPy's; a bool or a time span is none."""
    none = isinstance(value, bool | np.timedelta64)  # NumPy's time spans are integers to it
    return isinstance(value, int | np.integer) and not none


def integer(name: str, value: Any, low: int, high: int) -> int:
    """`value` if it is an integer, Python's or NumPy's, in low..high (a bool is none)."""
    if not is_integer(value):
        raise ValueError(f"{name}: {shown(value)} is not an integer in {low}..{high}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name}: {shown(number)} is not in {low}..{high}")
    return number


def boolean(name: str, value: Any) -> bool:
    """`value` if it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: {shown(value)} is not true or false")
    return value


def string(name: str, value: Any) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: {shown(value)} is not a string")
    return value


def sequence(name: str, value: Any, low: int, high: int) -> list[Any]:
    """`value` if it is a list of low..high items."""
    if not isinstance(value, list | tuple) or not low <= len(value) <= high:
        raise ValueError(f"{name}: {shown(value)} is not a list of {low}..{high} items")
    return list(value)


def agrees(name: str, value: Any, expected: Any) -> None:
    """ValueError unless `value` is what the rest of the position says, and of the same types."""
    if not _same(value, expected):
        raise ValueError(
            f"{name}: {shown(value)}, but the rest of the position says {shown(expected)}"
        )


def _same(value: Any, expected: Any) -> bool:
    """Equality, but 1, 1.0 and True are different, and a tuple is as good as a list."""
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


def file_text(name: str, path: str) -> str | None:
    """The text of a file, None if there is no such file; ValueError if it can't be read."""
    try:
        return Path(path).read_text(encoding="utf-8") if Path(path).is_file() else None
    except (OSError, ValueError) as error:  # too long, a null byte, no permission, no text
        raise ValueError(f"{name}: can't read {path[:80]!r} ({type(error).__name__})") from error
