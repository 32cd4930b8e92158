r"""Files of positions: openings, starts of training games, and positions with known values.

A file of positions is text in UTF-8 with one JSON object per line (JSON lines):

| field | |
|---|---|
| `position` | the position, as of `Game.to_dict`; required |
| `values` | values of the legal actions in order, for the seat to act, on the scale of payoffs |
| `solution` | an exact solution: `winner`, `winning` (moves) and `score` (`linkzoo data solve`) |
| `record` | the path of the game's record (`linkzoo data positions`) |

Other fields are free. The first line may be an object `{"about": {...}}` that describes the file.
Empty lines are skipped.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import mapping, parse_json, shown, string
from linkzoo.core.files import write_atomically
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.core.urls import local_copy
from linkzoo.registry import get_same_game


@dataclass(frozen=True)
class PositionFile:
    """The N positions of a file, N > 0.

    Attributes:
        path: The file, or its URL.
        game: The game of all positions, with its board or cards.
        states: Records [N], in each of which a seat is to act.
        lines: The JSON objects of the positions, N.
        numbers: The numbers of their lines in the file, N.
        about: The description of the file; empty if it has none.
    """

    path: str
    game: Game
    states: NDArray[Any]
    lines: Sequence[Mapping[str, Any]]
    numbers: Sequence[int]
    about: Mapping[str, Any]

    def values(self) -> NDArray[np.float32]:
        """Returns the field `values`, float32[N, num_actions], NaN for illegal actions.

        Raises:
            ValueError: Names the first line whose field isn't one finite number per legal action.
        """
        masks = np.empty((len(self.states), self.game.num_actions), np.int8)
        kernels(self.game).fill_masks(self.states, masks)
        values = np.full(masks.shape, np.nan, np.float32)
        for row, (number, line) in enumerate(zip(self.numbers, self.lines, strict=True)):
            legal = np.flatnonzero(masks[row])
            try:
                numbers = np.array(line.get("values"), np.float32)
            except (ValueError, TypeError, OverflowError):
                numbers = np.zeros(0, np.float32)
            if numbers.shape != legal.shape or not np.isfinite(numbers).all():
                raise ValueError(
                    f"{self.path}: line {number}: values: {len(legal)} finite numbers are needed, "
                    "one per legal action"
                )
            values[row, legal] = numbers
        return values


def load_positions(path: str | Path, game: Game) -> NDArray[Any]:
    """Reads the records of a file of positions.

    Args:
        path: The file, or its URL.
        game: The game of all positions, with its board or cards.

    Returns:
        Records [N], N > 0, in each of which a seat is to act.

    Raises:
        ValueError: Names the first line that is wrong, and why.
        OSError: The file can't be read.
    """
    return read_position_file(path, game).states


def read_position_file(path: str | Path, game: Game | None = None) -> PositionFile:
    """Reads a file of positions.

    Args:
        path: The file, or its URL.
        game: The game of all positions, with its board or cards; None for the first line's.

    Raises:
        ValueError: Names the first line that is wrong, and why.
        OSError: The file can't be read.
    """
    return parse_position_file(path, local_copy(path).read_bytes(), game)


def parse_position_file(path: str | Path, data: bytes, game: Game | None = None) -> PositionFile:
    """Reads the bytes of a file of positions; raises as `read_position_file`."""
    about, numbered_lines = _split(path, data)
    states = []
    for number, line in numbered_lines:
        try:
            position = mapping("position", line["position"])
            game = _game_of(position) if game is None else game
            states.append(_read_state(position, game))
        except ValueError as error:
            raise ValueError(f"{path}: line {number}: {error}") from error
    if game is None:
        raise ValueError(f"{path}: no positions")
    numbers = [number for number, _ in numbered_lines]
    lines = [line for _, line in numbered_lines]
    return PositionFile(str(path), game, np.array(states, game.state), lines, numbers, about)


def _split(
    path: str | Path, data: bytes
) -> tuple[Mapping[str, Any], list[tuple[int, dict[str, Any]]]]:
    """Returns the description of a file, and its positions' lines with their numbers."""
    about: Mapping[str, Any] = {}
    lines = []
    for number, line in _json_lines(path, data):
        if number == 1 and isinstance(line, dict) and line.keys() == {"about"}:
            about = mapping(f"{path}: line 1: about", line["about"])
        elif isinstance(line, dict) and "position" in line:
            lines.append((number, line))
        else:
            raise ValueError(f"{path}: line {number}: {shown(line)} has no field `position`")
    if not lines:
        raise ValueError(f"{path}: no positions")
    return about, lines


def _json_lines(path: str | Path, data: bytes) -> Iterator[tuple[int, Any]]:
    """Yields the numbers and the JSON data of the lines that aren't empty."""
    try:
        text = data.decode("utf-8-sig")
    except ValueError as error:
        raise ValueError(f"{path}: not UTF-8 ({error})") from error
    for number, line in enumerate(text.split("\n"), 1):
        if line.strip():
            try:
                yield number, parse_json(line)
            except ValueError as error:
                raise ValueError(f"{path}: line {number}: not valid JSON ({error})") from error


def _game_of(position: Mapping[str, Any]) -> Game:
    """Returns the game of a position, with its board or cards."""
    options = mapping("options", position.get("options"))
    return get_same_game(string("game", position.get("game")), options, position.get("digest"))


def _read_state(position: Mapping[str, Any], game: Game) -> Record:
    """Returns the record of a position; ValueError if it is another game's, or over."""
    if position.get("game") != game.name:
        raise ValueError(f"a position of {shown(position.get('game'))}, not of {game.name!r}")
    state = game.from_dict(position)
    if state.seat < 0:
        raise ValueError("the game is over: no seat is to act")
    return state


def save_positions(
    path: str | Path,
    game: Game,
    states: NDArray[Any],
    fields: Sequence[Mapping[str, Any]] | None = None,
    about: Mapping[str, Any] | None = None,
) -> None:
    """Writes a file of positions, whole or not at all.

    Args:
        path: The file.
        game: The game.
        states: Records [N].
        fields: More fields of each line; None for none.
        about: A description of the file; None for none.

    Raises:
        OSError: The file can't be written; the error names the path.
    """
    if fields is None:
        fields = [{}] * len(states)
    lines = [
        {"position": game.to_dict(state), **mapping("fields", more)}
        for state, more in zip(states, fields, strict=True)
    ]
    write_position_lines(path, lines, about or {})


def write_position_lines(
    path: str | Path, lines: Sequence[Mapping[str, Any]], about: Mapping[str, Any]
) -> None:
    """Writes a file of positions from the JSON objects of its lines and its description."""
    objects = [{"about": about}, *lines] if about else lines
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in objects)
    write_atomically(Path(path), text.encode())
