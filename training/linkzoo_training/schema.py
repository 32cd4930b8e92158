"""Shared parts of the schemas of configurations and cards: limits and error messages."""

import dataclasses
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError

MAX_WIDTH = 4096  # of a network
MAX_BLOCKS = 64  # of a network
MAX_TEMPERATURE = 1000  # illegal actions still have probability 0
MAX_WEIGHT = 1000  # weight of one term of a loss or payoff
MAX_RANGE = 10  # range of payoffs


def field_names(schema: Any) -> Iterator[str]:
    """Yields the names of a dataclass's fields, fields of sections as `section.field`."""
    for field in dataclasses.fields(schema):
        yield field.name
        for section in (field.type, *get_args(field.type)):
            if isinstance(section, type) and dataclasses.is_dataclass(section):
                yield from (f"{field.name}.{name}" for name in field_names(section))


def explain(error: ValidationError, known: Sequence[str] = ()) -> str:
    """Explains a validation error in a line.

    Args:
        error: The error.
        known: The names of all fields; an unknown field is compared with them, and with the last
            parts of fields in sections.

    Returns:
        A line that names each invalid field.
    """
    messages = [_explain(item, known) for item in error.errors()]
    return "; ".join(dict.fromkeys(messages))  # a schedule of one number is reported twice


def _explain(item: Mapping[str, Any], known: Sequence[str]) -> str:
    name = ".".join(part for part in item["loc"] if isinstance(part, str)) or "configuration"
    if item["type"] == "value_error":  # from our validators
        message = str(item["ctx"]["error"])
        if item["loc"]:
            return f"{name}: {message}"
        return message  # the validator of a section names the fields itself
    if item["type"] == "unexpected_keyword_argument":
        inner = [field for field in known if field.endswith(f".{name}")]
        nearest = inner or get_close_matches(name, known, 1)
        if nearest:
            return f"unknown field {name} (did you mean {nearest[0]}?)"
        return f"unknown field {name} (there are {', '.join(known)})"
    if item["type"] == "tuple_type":
        return f"{name}: must be a list, such as [{reprlib.repr(item['input'])}]"
    message = f"{name}: {item['msg']}"
    if isinstance(item["input"], str | int | float | None):
        message += f", not {reprlib.repr(item['input'])}"
    return message
