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
    """Returns the file of a saved game; ValueError if there is no such file in the folder."""
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
    summaries = [_summary(file, times[file]) for file in newest]
    return [summary for summary in summaries if summary is not None]


def _summary(file: Path, time: float) -> dict[str, Any] | None:
    try:  # neither compiles the game nor replays its moves
        data = parse_json(file.read_text(encoding="utf-8-sig"))
        agrees("format", data["format"], FORMAT)
        return {
            "file": file.name,
            "title": get_game(data["game"]).title,
            "players": int(data["num_players"]),
            "moves": len(data["moves"]),
            "time": int(time),
        }
    except (OSError, ValueError, TypeError, KeyError):
        return None
