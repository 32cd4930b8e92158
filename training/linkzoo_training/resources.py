"""Configurations and checkpoints that ship with the package, and optional packages.

The files are at the top of the source tree (`configs/`, `checkpoints/`), in a wheel in `shipped/`.
"""

import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from linkzoo.core.arguments import shown
from linkzoo.core.installing import install_command
from linkzoo.core.urls import local_copy

STATE_FILE = "training.safetensors"  # in a run's folder: its state, for an exact resume

_PACKAGE = Path(__file__).resolve().parent
_SOURCE_TREE = _PACKAGE.parent.parent


def check_installed(extra: str, *modules: str) -> None:
    """Raises ValueError if a module of an extra isn't installed."""
    missing = [name for name in modules if find_spec(name) is None]
    if missing:
        raise ValueError(f"{', '.join(missing)} not installed: {install_command(extra)}")


def shipped(kind: str) -> Path:
    """Returns the folder of the shipped `configs` or `checkpoints`."""
    in_wheel = _PACKAGE / "shipped" / kind
    if in_wheel.is_dir():
        return in_wheel
    return _SOURCE_TREE / kind


def find_config(path_or_name: str | Path, folder: Path = Path()) -> Path:
    """Returns the path of a YAML file, relative to `folder`, or of a shipped configuration.

    Raises:
        ValueError: There is no such file.
    """
    text = str(path_or_name)
    for path in (folder / text, shipped("configs") / f"{text}.yaml"):
        if file_exists(path):
            return path
    names = sorted(path.stem for path in shipped("configs").glob("*.yaml"))
    missing = f"no configuration {shown(text)}"
    if folder != Path():
        missing += f" in {folder}"
    raise ValueError(f"{missing}: give a YAML file, a game, or one of {', '.join(names)}")


@cache
def shipped_checkpoints() -> tuple[str, ...]:
    """Returns the names of the checkpoints that ship with the package."""
    names = [path.parent.name for path in shipped("checkpoints").glob("*/card.json")]
    return tuple(sorted(names))


@cache
def best_checkpoints() -> dict[str, str]:
    """Returns the name of each game's best shipped checkpoint, which the game's own name loads."""
    path = shipped("checkpoints") / "best.json"
    names: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return names


def checkpoint_names() -> list[str]:
    """Returns all names of shipped checkpoints: their own, and the games'."""
    return sorted([*best_checkpoints(), *shipped_checkpoints()])


def is_checkpoint(folder: str | Path) -> bool:
    """Returns whether a folder holds a checkpoint."""
    return file_exists(local_copy(folder) / "card.json")


def find_checkpoint(path_or_name: str | Path) -> Path:
    """Returns the folder of a checkpoint, given as a folder, a URL, or by a shipped name.

    A game's name is that of its best checkpoint. A string is first taken as a name: write
    `./linkage` for a folder of that name.

    Raises:
        ValueError: There is no such checkpoint.
    """
    if not isinstance(path_or_name, str | Path):
        raise ValueError(f"checkpoint: {shown(path_or_name)} is not a name or a path")
    text = str(path_or_name)
    names = checkpoint_names()
    exists = is_checkpoint(path_or_name)
    if text in names and (isinstance(path_or_name, str) or not exists):
        return shipped("checkpoints") / best_checkpoints().get(text, text)
    if exists:
        return local_copy(path_or_name)
    missing = f"no checkpoint {shown(text)}"
    inner = Path(path_or_name) / "checkpoint"  # of a run's folder
    run = Path(path_or_name)
    if run.name == "checkpoint":
        run = run.parent
    if is_checkpoint(inner):
        missing += f" (did you mean {inner}?)"
    elif file_exists(run / STATE_FILE):
        missing += f" (the run {run} hasn't ended: continue it with --resume)"
    raise ValueError(f"{missing}: give a folder with card.json, or one of {names}")


def file_exists(path: Path) -> bool:
    """Returns whether a file exists; False for a path that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False
