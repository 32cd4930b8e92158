"""Files that travel with the package: configurations and checkpoints.

In the source tree they lie at the top (`configs/`, `checkpoints/`), in a wheel inside the package.
"""

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
_SOURCE_TREE = _PACKAGE.parent.parent


def shipped(kind: str) -> Path:
    """The folder of the shipped `configs` or `checkpoints`."""
    inside = _PACKAGE / kind
    return inside if inside.is_dir() else _SOURCE_TREE / kind


def find_config(path_or_name: str | Path) -> Path:
    """A YAML file by its path, or a shipped one by its name; ValueError if there is none."""
    named = shipped("configs") / f"{path_or_name}.yaml"
    for path in (Path(path_or_name), named):
        if path.is_file():
            return path
    names = sorted(path.stem for path in shipped("configs").glob("*.yaml"))
    raise ValueError(f"no configuration {str(path_or_name)!r}: give a YAML file, or one of {names}")


def find_checkpoint(path_or_name: str | Path) -> Path:
    """A checkpoint's folder by its path, or a shipped one by its name; ValueError if none."""
    for path in (Path(path_or_name), shipped("checkpoints") / str(path_or_name)):
        if (path / "card.json").is_file():
            return path
    names = sorted(path.parent.name for path in shipped("checkpoints").glob("*/card.json"))
    raise ValueError(
        f"no checkpoint {str(path_or_name)!r}: give a folder with card.json, or one of {names}"
    )
