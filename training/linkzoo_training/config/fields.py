"""Fields of configurations as plain data: YAML files, `field=value` settings, merging."""

import re
import reprlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from linkzoo.core.arguments import is_integer, string
from linkzoo_training.resources import find_config

_SCALARS = {
    "null": r"~|null|Null|NULL|",
    "bool": r"true|True|TRUE|false|False|FALSE",
    "int": r"[-+]?(0|[1-9][0-9_]*)|0x[0-9a-fA-F]+",
    "float": r"[-+]?(\.[0-9]+|[0-9][0-9_]*(\.[0-9_]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)",
    "merge": "<<",
}


class _Loader(yaml.SafeLoader):
    """Reads plain scalars as YAML 1.2: 1e6 is a number, `off` and 1:30 are strings.

    Numbers may contain `_`. A key that is set twice is an error.
    """

    yaml_implicit_resolvers = {}  # noqa: RUF012 - none of YAML 1.1

    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        lines: dict[str, int] = {}
        for key, _ in node.value:
            name = str(key.value)
            line = key.start_mark.line + 1
            if name in lines:
                text = f"{reprlib.repr(name)} is set twice, in lines {lines[name]} and {line}"
                raise yaml.constructor.ConstructorError(problem=text)
            lines[name] = line
        return node

    def construct_yaml_float(self, node: yaml.ScalarNode) -> float:
        """Returns the number, an int for a whole one without a point (1e6)."""
        number: float = super().construct_yaml_float(node)
        if number.is_integer() and "." not in node.value:
            return int(number)
        return number


for _tag, _pattern in _SCALARS.items():
    _Loader.add_implicit_resolver(f"tag:yaml.org,2002:{_tag}", re.compile(f"({_pattern})$"), None)
_Loader.add_constructor("tag:yaml.org,2002:float", _Loader.construct_yaml_float)


def _parse(text: str, wrong: str) -> Any:
    """Parses YAML; the ValueError of an invalid text begins with `wrong`."""
    try:
        return yaml.load(text, _Loader)  # noqa: S506 - a SafeLoader
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise ValueError(f"{wrong} ({error})") from error


def read_file(path: Path, below: tuple[Path, ...] = ()) -> dict[str, Any]:
    """Returns the fields of a YAML file, merged into the fields of the file that it extends.

    `extends` names a preset, or a file relative to the folder of the extending file.

    Raises:
        ValueError: Names the file and its error.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except ValueError as error:
        raise ValueError(f"{path}: not UTF-8 ({error})") from error
    data = _parse(text, f"{path}: not valid YAML")
    if not isinstance(data, dict):
        raise ValueError(f"{path}: not a mapping of fields to values")
    if path.resolve() in below:
        raise ValueError(f"{path}: extends itself")
    base = data.pop("extends", None)
    if base is None:
        return data
    base = find_config(string(f"{path}: extends", base), path.parent)
    fields = merged(read_file(base, (*below, path.resolve())), data)
    check_varied(fields, data)
    return fields


def check_varied(fields: Mapping[str, Any], changes: Mapping[str, Any]) -> None:
    """Checks that `changes` set no option outside the range in which `fields` inherit it varied.

    Raises:
        ValueError: Names the fields to set.
    """
    all_fields = flat(fields)
    changed_fields = flat(changes)
    for name, value in changed_fields.items():
        varied = f"initial_states.vary.{name.removeprefix('options.')}"
        match all_fields.get(varied):
            case [low, high] if varied not in changed_fields and name.startswith("options."):
                if all(map(is_integer, (low, value, high))) and not low <= value <= high:
                    raise ValueError(
                        f"{name}={value}, but games are sampled with {low}..{high}: set "
                        f"initial_states.vary too, {{}} for no sampling, or {varied}=[low, high]"
                    )


def merged(base: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Returns `base` with changes merged in, recursively in sections; lists are replaced."""
    sections = {
        name: merged(base[name], value)
        for name, value in changes.items()
        if isinstance(value, dict) and isinstance(base.get(name), dict)
    }
    return {**base, **changes, **sections}


def flat(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns fields by name, fields of sections as `section.field`."""
    result: dict[str, Any] = {}
    for name, value in fields.items():
        if isinstance(value, Mapping) and value:
            result |= {f"{name}.{key}": inner for key, inner in flat(value).items()}
        else:
            result[name] = value
    return result


def override(data: dict[str, Any], overrides: Sequence[str]) -> dict[str, Any]:
    """Sets each `field=value` in the data (as in load_config); raises ValueError if invalid."""
    for setting in overrides:
        key, value = read_setting(setting, "field")
        *parents, last = key.split(".")
        target = data
        for parent in parents:
            if target.get(parent) is None:
                target[parent] = {}
            target = target[parent]
            if not isinstance(target, dict):
                raise ValueError(f"{setting!r}: {parent} has no fields")
        target[last] = value
    return data


def read_setting(setting: str, noun: str) -> tuple[str, Any]:
    """Parses `name=value` with a YAML value; the error of an invalid setting has the noun."""
    name, separator, text = setting.partition("=")
    if not separator:
        raise ValueError(f"{setting!r} is not {noun}=value")
    return name, _parse(text, f"{reprlib.repr(setting)} has no valid YAML value")


def read_options(settings: Sequence[str]) -> dict[str, Any]:
    """Returns a game's options from `name=value` settings with YAML values."""
    return dict(read_setting(setting, "option") for setting in settings)
