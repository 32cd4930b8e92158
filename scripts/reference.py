"""Writes docs/reference: public names, the Python API, the command line and the configuration.

`python -m scripts.reference`; a test fails when a page isn't what the code says.
"""

import argparse
import ast
import dataclasses
import inspect
import io
import os
import re
import sys
import tokenize
import typing
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from scripts.api import api
from scripts.public import public

from linkzoo_training.commands.cli import make_parser, subcommands
from linkzoo_training.config import config
from linkzoo_training.config.schedule import Schedule

FOLDER = Path(__file__).parents[1] / "docs" / "reference"
WIDTH = 90  # columns of help texts
_INTRODUCTION = """\
The fields of a YAML file in `configs/`, and of `field=value` behind `linkzoo train`; a dot reaches
into a section (`pool.share=0.5`). A schedule is a number, or `[first, last]`: linear over a run."""


def commands() -> str:
    """Every command with its help text."""
    parser = make_parser()
    parts = ["# Command line", f"```text\n{_help(parser)}\n```", *_sections_of(parser)]
    return "\n\n".join(parts) + "\n"


def _sections_of(parser: argparse.ArgumentParser) -> Iterator[str]:
    """The commands of a parser; a group's commands follow it."""
    for command in subcommands(parser).values():
        yield f"## {command.prog}\n\n```text\n{_help(command)}\n```"
        yield from _sections_of(command)


def _help(parser: argparse.ArgumentParser) -> str:
    return re.sub(r" +$", "", parser.format_help().strip(), flags=re.MULTILINE)


def configuration() -> str:
    """Every field of the trainers' configurations, by section."""
    parts = ["# Configuration", _INTRODUCTION]
    for title, schema, inherited in (
        ("Every trainer", config.Config, None),
        ("PPO", config.PPOConfig, config.Config),
        ("AlphaZero", config.AlphaZeroConfig, config.Config),
    ):
        parts += [f"## {title}", _table(schema, inherited)]
        for name, section in _sections(schema, inherited):
            parts += [f"### {name}", inspect.getdoc(section) or "", _table(section, None)]
    return "\n\n".join(parts) + "\n"


def _sections(schema: type, inherited: type | None) -> Iterator[tuple[str, type]]:
    """The fields that are sections, with the schema of each."""
    for field, kind in _fields(schema, inherited):
        for option in (kind, *typing.get_args(kind)):
            if dataclasses.is_dataclass(option) and isinstance(option, type):
                yield field.name, option


def _fields(schema: type, inherited: type | None) -> Iterator[tuple[dataclasses.Field[Any], Any]]:
    """A schema's own fields, with their types."""
    kinds = typing.get_type_hints(schema)
    known = {field.name for field in dataclasses.fields(inherited)} if inherited else set()
    for field in dataclasses.fields(schema):
        if field.name not in known:
            yield field, kinds[field.name]


def _table(schema: type, inherited: type | None) -> str:
    reasons = _comments(schema)
    rows = ["| field | default | |", "|---|---|---|"]
    for field, _ in _fields(schema, inherited):
        rows.append(f"| `{field.name}` | {_default(field)} | {reasons[field.name]} |")
    return "\n".join(rows)


def _default(field: dataclasses.Field[Any]) -> str:
    value = field.default
    if field.default_factory is not dataclasses.MISSING:
        value = field.default_factory()
    value = getattr(value, "default", value)  # pydantic's, of a field with bounds
    if value is dataclasses.MISSING:
        return "required"
    if dataclasses.is_dataclass(value):
        return "see below"
    if isinstance(value, Schedule):
        return (
            f"`{value.first:g}`" if value.first == value.last else f"`[{value[0]:g}, {value[1]:g}]`"
        )
    if isinstance(value, tuple):
        return f"`[{', '.join(map(str, value))}]`"
    return (
        f"`{'null' if value is None else str(value).lower() if isinstance(value, bool) else value}`"
    )


def _source(schema: type) -> str:
    """Returns the source of a class of a module; classes of pydantic hide it from `inspect`."""
    source = inspect.getsource(sys.modules[schema.__module__])
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    [node] = [node for node in classes if node.name == schema.__name__]
    return "\n".join(source.splitlines()[node.lineno - 1 : node.end_lineno])


def _comments(schema: type) -> Mapping[str, str]:
    """The comment beside each field in the source."""
    comments: dict[str, str] = {}
    name = ""
    for token in tokenize.generate_tokens(io.StringIO(_source(schema)).readline):
        if token.type == tokenize.NAME and token.line.startswith(f"    {token.string}:"):
            name = token.string
        elif token.type == tokenize.COMMENT and token.line[: token.start[1]].strip():
            comments.setdefault(name, token.string.removeprefix("# ").replace("|", r"\|"))
    return comments


PAGES = {
    "public.md": public,
    "api.md": api,
    "commands.md": commands,
    "configuration.md": configuration,
}

if __name__ == "__main__":
    os.environ["COLUMNS"] = str(WIDTH)  # argparse asks for it
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")
