"""What the JSON of a position begins with, whatever the game."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import agrees, check_keys, integer
from linkzoo.core.game import read_options, write_options


@dataclass(frozen=True)
class Head:
    """Writes and reads how positions of a game begin; the facts are those of its `Game`."""

    name: str
    version: int
    options: Callable[..., Any]
    state: np.dtype[Any]
    min_players: int
    max_players: int
    max_length: int
    fixed: Mapping[str, Any] = field(default_factory=dict)
    digest: int = 0

    def write(self, state: Record) -> dict[str, Any]:
        """The game, its version and options, the seed and the number of players."""
        return {
            "game": self.name,
            "version": self.version,
            "options": read_options(state, self.options, self.fixed),
            "seed": int(state.seed),
            "num_players": int(state.num_players),
        }

    def read(
        self, data: Mapping[str, Any], required: Collection[str], optional: Collection[str] = ()
    ) -> Record:
        """A record with what `write` has written, and its ply, all else 0.

        Without a seed it is 0. ValueError names a field that is missing (`required`), unknown (not
        `optional` either) or wrong.
        """
        check_keys("position", data, required, optional)
        agrees("game", data["game"], self.name)
        agrees("version", data["version"], self.version)
        names = [option.name for option in fields(self.options)]  # type: ignore[arg-type]
        check_keys("options", data["options"], names)
        state: Record = np.zeros(1, self.state)[0]
        chosen = self.options(**data["options"])
        for name in names:  # a position says each of them, even what is usual
            agrees(f"options: {name}", data["options"][name], getattr(chosen, name))
        write_options(state, chosen, self.fixed, self.digest)
        if "digest" in data:  # of what a file had when the position was written
            agrees("digest", data["digest"], f"{self.digest:012x}")
        low, high = self.min_players, self.max_players
        state.num_players = integer("num_players", data["num_players"], low, high)
        state.seed = np.uint64(integer("seed", data.get("seed", 0), 0, 2**64 - 1))
        # A game that goes on from there still fits the record.
        state.ply = integer("ply", data["ply"], 0, 2**15 - 1 - self.max_length)
        return state


def winners_of(state: Record) -> list[int]:
    """The seats that have won."""
    return [seat for seat in range(state.num_players) if int(state.winners) >> seat & 1]


def or_none(number: Any) -> int | None:
    """A number of a record, None for -1."""
    return None if number == -1 else int(number)
