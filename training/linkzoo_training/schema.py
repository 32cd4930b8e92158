"""Shared parts of the schemas of configurations and cards: limits and error messages."""

import dataclasses
import reprlib
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError

MAX_WIDTH, MAX_BLOCKS = 4096, 64  # size of a network
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
    """Returns one line that names each invalid field, and the nearest `known` to an unknown one."""
    found = [_explain(item, known) for item in error.errors()]
    return "; ".join(dict.fromkeys(found))  # a schedule of one number is reported twice


def _explain(item: Mapping[str, Any], known: Sequence[str]) -> str:
    name = ".".join(part for part in item["loc"] if isinstance(part, str)) or "configuration"
    if item["type"] == "value_error":  # of a validator of ours, which names fields itself
        return f"{name}: {item['ctx']['error']}" if item["loc"] else str(item["ctx"]["error"])
    if item["type"] == "unexpected_keyword_argument":
        nearest = get_close_matches(name, known, 1)
        hint = f"did you mean {nearest[0]}?" if nearest else f"there are {', '.join(known)}"
        return f"unknown field {name} ({hint})"
    if item["type"] == "tuple_type":
        return f"{name}: must be a list, such as [{reprlib.repr(item['input'])}]"
    value = item["input"]
    plain = isinstance(value, str | int | float)
    given = f", not {reprlib.repr(value)}" if plain else ""
    return f"{name}: {item['msg']}{given}"
