"""JSON files with a format's name: results of commands, and data that the package has for games."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from linkzoo import get_game
from linkzoo.core.arguments import mapping, parse_json

T = TypeVar("T")


def read_result(path: Path, file_format: str, command: str, make: Callable[..., T]) -> T:
    """Reads a file of results.

    Args:
        path: The file.
        file_format: Its format.
        command: The command that writes such files.
        make: Called with the file's fields as keywords, but without the format.

    Raises:
        OSError: The file can't be read.
        ValueError: It is something else, or `make` raises a ValueError or TypeError.
    """
    try:
        fields = _fields(parse_json(path.read_bytes()), file_format)
        return make(**fields)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path} is no result of {command}: {error}") from error


def _fields(data: Any, file_format: str) -> dict[str, Any]:
    """Returns the fields of JSON data without the format; ValueError if it is another one."""
    fields = dict(mapping("results", data))
    if fields.pop("format", None) != file_format:
        raise ValueError(f"the format must be {file_format!r}")
    return fields


def read_game_data(folder: Path, game: str, file_format: str, kind: str) -> dict[str, Any]:
    """Returns the fields of a game's file in a folder of the package, but for the format.

    Raises:
        ValueError: There is no file of this kind for the game.
    """
    game = get_game(game).name
    path = folder / f"{game}.json"
    if not path.is_file():
        names = sorted(file.stem for file in folder.glob("*.json"))
        raise ValueError(f"{kind}: none for {game}; there are some for {names}")
    data: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if (data.pop("format"), data["game"]) != (file_format, game):
        raise ValueError(f"{path} is no {kind} of {game} in the format {file_format}")
    return data
