"""Solved positions, and the blunder rate of an agent: how often it throws away a win.

The files in `solved_positions/` are made by `make_solved_positions`. In each position, the seat to
act has at least one winning and one losing action.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, get_game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, random_u64s
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.evaluation.openings import digest, random_openings
from linkzoo_training.evaluation.result import side_label
from linkzoo_training.evaluation.statistics import Estimate, wilson

FORMAT = "linkzoo-solved-positions/1"
SOLVED_POSITIONS = Path(__file__).parent / "solved_positions"


@dataclass(frozen=True)
class SolvedPositions:
    """N solved positions of a game with standard options, all from different games."""

    game: Game
    states: NDArray[Any]  # [N]
    wins: NDArray[np.int8]  # [N, num_actions]: 1 wins, 0 doesn't, -1 is illegal

    @property
    def random_loss(self) -> NDArray[np.float64]:
        """Probability that a random legal action throws the win away, [N]."""
        loses: NDArray[np.float64] = (self.wins == 0).sum(1) / (self.wins >= 0).sum(1)
        return loses


def read_solved_positions(game: Game) -> SolvedPositions:
    """Returns a game's solved positions; ValueError if it has none or its rules have changed."""
    path = SOLVED_POSITIONS / f"{game.name}.json"
    if not path.is_file():
        names = sorted(file.stem for file in SOLVED_POSITIONS.glob("*.json"))
        raise ValueError(f"no solved positions for {game.name}; there are some for {names}")
    data = json.loads(path.read_text(encoding="utf-8"))
    states, masks = positions_after(game, data, data["positions"])
    if digest(states) != data["sha256"]:
        raise ValueError(f"{path} was made for other rules of {game.name}: make it again")
    wins = masks - np.int8(1)
    digits = "".join(entry["wins"] for entry in data["positions"])
    wins[masks == 1] = np.frombuffer(digits.encode(), np.uint8) == ord("1")
    return SolvedPositions(game, states, wins)


def positions_after(
    game: Game, settings: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]
) -> tuple[NDArray[Any], NDArray[np.int8]]:
    """Returns records [N] and masks [N, num_actions] after each entry's `opening` and `actions`.

    An opening is an index into the `random_openings` of the settings.
    """
    (low, high), seed = settings["opening_plies"], np.uint64(settings["seed"])
    openings = [entry["opening"] for entry in entries]
    states = random_openings(game, game.blank(), seed, (low, high), openings)
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    games = [entry["actions"] for entry in entries]
    for turn in range(max(map(len, games), default=0)):
        actions = [played[turn] if turn < len(played) else -1 for played in games]
        kernels(game).play(states, np.array(actions, np.int64), masks)
    return states, masks


@dataclass(frozen=True)
class BlunderRate:
    """An agent's blunders in N solved positions."""

    solved: SolvedPositions
    agent: str
    seed: int
    blunders: NDArray[np.bool_]  # [N]

    def count(self, seat: int | None = None) -> int:
        """Returns the number of positions, of all seats or of one."""
        return int(self._of(seat).sum())

    def share(self, seat: int | None = None) -> Estimate:
        """Returns the blunder rate, of all seats or of one (Wilson's interval)."""
        return wilson(float(self.blunders[self._of(seat)].mean()), self.count(seat))

    def random_share(self, seat: int | None = None) -> float:
        """Returns the blunder rate of random play, of all seats or of one."""
        return float(self.solved.random_loss[self._of(seat)].mean())

    def _of(self, seat: int | None) -> NDArray[np.bool_]:
        seats = self.solved.states["seat"]
        chosen: NDArray[np.bool_] = seats >= 0 if seat is None else seats == seat
        return chosen

    def seats(self) -> list[int]:
        """Returns the seats to act in the positions."""
        return sorted(set(self.solved.states["seat"].tolist()))

    def seat_label(self, seat: int) -> str:
        """Returns `More (seat 0)`."""
        game = self.solved.game
        players = int(self.solved.states["num_players"][0])
        return side_label(game, players, seat, game.facts.seat_names)

    def to_dict(self) -> dict[str, Any]:
        """Returns JSON data: the rates, and 1 or 0 per position."""
        game = self.solved.game
        return {
            "game": game.name,
            "version": game.version,
            "positions_sha256": digest(self.solved.states),
            "agent": self.agent,
            "seed": self.seed,
            **self._rates(),
            "seats": [
                {"label": self.seat_label(seat), **self._rates(seat)} for seat in self.seats()
            ],
            "blunders": self.blunders.astype(int).tolist(),
        }

    def _rates(self, seat: int | None = None) -> dict[str, Any]:
        return {
            "positions": self.count(seat),
            "share": self.share(seat)._asdict(),
            "random": self.random_share(seat),
        }


def with_blunder_rate(card: Mapping[str, Any], found: BlunderRate) -> dict[str, Any]:
    """Returns a checkpoint's card with this result; it replaces an earlier one of the agent."""
    data = found.to_dict()
    del data["blunders"]
    data["command"] = f"linkzoo evaluate {found.agent} --solved-positions --seed {found.seed}"
    kept = [entry for entry in card.get("blunder_rate", []) if entry["agent"] != found.agent]
    return {**card, "blunder_rate": [*kept, data]}


def measure_blunders(
    game: str,
    agent: Agent,
    *,
    seed: int = 0,
    batch: int = 64,
    progress: Callable[[int, int], None] | None = None,
) -> BlunderRate:
    """Measures an agent's blunder rate on a game's solved positions.

    Args:
        game: The game's name.
        agent: The agent to measure.
        seed: Fixes the agent's seeds.
        batch: Positions per call of the agent.
        progress: Called as `progress(finished, positions)` after each batch.

    Returns:
        The blunders.

    Raises:
        ValueError: The game has no solved positions, or the agent plays an illegal action.
    """
    solved = read_solved_positions(get_game(game))
    count = len(solved.states)
    seeds = random_u64s(seed, STREAM_ACTION, np.arange(count))
    blunders = np.empty(count, np.bool_)
    for first in range(0, count, batch):
        rows = slice(first, min(first + batch, count))
        positions = Positions(solved.game, solved.states[rows].copy(), seeds[rows])
        known = solved.wins[rows]
        blunders[rows] = known[np.arange(len(known)), checked_actions(agent, positions)] == 0
        if progress is not None:
            progress(rows.stop, count)
    return BlunderRate(solved, agent.name, seed, blunders)
