"""The `linkzoo` command. The module named after a command does it."""

import argparse
import re
import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryFile

from linkzoo.core.arguments import integer
from linkzoo_training.agents.human import QuitError
from linkzoo_training.commands.arguments import parser

# What numbers may be; of others it depends on the game.
_RANGES = {
    "seed": (0, 2**64 - 1),
    "games": (1, 10**8),
    "batch": (1, 2**20),
    "simulations": (1, 10**6),
    "workers": (1, 1024),
    "port": (0, 2**16 - 1),
    "width": (16, 4096),
    "milliseconds": (20, 60_000),
}
_MOST_ELO = 4000
# What torch says, on the CPU and on a GPU.
_NO_MEMORY = r"(?i)can't allocate memory|not enough memory|out of memory"

_NEEDED = "filelock matplotlib openskill pydantic rich safetensors tensorboard torch yaml".split()


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command and returns its exit code.

    It is 0, 2 for a user's error, 130 for an interruption (Ctrl-C); a training that saved and
    stopped gives 130 too, or 143 if it was a TERM signal that asked it to.
    """
    commands = parser()
    parsed, rest = commands.parse_known_args(arguments)
    # argparse takes positional arguments in one go, but settings may also stand behind options.
    unknown = [text for text in rest if "settings" not in parsed or not re.match(r"[\w.]+=", text)]
    if unknown:
        commands.error(f"unrecognized arguments: {' '.join(unknown)}")
    if rest:
        parsed.settings = [*parsed.settings, *rest]
    missing = [name for name in _NEEDED if find_spec(name) is None]
    if missing:
        print(
            f"linkzoo: {', '.join(missing)} not installed: pip install 'linkzoo[train]'",
            file=sys.stderr,
        )
        return 2
    try:
        _check_ranges(parsed)
        command = import_module(f"linkzoo_training.commands.{parsed.module}")
        return command.run(parsed) or 0
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


def _check_ranges(parsed: argparse.Namespace) -> None:
    """ValueError naming the option and what is allowed, before anything is made."""
    for name, (low, high) in _RANGES.items():
        value = getattr(parsed, name, None)
        if value is not None:
            integer(f"--{name}", value, low, high)
    for elo in getattr(parsed, "sprt", None) or ():
        if not abs(elo) <= _MOST_ELO:
            raise ValueError(f"--sprt: {elo:g} is not in -{_MOST_ELO}..{_MOST_ELO}")
    for name in ("json", "onnx", "record", "html", "gif"):
        if (path := getattr(parsed, name, None)) is not None:
            _check_writable(path / "game.json" if name == "record" and path.is_dir() else path)
    for name in ("output", "records"):
        if (folder := getattr(parsed, name, None)) is not None:
            check_folder(folder)


def check_folder(folder: Path) -> None:
    """ValueError unless files can be written into a folder, which may not be there yet."""
    there = next(path for path in (folder, *folder.parents) if path.exists())
    if not there.is_dir():
        raise ValueError(f"{folder}: {there} is no folder")
    try:
        with TemporaryFile(dir=there):
            pass
    except OSError as error:
        raise ValueError(f"{folder} can't be written: {error.strerror}") from error


def _check_writable(path: Path) -> None:
    """ValueError unless a file can be written there, so that no result is lost in the end."""
    if path.is_dir():
        raise ValueError(f"{path} is a folder")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a regular file, and would be replaced")
    if not path.parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    try:
        with TemporaryFile(dir=path.parent):
            pass
    except OSError as error:
        raise ValueError(f"{path} can't be written: {error.strerror}") from error


if __name__ == "__main__":
    sys.exit(main())
