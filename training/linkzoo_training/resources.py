"""Files that travel with the package: configurations and checkpoints.

In the source tree they lie at the top (`configs/`, `checkpoints/`), in a wheel inside the package.
"""

from pathlib import Path

from linkzoo.core.arguments import shown

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
        if _exists(path):
            return path
    names = sorted(path.stem for path in shipped("configs").glob("*.yaml"))
    raise ValueError(
        f"no configuration {shown(str(path_or_name))}: give a YAML file, or one of {names}"
    )


def find_checkpoint(path_or_name: str | Path) -> Path:
    """A checkpoint's folder by its path, or a shipped one by its name; ValueError if none."""
    for path in (Path(path_or_name), shipped("checkpoints") / str(path_or_name)):
        if _exists(path / "card.json"):
            return path
    names = sorted(path.parent.name for path in shipped("checkpoints").glob("*/card.json"))
    raise ValueError(
        f"no checkpoint {shown(str(path_or_name))}: give a folder with card.json, or one of {names}"
    )


def _exists(path: Path) -> bool:
    """Whether there is such a file; no name is too long to ask."""
    try:
        return path.is_file()
    except OSError:
        return False
