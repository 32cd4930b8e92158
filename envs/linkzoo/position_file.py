"""Files of positions (JSON lines): opening books, test positions, starts of training games.

Each line is a JSON object. Its field `position` is a position of `Game.to_dict`; other fields are
free, such as where the position comes from.
"""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import mapping, parse_json, shown
from linkzoo.core.files import write_atomically
from linkzoo.core.game import Game


def load_positions(path: str | Path, game: Game) -> NDArray[Any]:
    """Reads a file of positions.

    Args:
        path: The file.
        game: The game of all positions, with its board or cards.

    Returns:
        Records [N], N > 0, in each of which a seat is to act.

    Raises:
        ValueError: Names the first line that is wrong, and why.
        OSError: The file can't be read.
    """
    lines = read_lines(path)
    states = np.zeros(len(lines), game.state)
    for number, line in enumerate(lines):
        try:
            position = mapping("position", line["position"])
            if position.get("game") != game.name:
                name = shown(position.get("game"))
                raise ValueError(f"a position of {name}, not of {game.name!r}")  # noqa: TRY301
            states[number] = game.from_dict(position)
            if states[number]["seat"] < 0:
                raise ValueError("the game is over: no seat is to act")  # noqa: TRY301
        except ValueError as error:
            raise ValueError(f"{path}: line {number + 1}: {error}") from error
    return states


def read_lines(path: str | Path) -> list[dict[str, Any]]:
    """Returns the lines of a file as JSON objects; raises as `load_positions`."""
    lines = []
    try:
        text = Path(path).read_text(encoding="utf-8-sig")
    except ValueError as error:
        raise ValueError(f"{path}: not UTF-8 ({error})") from error
    for number, line in enumerate(text.splitlines(), 1):
        try:
            found = parse_json(line)
        except ValueError as error:
            raise ValueError(f"{path}: line {number}: not valid JSON ({error})") from error
        if not isinstance(found, dict) or "position" not in found:
            raise ValueError(f"{path}: line {number}: {shown(found)} has no field `position`")
        lines.append(found)
    if not lines:
        raise ValueError(f"{path}: no positions")
    return lines


def save_positions(
    path: str | Path,
    game: Game,
    states: NDArray[Any],
    fields: Sequence[Mapping[str, Any]] | None = None,
) -> None:
    """Writes a file of positions, whole or not at all.

    Args:
        path: The file.
        game: The game.
        states: Records [N].
        fields: More fields of each line; None for none.

    Raises:
        OSError: The file can't be written; the error names the path.
    """
    more = [{}] * len(states) if fields is None else [mapping("fields", one) for one in fields]
    pairs = zip(states, more, strict=True)
    write_lines(path, [{"position": game.to_dict(state), **own} for state, own in pairs])


def write_lines(path: str | Path, lines: Sequence[Mapping[str, Any]]) -> None:
    """Writes JSON objects, one per line."""
    write_atomically(Path(path), "".join(f"{json.dumps(line)}\n" for line in lines).encode())
