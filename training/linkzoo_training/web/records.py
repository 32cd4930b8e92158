"""Saves played games."""

from datetime import UTC, datetime
from pathlib import Path
from secrets import token_hex

from linkzoo import GameRecord, get_game


def save_new(record: GameRecord, folder: Path) -> Path:
    """Writes a record atomically into a folder; returns the new file, named by game and time."""
    name = get_game(record.game, record.options).name
    file = folder / f"{name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(4)}.json"
    record.save(file)
    return file
