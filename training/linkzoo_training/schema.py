"""What the schemas of configurations and of cards have in common: limits, and what was wrong."""

import reprlib
from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError

MOST_WIDTH, MOST_BLOCKS = 4096, 64  # of a network
MOST_TEMPERATURE = 1000  # at which an illegal action still has no chance
MOST_WEIGHT = 1000  # of a part of a loss or a payoff
MOST_RANGE = 10  # of what an end may be worth


def complaints(error: ValidationError) -> str:
    """What was wrong, on one line that names each field, and its value where that is short."""
    said = [f"{_field(item)}: {item['msg']}{_given(item)}" for item in error.errors()]
    return "; ".join(dict.fromkeys(said))  # a schedule that is one number is wrong twice


def _field(item: Mapping[str, Any]) -> str:
    return ".".join(part for part in item["loc"] if isinstance(part, str)) or "configuration"


def _given(item: Mapping[str, Any]) -> str:
    value = item["input"]
    plain = isinstance(value, str | int | float) and item["type"] != "value_error"
    return f", not {reprlib.repr(value)}" if plain else ""
