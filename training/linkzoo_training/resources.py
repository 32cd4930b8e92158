"""Files that ship with the package: configurations and checkpoints.

They are at the top of the source tree (`configs/`, `checkpoints/`), and in `shipped/` in a wheel.
"""

from pathlib import Path

from linkzoo.core.arguments import shown

_PACKAGE = Path(__file__).resolve().parent
_SOURCE_TREE = _PACKAGE.parent.parent


def shipped(kind: str) -> Path:
    """Returns the folder of the shipped `configs` or `checkpoints`."""
    inside = _PACKAGE / "shipped" / kind
    return inside if inside.is_dir() else _SOURCE_TREE / kind


def find_config(path_or_name: str | Path) -> Path:
    """Returns the path of a YAML file or of a shipped configuration; raises ValueError if none."""
    named = shipped("configs") / f"{path_or_name}.yaml"
    for path in (Path(path_or_name), named):
        if _exists(path):
            return path
    names = sorted(path.stem for path in shipped("configs").glob("*.yaml"))
    raise ValueError(
        f"no configuration {shown(str(path_or_name))}: give a YAML file, or one of {names}"
    )


def shipped_checkpoints() -> list[str]:
    """Returns the names of the checkpoints that ship with the package."""
    return sorted(path.parent.name for path in shipped("checkpoints").glob("*/card.json"))


def is_checkpoint(folder: str | Path) -> bool:
    """Returns whether a folder holds a checkpoint."""
    return _exists(Path(folder) / "card.json")


def find_checkpoint(path_or_name: str | Path) -> Path:
    """Returns the folder of a checkpoint.

    Args:
        path_or_name: The name of a shipped checkpoint, or a folder. A string without a separator is
            first taken as a name: write `./linkage` for a folder with a shipped checkpoint's name.

    Raises:
        ValueError: There is no such checkpoint.
    """
    text, names = str(path_or_name), shipped_checkpoints()
    if isinstance(path_or_name, str) and text in names:
        return shipped("checkpoints") / text
    if is_checkpoint(path_or_name):
        return Path(path_or_name)
    if text in names:
        return shipped("checkpoints") / text
    inner = Path(path_or_name) / "checkpoint"
    hint = f" (did you mean {inner}?)" if is_checkpoint(inner) else ""
    raise ValueError(
        f"no checkpoint {shown(text)}{hint}: give a folder with card.json, or one of {names}"
    )


def _exists(path: Path) -> bool:
    """Returns whether a file exists; False for a path that is too long."""
    try:
        return path.is_file()
    except OSError:
        return False
