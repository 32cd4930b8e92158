"""The `linkzoo` command: parses arguments, runs a command, and maps errors to exit codes."""

import argparse
import os
import re
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Protocol

from linkzoo import __version__
from linkzoo_training.agents.human import QuitError
from linkzoo_training.agents.trained_on import UntrainedWarning
from linkzoo_training.commands import (
    evaluate,
    mcp,
    play,
    replay,
    serve,
    tournament,
    train,
)
from linkzoo_training.commands.data import positions, selfplay
from linkzoo_training.commands.data import solve as solve_positions
from linkzoo_training.commands.experiment import (
    best_response,
    exploitability,
    league,
    plot,
    rate,
    solve,
    sweep,
)
from linkzoo_training.commands.linear import fit, improve, labels
from linkzoo_training.commands.llm import benchmark, table
from linkzoo_training.commands.tools import bench, export
from linkzoo_training.commands.tools import compile as compile_games
from linkzoo_training.resources import check_installed
from linkzoo_training.storage import outputs_sent

# Torch's out-of-memory messages, on the CPU and on a GPU.
_NO_MEMORY = r"(?i)can't allocate memory|not enough memory|out of memory"

_NEEDED = "filelock matplotlib pydantic rich safetensors tensorboard torch yaml".split()


class Command(Protocol):
    """A module of this folder. Importing it is fast: `run` imports torch and all that loads it."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the command's options."""

    def run(self, args: argparse.Namespace) -> int | None:
        """Runs the command and returns its exit code; None is 0."""


@dataclass(frozen=True)
class Group:
    """Commands of one topic, `linkzoo GROUP COMMAND`; a folder of their modules."""

    topic: str
    commands: Mapping[str, Command]

    @property
    def help(self) -> str:
        """The topic and the names of the commands."""
        return f"{self.topic}: {', '.join(self.commands)}"


COMMANDS: Mapping[str, Command | Group] = {
    "train": train,
    "evaluate": evaluate,
    "tournament": tournament,
    "play": play,
    "serve": serve,
    "replay": replay,
    "mcp": mcp,
    "experiment": Group(
        "compare runs and agents, find weaknesses, solve small games exactly",
        {
            "sweep": sweep,
            "plot": plot,
            "league": league,
            "rate": rate,
            "best-response": best_response,
            "exploitability": exploitability,
            "solve": solve,
        },
    ),
    "data": Group(
        "write games and positions to files",
        {"selfplay": selfplay, "positions": positions, "solve": solve_positions},
    ),
    "linear": Group(
        "make linear scorers of actions",
        {"labels": labels, "fit": fit, "improve": improve},
    ),
    "llm": Group("test language models", {"benchmark": benchmark, "table": table}),
    "tools": Group(
        "prepare and measure this machine, export networks",
        {"compile": compile_games, "bench": bench, "export": export},
    ),
}


@cache
def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of `linkzoo`; parsed arguments hold the command's `run`."""
    text = "Self-play training on tabletop games."
    parser = argparse.ArgumentParser(prog="linkzoo", description=text)
    parser.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, entry in COMMANDS.items():
        if isinstance(entry, Group):
            group = subparsers.add_parser(name, help=entry.help, description=entry.help)
            commands = group.add_subparsers(required=True, metavar="COMMAND")
            for command_name, command in entry.commands.items():
                _add_command(commands, command_name, command)
        else:
            _add_command(subparsers, name, entry)
    return parser


def _add_command(
    subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]", name: str, command: Command
) -> None:
    parser = subparsers.add_parser(name, help=command.HELP)
    command.add_arguments(parser)
    parser.set_defaults(run=command.run)


def subcommands(parser: argparse.ArgumentParser) -> Mapping[str, argparse.ArgumentParser]:
    """Returns the parsers of a parser's commands by name; none for a command itself."""
    for action in parser._actions:  # argparse has no public way
        if isinstance(action, argparse._SubParsersAction):
            return action.choices
    return {}


def parse_arguments(arguments: Sequence[str]) -> argparse.Namespace:
    """Parses the arguments of `linkzoo`; options may stand between positional arguments.

    argparse allows that only for parsers without subcommands, so the command's name comes first.

    Raises:
        SystemExit: With 2 for invalid arguments, with 0 after `--help` and `--version`.
    """
    parser = make_parser()
    rest = list(arguments)
    while rest and rest[0] in subcommands(parser):
        parser = subcommands(parser)[rest.pop(0)]
    if subcommands(parser):  # a name is missing or wrong, or --help
        return parser.parse_args(rest)
    return parser.parse_intermixed_args(rest)


def _add_current_folder() -> None:
    """Lets `module:name` find modules in the current folder, as `python -m` does."""
    folder = str(Path.cwd())
    if not sys.flags.safe_path and folder not in sys.path:
        sys.path.append(folder)


@contextmanager
def _notes_in_short() -> Iterator[None]:
    """Prints warnings about untrained games as one line on stderr."""
    with warnings.catch_warnings():
        show = warnings.showwarning

        def show_in_short(
            message: Warning | str, category: type[Warning], *rest: Any, **more: Any
        ) -> None:
            if issubclass(category, UntrainedWarning):
                print(f"linkzoo: note: {message}", file=sys.stderr)
            else:
                show(message, category, *rest, **more)

        warnings.simplefilter("always", UntrainedWarning)  # an agent warns once
        warnings.showwarning = show_in_short
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command, by default that of `sys.argv`; reports user errors as one line on stderr.

    Returns:
        The exit code: 0, 2 for a user error, 130 after Ctrl-C, 143 if SIGTERM stopped training.

    Raises:
        SystemExit: With 2 for invalid arguments, with 0 after `--help` and `--version`.
    """
    _add_current_folder()
    if "OMP_WAIT_POLICY" not in os.environ:
        # Idle threads of torch poll for some microseconds, then sleep: by default they keep whole
        # cores busy. OpenMP reads this when torch is first imported.
        os.environ.setdefault("GOMP_SPINCOUNT", "10000")
    try:
        args = parse_arguments(sys.argv[1:] if arguments is None else arguments)
        check_installed("train", *_NEEDED)
        with _notes_in_short(), outputs_sent():
            return int(args.run(args) or 0)
    except (ValueError, OSError) as error:
        print(f"linkzoo: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not re.search(_NO_MEMORY, str(error)):
            raise
        reason = str(error).partition("\n")[0] or "none is left"
        print(
            f"linkzoo: too little memory ({reason}): fewer games side by side (num_envs, --batch), "
            "shorter horizons and smaller networks take less",
            file=sys.stderr,
        )
        return 2
    except KeyboardInterrupt:
        print("linkzoo: interrupted", file=sys.stderr)
        return 130
    except QuitError:
        return 130
