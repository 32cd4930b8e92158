"""Options of a game: a frozen dataclass whose values are fields of the record."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Any, Literal, cast, get_args, get_origin, get_type_hints

import numpy as np

from linkzoo.core.arguments import boolean, integer, shown
from linkzoo.core.state import SKIP_FORCED, Field, Record, field_bounds


@dataclass(frozen=True)
class Options:
    """Base class of a game's options.

    Attributes:
        skip_forced: Whether forced decisions are played automatically.

    Raises:
        ValueError: A value doesn't have its option's type, bool or Literal.
    """

    skip_forced: bool = False

    def __post_init__(self) -> None:
        for name, kind in option_types(type(self)).items():
            value = getattr(self, name)
            allowed = get_args(kind)
            if kind is bool and not isinstance(value, np.bool_):
                boolean(name, value)
            elif get_origin(kind) is Literal and value not in allowed:
                raise ValueError(f"{name}: {shown(value)} is not one of {list(allowed)}")

    def decided(self) -> str:
        """Returns why these options decide every game before it begins, "" if they don't.

        Matches and training refuse such options, and to sample them (`initial_states.vary`).
        """
        return ""


def option_names(options: type[Options]) -> list[str]:
    """Returns the names of a game's options, in order."""
    return [option.name for option in fields(options)]


def option_types(options: type[Options]) -> Mapping[str, Any]:
    """Returns the types of a game's options by name, in order; annotations may be strings."""
    return _option_types(cast("Any", options))  # a class is hashable, whatever mypy says


@cache
def _option_types(options: Any) -> Mapping[str, Any]:
    hints = get_type_hints(options)
    return {name: hints[name] for name in option_names(options)}


def written_names(options: type[Options], fixed: Mapping[str, Any], digest: int) -> list[str]:
    """Returns the names of the options that JSON names, in order.

    Compiled-in standard data that has no digest isn't named.
    """
    return [name for name in option_names(options) if digest or name not in fixed]


def check_option_fields(options: type[Options], record_fields: Sequence[Field]) -> None:
    """Raises ValueError if a bool or Literal option has values beyond the bounds of its field."""
    declared = {field.name: field for field in record_fields}
    for name, kind in option_types(options).items():
        values = get_args(kind) if get_origin(kind) is Literal else (False, True)
        if name in declared and (kind is bool or get_origin(kind) is Literal):
            low, high = field_bounds(declared[name])
            if low > 0 or high < len(values) - 1:
                raise ValueError(
                    f"fields: {name} holds {low}..{high}, but the option has the values "
                    f"{list(values)}, which are stored as 0..{len(values) - 1}"
                )


def write_options(
    state: Record,
    options: Options,
    record_fields: Sequence[Field],
    fixed: Mapping[str, Any],
    digest: int = 0,
) -> None:
    """Writes options into a record: numbers as they are, a Literal as the index of its value.

    Args:
        state: The record.
        options: The chosen options.
        record_fields: The fields of the record, with their bounds.
        fixed: Options that are compiled in and aren't fields of the record.
        digest: The digest of the compiled-in data, stored in the field `digest`; 0 for none.

    Raises:
        ValueError: An option differs from its value in `fixed`, is no integer, or is out of the
            bounds of its field; the message names the option and the allowed values.
    """
    if digest:
        state["digest"] = digest
    declared = {field.name: field for field in (SKIP_FORCED, *record_fields)}
    for name, kind in option_types(type(options)).items():
        value = getattr(options, name)
        if name in fixed:
            if value != fixed[name]:
                raise ValueError(
                    f"{name}: {shown(value)}, but this Game is made for "
                    f"{fixed[name]!r}; get_game with these options gives the other"
                )
        elif get_origin(kind) is Literal:
            state[name] = get_args(kind).index(value)
        elif kind is bool:
            state[name] = value
        else:
            state[name] = integer(name, value, *field_bounds(declared[name]))


def full_options(
    options: Mapping[str, Any], kind: type[Options], fixed: Mapping[str, Any], digest: int
) -> dict[str, Any]:
    """Returns options by name; `fixed` options become values of `kind`, files with whole paths."""
    if not digest:
        return dict(options)
    chosen = kind(**options)
    return {**options, **{name: getattr(chosen, name) for name in fixed}}


def read_options(
    state: Record, options: type[Options], fixed: Mapping[str, Any], digest: int
) -> dict[str, Any]:
    """Returns the options written by `write_options`, by name (`written_names`).

    Raises:
        ValueError: The index of a Literal is out of range.
    """
    types = option_types(options)
    values = {}
    for name in written_names(options, fixed, digest):
        if name in fixed:
            values[name] = fixed[name]
        else:
            values[name] = _option_value(name, types[name], int(state[name]))
    return values


def _option_value(name: str, kind: Any, number: int) -> Any:
    """Returns the value of an option of that type from its number in the record."""
    if get_origin(kind) is Literal:
        values = get_args(kind)
        return values[integer(name, number, 0, len(values) - 1)]
    if kind is bool:
        return bool(number)
    return number
