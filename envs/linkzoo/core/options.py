"""Options of a game: a frozen dataclass whose values are fields of the record."""

from collections.abc import Mapping
from dataclasses import Field as OptionField
from dataclasses import dataclass, fields
from typing import Any, Literal, get_args, get_origin

from linkzoo.core.arguments import boolean, integer, shown
from linkzoo.core.state import Record


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
        for option in fields(self):
            value = getattr(self, option.name)
            allowed = get_args(option.type)
            if option.type is bool:
                boolean(option.name, value)
            elif get_origin(option.type) is Literal and value not in allowed:
                raise ValueError(f"{option.name}: {shown(value)} is not one of {list(allowed)}")

    def decided(self) -> str:
        """Returns why these options decide every game before it begins, "" if they don't.

        Training refuses such options, and to sample them (`initial_states.vary`).
        """
        return ""


def option_names(options: type[Options]) -> list[str]:
    """Returns the names of a game's options, in order."""
    return [option.name for option in fields(options)]


def write_options(
    state: Record, options: Options, fixed: Mapping[str, Any], digest: int = 0
) -> None:
    """Writes options into a record: numbers as they are, a Literal as the index of its value.

    Args:
        state: The record.
        options: The chosen options.
        fixed: Options that are compiled in and aren't fields of the record.
        digest: The digest of the compiled-in data; stored in the field `digest` if there is any.

    Raises:
        ValueError: An option differs from its value in `fixed`.
    """
    if fixed:
        state["digest"] = digest
    for option in fields(options):
        value = getattr(options, option.name)
        if option.name in fixed:
            if value != fixed[option.name]:
                raise ValueError(
                    f"{option.name}: {shown(value)}, but this Game is made for "
                    f"{fixed[option.name]!r}; get_game with these options gives the other"
                )
        elif get_origin(option.type) is Literal:
            state[option.name] = get_args(option.type).index(value)
        else:
            state[option.name] = value


def full_options(
    options: Mapping[str, Any], kind: type[Options], fixed: Mapping[str, Any]
) -> dict[str, Any]:
    """Returns options by name; `fixed` options become values of `kind`, files with whole paths."""
    if not fixed:
        return dict(options)
    chosen = kind(**options)
    return {**options, **{name: getattr(chosen, name) for name in fixed}}


def read_options(state: Record, options: type[Options], fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the options written by `write_options`, by name.

    Raises:
        ValueError: The index of a Literal is out of range.
    """
    values = {}
    for option in fields(options):
        if option.name in fixed:
            values[option.name] = fixed[option.name]
        else:
            values[option.name] = _option_value(option, int(state[option.name]))
    return values


def _option_value(option: OptionField[Any], number: int) -> Any:
    if get_origin(option.type) is Literal:
        values = get_args(option.type)
        return values[integer(option.name, number, 0, len(values) - 1)]
    if option.type is bool:
        return bool(number)
    return number
