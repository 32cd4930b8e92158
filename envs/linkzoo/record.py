"""Game records: a seed, the options and the actions, saved as JSON and replayed exactly."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from html import escape
from pathlib import Path
from secrets import token_hex
from typing import Any

import numpy as np

from linkzoo.core import arguments
from linkzoo.core.files import write_atomically
from linkzoo.core.game import Game
from linkzoo.core.history import Event, History
from linkzoo.core.kernels import kernels
from linkzoo.core.options import full_options, written_names
from linkzoo.core.state import Record
from linkzoo.registry import get_game, get_same_game, id_of

FORMAT = "linkzoo-record/1"


@dataclass
class GameRecord:
    """One game as it was played: the position it began with and the actions taken.

    Attributes:
        game: The game's name, `module:name` or `FILE.py:name`.
        version: Its version.
        num_players: The number of players.
        options: Its options, all of them; a file is named with its whole path.
        seed: The seed of the game.
        start: None for a game that began with its set-up, else a position of `to_dict`.
        actions: The actions, in order.
        digest: The digest of the board or the cards (`Game.digest`); other data aren't replayed.
            None: unknown, as in old records, or the game has none.
        comments: The agents' comments on their actions, by index.
        names: The names of the players by seat, "" without a name; empty: none has a name.
    """

    game: str
    version: int
    num_players: int
    options: dict[str, Any]
    seed: int
    start: dict[str, Any] | None = None
    actions: list[int] = field(default_factory=list)
    digest: str | None = None
    comments: dict[int, str] = field(default_factory=dict, init=False)
    names: list[str] = field(default_factory=list, init=False)

    @classmethod
    def of(cls, game: Game, state: Record, start: dict[str, Any] | None = None) -> "GameRecord":
        """Returns the record, without actions yet, of a game with a position's seed and options."""
        return cls(
            game=id_of(game),
            version=game.version,
            num_players=int(state.num_players),
            options=game.chosen_options(state),
            seed=int(state.seed),
            start=start,
            digest=game.digest,
        )

    def replay(self) -> Iterator[Record]:
        """Yields the position at the start and after each action, each a record of its own.

        Raises:
            ValueError: Names a field that is wrong, or the first action that isn't legal.
        """
        game = self._rules()
        game.check_version(self.version)
        seed = arguments.integer("seed", self.seed, 0, 2**64 - 1)
        players = arguments.integer("num_players", self.num_players, *game.players)
        kernel = kernels(game)
        states = np.zeros(1, game.state)
        mask = np.empty((1, game.num_actions), np.int8)
        if self.start is None:
            states[0] = game.blank(players, self.options)
            kernel.begin(states, np.array([seed], np.uint64), mask)
        else:
            states[0] = game.from_dict(self.start)
            self._check_start(game, states[0])
            kernel.fill_masks.serial(states, mask)
        yield states.copy()[0]
        for index, action in enumerate(self.actions):
            known = arguments.is_integer(action) and 0 <= action < game.num_actions
            if not known or not mask[0, action]:
                raise ValueError(f"actions[{index}]: {arguments.shown(action)} is not legal")
            kernel.play_one(states, int(action), mask[0])
            yield states.copy()[0]

    def history(self, seat: int) -> list[Event]:
        """Returns the moves, as far as a seat may know them.

        Args:
            seat: The seat that remembers.

        Raises:
            ValueError: As `replay`, or there is no such seat.
        """
        return History(self._rules(), next(self.replay()), self.actions).events(seat)

    def _check_start(self, game: Game, state: Record) -> None:
        """Raises ValueError if the start has another number of players, options or seed."""
        arguments.agrees("num_players", self.num_players, int(state.num_players))
        arguments.agrees("seed", self.seed, int(state.seed))
        options = game.chosen_options(game.blank(int(state.num_players), self.options))
        arguments.agrees("options", options, game.chosen_options(state))

    def _rules(self) -> Game:
        if not isinstance(self.actions, list):
            raise ValueError(f"actions: {arguments.shown(self.actions)} is not a list")
        options = arguments.mapping("options", self.options)
        return get_same_game(self.game, options, self.digest)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the fields of the record, with `moves` in the game's notation.

        Numbers of NumPy become Python's, and options that the record doesn't name are added.

        Raises:
            ValueError: Names a field that is wrong, or the first action that isn't legal.
        """
        game = self._rules()
        positions = list(self.replay())
        moves = [
            game.notation.action_to_text(state, action)
            for state, action in zip(positions, self.actions, strict=False)
        ]
        data: dict[str, Any] = {
            "format": FORMAT,
            "game": self.game,
            "version": game.version,
            "num_players": int(self.num_players),
            "options": game.chosen_options(positions[0]),
            "seed": int(self.seed),
            "start": None,
        }
        if self.start is not None:
            data["start"] = game.to_dict(positions[0])
        if self.digest is not None:
            data["digest"] = self.digest
        if any(self.names):
            data["names"] = _names(self.names, self.num_players)
        data["moves"] = moves
        if self.comments:
            data["comments"] = {  # without comments of moves that were taken back
                str(index): arguments.string(f"comments[{index}]", self.comments[index])
                for index in range(len(moves))
                if self.comments.get(index)
            }
        return data

    def _repr_html_(self) -> str:
        game = self._rules()
        *_, last = self.replay()
        moves = "".join(f"<li>{escape(move)}</li>" for move in self.to_dict()["moves"])
        count = f"{len(self.actions)} moves, seed {self.seed}"
        return f"{game.draw_svg(last)}<details><summary>{count}</summary><ol>{moves}</ol></details>"

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "GameRecord":
        """Returns the record of `to_dict`; ValueError names the field or the move that is wrong."""
        keys = "format game version num_players options seed start moves"
        arguments.check_keys("record", data, keys.split(), optional=("digest", "names", "comments"))
        arguments.agrees("format", data["format"], FORMAT)
        game = get_game(data["game"])
        game.check_version(data["version"])
        digest = None
        if "digest" in data:
            digest = arguments.string("digest", data["digest"])
        game = get_same_game(data["game"], data["options"], digest)
        fixed = game.fixed
        names = written_names(game.options, fixed.values, fixed.digest)
        arguments.check_keys("options", data["options"], names)
        players = arguments.integer("num_players", data["num_players"], *game.players)
        seed = arguments.integer("seed", data["seed"], 0, 2**64 - 1)
        options = full_options(data["options"], game.options, fixed.values, fixed.digest)
        start = data["start"]
        record = cls(id_of(game), game.version, players, options, seed, start, digest=digest)
        if "names" in data:
            record.names = _names(data["names"], players)
        positions = record.replay()
        state = next(positions)
        arguments.agrees("options", record.options, game.chosen_options(state))
        # `replay` reads `actions` as it grows.
        for index, text in enumerate(arguments.sequence("moves", data["moves"], 0, 32767)):
            try:
                move = arguments.string("move", text)
                record.actions.append(game.notation.text_to_action(state, move))
                state = next(positions)
            except ValueError as error:
                raise ValueError(f"moves[{index}]: {error}") from error
        indices = set(map(str, range(len(record.actions))))
        for key, text in arguments.mapping("comments", data.get("comments", {})).items():
            if key not in indices:
                raise ValueError(f"comments: {arguments.shown(key)} is no index of `moves`")
            record.comments[int(key)] = arguments.string(f"comments[{key}]", text)
        return record

    def save(self, path: str | Path) -> None:
        """Writes the record as JSON, whole or not at all.

        Raises:
            OSError: The file can't be written; the error names the path.
        """
        write_atomically(Path(path), (json.dumps(self.to_dict(), indent=1) + "\n").encode())

    @classmethod
    def load(cls, path: str | Path) -> "GameRecord":
        """Reads a record that `save` wrote.

        Raises:
            ValueError: The file isn't a record; the message names the file and the error.
            OSError: The file can't be read.
        """
        try:
            data = arguments.parse_json(Path(path).read_text(encoding="utf-8-sig"))
        except ValueError as error:
            raise ValueError(f"{path}: not valid JSON ({error})") from error
        try:
            return cls.from_dict(data)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _names(names: Any, players: int) -> list[str]:
    """Returns the names of the players; ValueError unless each has a text."""
    texts = arguments.sequence("names", names, players, players)
    return [arguments.string(f"names[{seat}]", name) for seat, name in enumerate(texts)]


def new_file_name(record: GameRecord) -> str:
    """Returns an unused name for a record's file: the game, the time and random characters."""
    game = get_game(record.game, record.options)
    return f"{game.name}-{datetime.now(UTC):%Y%m%d-%H%M%S}-{token_hex(4)}.json"
