"""Checks of JSON and of arguments. Errors name the field and what is allowed."""

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np


def check_keys(
    name: str, data: Any, required: Collection[str], optional: Collection[str] = ()
) -> None:
    """ValueError unless `data` is an object of the required keys, and perhaps the optional ones."""
    if not isinstance(data, Mapping):
        raise ValueError(f"{name}: {data!r} is no JSON object")
    missing = [key for key in required if key not in data]
    unknown = [key for key in data if key not in required and key not in optional]
    if missing or unknown:
        raise ValueError(f"{name}: missing fields {missing}, unknown fields {unknown}")


def integer(name: str, value: Any, low: int, high: int) -> int:
    """`value` if it is an integer, Python's or NumPy's, in low..high (a bool is none)."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise ValueError(f"{name}: {value!r} is not an integer in {low}..{high}")
    number = int(value)
    if not low <= number <= high:
        raise ValueError(f"{name}: {number} is not in {low}..{high}")
    return number


def boolean(name: str, value: Any) -> bool:
    """`value` if it is True or False."""
    if not isinstance(value, bool):
        raise ValueError(f"{name}: {value!r} is not true or false")
    return value


def string(name: str, value: Any) -> str:
    """`value` if it is a string."""
    if not isinstance(value, str):
        raise ValueError(f"{name}: {value!r} is not a string")
    return value


def sequence(name: str, value: Any, low: int, high: int) -> list[Any]:
    """`value` if it is a list of low..high items."""
    if not isinstance(value, list | tuple) or not low <= len(value) <= high:
        raise ValueError(f"{name}: {value!r} is not a list of {low}..{high} items")
    return list(value)


def agrees(name: str, value: Any, expected: Any) -> None:
    """ValueError unless `value` is what the rest of the position says."""
    if value != expected or isinstance(value, bool) != isinstance(expected, bool):
        raise ValueError(f"{name}: {value!r}, but the rest of the position says {expected!r}")
