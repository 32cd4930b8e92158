"""Solved positions, and the blunder rate of an agent: how often it throws away a win.

The files of positions in `solved_positions/` are made by `lab/solved_positions.py`: `values` has 1
for an action that wins and -1 for another, at least one of each.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, get_game
from linkzoo.position_file import parse_position_file
from linkzoo_training.agents.playing import actions_in
from linkzoo_training.evaluation.openings import digest
from linkzoo_training.evaluation.result import side_label
from linkzoo_training.evaluation.statistics import Estimate, wilson

SOLVED_POSITIONS = Path(__file__).parent / "solved_positions"


@dataclass(frozen=True)
class SolvedPositions:
    """N solved positions of a game with standard options, all from different games."""

    game: Game
    states: NDArray[Any]  # [N]
    wins: NDArray[np.int8]  # [N, num_actions]: 1 wins, 0 doesn't, -1 is illegal


def read_solved_positions(game: Game) -> SolvedPositions:
    """Returns a game's solved positions; ValueError if it has none or its rules have changed."""
    path = SOLVED_POSITIONS / f"{game.name}.jsonl"
    if not path.is_file():
        names = sorted(file.stem for file in SOLVED_POSITIONS.glob("*.jsonl"))
        raise ValueError(f"no solved positions for {game.name}; there are some for {names}")
    return _parse(path, path.read_bytes(), game)


@cache
def _parse(path: Path, data: bytes, game: Game) -> SolvedPositions:
    """Reads the bytes of a file of solved positions, which takes seconds."""
    file = parse_position_file(path, data, game)
    values = file.values()
    wins = np.full(values.shape, -1, np.int8)
    wins[values > 0] = 1
    wins[values <= 0] = 0
    return SolvedPositions(game, file.states, wins)


class Rates(NamedTuple):
    """The number of positions, and the blunder rates of an agent and of random play in them."""

    positions: int
    share: Estimate  # with Wilson's interval
    random: float

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data."""
        return {**self._asdict(), "share": self.share._asdict()}


@dataclass(frozen=True)
class BlunderRate:
    """An agent's blunders in N solved positions."""

    solved: SolvedPositions
    agent: str
    seed: int
    blunders: NDArray[np.bool_]  # [N]

    def rates(self, seat: int | None = None) -> Rates:
        """Returns the results in the positions of all seats or of one."""
        seats = self.solved.states["seat"]
        chosen = np.full(len(seats), True)
        if seat is not None:
            chosen = seats == seat
        count = int(chosen.sum())
        wins = self.solved.wins[chosen]
        random = float(((wins == 0).sum(1) / (wins >= 0).sum(1)).mean())
        return Rates(count, wilson(float(self.blunders[chosen].mean()), count), random)

    def seats(self) -> list[int]:
        """Returns the seats to act in the positions."""
        return sorted(set(self.solved.states["seat"].tolist()))

    def seat_label(self, seat: int | None) -> str:
        """Returns `More (seat 0)`."""
        if seat is None:
            return "all seats"
        game = self.solved.game
        players = int(self.solved.states["num_players"][0])
        return side_label(game, players, seat, game.facts.seat_names)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the rates, and 1 or 0 per position."""
        game = self.solved.game
        seats = [{"label": self.seat_label(s), **self.rates(s).to_dict()} for s in self.seats()]
        return {
            "game": game.name,
            "version": game.version,
            "positions_sha256": digest(self.solved.states),
            "agent": self.agent,
            "seed": self.seed,
            **self.rates().to_dict(),
            "seats": seats,
            "blunders": self.blunders.astype(int).tolist(),
        }


def with_blunder_rate(card: Mapping[str, Any], result: BlunderRate) -> dict[str, Any]:
    """Returns a checkpoint's card with this result, which replaces the agent's earlier result."""
    data = result.to_dict()
    del data["blunders"]
    data["command"] = f"linkzoo evaluate {result.agent} --solved-positions --seed {result.seed}"
    kept = [entry for entry in card.get("blunder_rate", []) if entry["agent"] != result.agent]
    return {**card, "blunder_rate": [*kept, data]}


def measure_blunders(
    game: str,
    agent: Agent,
    *,
    seed: int = 0,
    batch: int = 64,
    progress: Callable[[int, int], None] = lambda *_: None,
) -> BlunderRate:
    """Measures an agent's blunder rate on a game's solved positions.

    `seed` fixes the agent's seeds. Calls `progress(finished, positions)` after each batch.

    Raises:
        ValueError: The game has no solved positions, or the agent plays an illegal action.
    """
    solved = read_solved_positions(get_game(game))
    actions = actions_in(agent, solved.game, solved.states, seed, batch, progress)
    blunders = solved.wins[np.arange(len(actions)), actions] == 0
    return BlunderRate(solved, agent.name, seed, blunders)
