"""The `linkzoo` command: parses arguments, runs a command, and maps errors to exit codes."""

import argparse
import re
import sys
from collections.abc import Mapping, Sequence
from typing import Protocol

from linkzoo import __version__
from linkzoo_training.agents.human import QuitError
from linkzoo_training.commands import (
    bench,
    benchmark,
    best_response,
    evaluate,
    export,
    fit,
    improve,
    labels,
    league,
    play,
    plot,
    positions,
    replay,
    selfplay,
    serve,
    solve,
    sweep,
    tournament,
    train,
)
from linkzoo_training.commands import compile as compile_games
from linkzoo_training.commands.common import is_setting
from linkzoo_training.resources import check_installed

# Torch's out-of-memory messages, on the CPU and on a GPU.
_NO_MEMORY = r"(?i)can't allocate memory|not enough memory|out of memory"

_NEEDED = "filelock matplotlib pydantic rich safetensors tensorboard torch yaml".split()


class Command(Protocol):
    """A module of this folder. Importing it is fast: `run` imports what loads torch."""

    HELP: str

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        """Adds the command's options."""

    def run(self, args: argparse.Namespace) -> int | None:
        """Runs the command and returns its exit code; None is 0."""


COMMANDS: Mapping[str, Command] = {
    "train": train,
    "sweep": sweep,
    "plot": plot,
    "best-response": best_response,
    "evaluate": evaluate,
    "tournament": tournament,
    "league": league,
    "play": play,
    "serve": serve,
    "replay": replay,
    "selfplay": selfplay,
    "positions": positions,
    "solve": solve,
    "bench": bench,
    "benchmark": benchmark,
    "labels": labels,
    "fit": fit,
    "improve": improve,
    "export": export,
    "compile": compile_games,
}


def make_parser() -> argparse.ArgumentParser:
    """Returns the parser of `linkzoo`; parsed arguments hold the command's `run`."""
    text = "Self-play training on tabletop games."
    parser = argparse.ArgumentParser(prog="linkzoo", description=text)
    parser.add_argument("--version", action="version", version=f"linkzoo {__version__}")
    subparsers = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, module in COMMANDS.items():
        command = subparsers.add_parser(name, help=module.HELP)
        module.add_arguments(command)
        command.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs a command, by default that of `sys.argv`; reports user errors as one line on stderr.

    Returns:
        The exit code: 0, 2 for a user error, 130 after Ctrl-C, 143 if SIGTERM stopped training.

    Raises:
        SystemExit: With 2 for invalid arguments, with 0 after `--help` and `--version`.
    """
    try:
        args = _parse(arguments)
        check_installed("train", *_NEEDED)
        return int(args.run(args) or 0)
    except (ValueError, OSError) as error:
        print(f"linkzoo: {' '.join(str(error).split())}", file=sys.stderr)
        return 2
    except (MemoryError, RuntimeError) as error:
        if not isinstance(error, MemoryError) and not re.search(_NO_MEMORY, str(error)):
            raise
        what = (str(error) or "there is no more").splitlines()[0]
        print(
            f"linkzoo: too little memory ({what}): fewer games side by side (num_envs, --batch), "
            "shorter horizons and smaller networks take less",
            file=sys.stderr,
        )
        return 2
    except (KeyboardInterrupt, QuitError):
        return 130


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Parses the command line; settings may also follow options, unlike argparse's positionals."""
    parser = make_parser()
    args, rest = parser.parse_known_args(arguments)
    unknown = [text for text in rest if "settings" not in args or not is_setting(text)]
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        args.settings = [*args.settings, *rest]
    return args
