"""Benchmark positions: a fixed set for each game, with the values of all legal actions.

The files in `benchmark_positions/` are made by `lab/benchmark_positions.py`.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, get_game
from linkzoo.core.arguments import agrees, check_keys, parse_json
from linkzoo.core.kernels import kernels

FORMAT = "linkzoo-benchmark-positions/1"
BENCHMARK_POSITIONS = Path(__file__).parent / "benchmark_positions"
_KEYS = "format game title blunder positions".split()


@dataclass(frozen=True)
class BenchmarkPositions:
    """N positions of a game, and what their legal actions are worth to the seat to act.

    Attributes:
        game: The game.
        title: What is tested.
        blunder: By how much a blunder is worth less than the best action, at least.
        states: Records [N].
        values: float32[N, num_actions], on the scale of payoffs; NaN for illegal actions.
    """

    game: Game
    title: str
    blunder: float
    states: NDArray[Any]
    values: NDArray[np.float32]

    @property
    def lost(self) -> NDArray[np.float32]:
        """By how much each action is worth less than the best, [N, num_actions]."""
        best: NDArray[np.float32] = np.nanmax(self.values, 1, keepdims=True)
        return best - self.values

    def first(self, count: int) -> "BenchmarkPositions":
        """Returns the first positions, all of them if there are no more."""
        parts = self.states[:count], self.values[:count]
        return BenchmarkPositions(self.game, self.title, self.blunder, *parts)


def benchmark_games() -> list[str]:
    """Returns the games that have benchmark positions."""
    return sorted(file.stem for file in BENCHMARK_POSITIONS.glob("*.json"))


def read_benchmark_positions(name: str) -> BenchmarkPositions:
    """Returns a game's benchmark positions; ValueError if it has none or its rules have changed."""
    game = get_game(name)
    path = BENCHMARK_POSITIONS / f"{game.name}.json"
    if not path.is_file():
        games = benchmark_games()
        raise ValueError(f"no benchmark positions for {game.name}; there are some for {games}")
    try:
        data = parse_json(path.read_bytes())
        check_keys("benchmark positions", data, _KEYS)
        agrees("format", data["format"], FORMAT)
        entries = data["positions"]
        states = np.array([game.from_dict(entry["position"]) for entry in entries])
        masks = np.empty((len(states), game.num_actions), np.int8)
        kernels(game).fill_masks(states, masks)
        agrees("values", [len(entry["values"]) for entry in entries], masks.sum(1).tolist())
    except ValueError as error:
        raise ValueError(f"{path}, for the rules of another version: {error}") from error
    values = np.full(masks.shape, np.nan, np.float32)
    values[masks == 1] = np.concatenate([entry["values"] for entry in entries])
    return BenchmarkPositions(game, data["title"], data["blunder"], states, values)
