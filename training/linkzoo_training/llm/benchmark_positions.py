"""Benchmark positions: fixed sets for each game, with the values of all legal actions.

The files of positions in `benchmark_positions/` are made by `lab/benchmark_positions.py`: a set of
the whole game, and sets of editions, whose values are exact.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo.position_file import read_position_file

BENCHMARK_POSITIONS = Path(__file__).parent / "benchmark_positions"
EDITIONS = BENCHMARK_POSITIONS / "editions"  # GAME.EDITION.jsonl


@dataclass(frozen=True)
class BenchmarkPositions:
    """N positions of a game, and the values of their legal actions.

    Attributes:
        game: The game.
        title: The subject of the test.
        blunder: Smallest loss of a blunder against the best action.
        states: Records [N].
        values: float32[N, num_actions], for the seat to act, on the scale of payoffs; NaN for
            illegal actions.
        options: Options of the game, an edition's.
    """

    game: Game
    title: str
    blunder: float
    states: NDArray[Any]
    values: NDArray[np.float32]
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def lost(self) -> NDArray[np.float32]:
        """The loss of each action against the best one, [N, num_actions]."""
        best: NDArray[np.float32] = np.nanmax(self.values, 1, keepdims=True)
        return best - self.values

    def first(self, count: int) -> "BenchmarkPositions":
        """Returns the first positions, all of them if there are no more."""
        return replace(self, states=self.states[:count], values=self.values[:count])


def benchmark_games() -> list[str]:
    """Returns the games that have benchmark positions."""
    return sorted(file.stem for file in BENCHMARK_POSITIONS.glob("*.jsonl"))


def read_benchmark_positions(name: str) -> BenchmarkPositions:
    """Returns a game's benchmark positions; ValueError if it has none or its rules have changed."""
    game = get_game(name)
    path = BENCHMARK_POSITIONS / f"{game.name}.jsonl"
    if not path.is_file():
        games = benchmark_games()
        raise ValueError(f"no benchmark positions for {game.name}; there are some for {games}")
    return _read(path, game, {})


def read_edition_positions(name: str) -> list[BenchmarkPositions]:
    """Returns the benchmark positions of a game's editions, with exact values.

    A value is what the seat expects of an action if all play an equilibrium afterwards, over all
    that it can't see.

    Raises:
        ValueError: The rules have changed since.
    """
    game = get_game(name)
    known = []
    for path in sorted(EDITIONS.glob(f"{game.name}.*.jsonl")):
        edition = path.stem.partition(".")[2]
        options = game.editions[edition]
        known.append(_read(path, get_game(name, options), options))
    return known


def _read(path: Path, game: Game, options: Mapping[str, Any]) -> BenchmarkPositions:
    file = read_position_file(path, game)
    return BenchmarkPositions(
        game=game,
        title=file.about["title"],
        blunder=file.about["blunder"],
        states=file.states,
        values=file.values(),
        options=options,
    )
