"""Saved games in a folder."""

import re
from pathlib import Path
from typing import Any

from linkzoo import get_game
from linkzoo.core.arguments import agrees, parse_json, shown
from linkzoo.record import FORMAT

MOST_LISTED = 200  # records that a page lists, the newest
_NAME = re.compile(r"[A-Za-z0-9_][\w.-]{0,120}\.json")


def find_saved(folder: Path, name: str) -> Path:
    """Returns the file of a saved game; ValueError if the folder has none of that name."""
    file = folder / name
    if not _NAME.fullmatch(name) or not file.is_file():
        raise ValueError(f"no saved game {shown(name)}")
    return file


def list_saved(folder: Path) -> list[dict[str, Any]]:
    """Returns the games saved in a folder, the newest first: file, game, players and moves.

    Files that hold no record of a known game are left out.
    """
    files = [file for file in folder.glob("*.json") if _NAME.fullmatch(file.name)]
    times = {file: file.stat().st_mtime for file in files if file.is_file()}
    newest = sorted(times, key=lambda file: -times[file])[:MOST_LISTED]
    return [found for file in newest if (found := _summary(file, times[file])) is not None]


def _summary(file: Path, time: float) -> dict[str, Any] | None:
    try:  # neither compiles the game nor replays its moves
        data = parse_json(file.read_text(encoding="utf-8-sig"))
        agrees("format", data["format"], FORMAT)
        title, players, moves = get_game(data["game"]).title, data["num_players"], data["moves"]
        return {
            "file": file.name,
            "title": title,
            "players": int(players),
            "moves": len(moves),
            "time": int(time),
        }
    except (OSError, ValueError, TypeError, KeyError):
        return None
