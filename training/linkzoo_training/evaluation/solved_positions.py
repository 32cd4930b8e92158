"""Solved positions: which actions win, and an agent's blunder rate: how often it throws a win away.

A game that ships such positions has a file in `solved_positions/`; `make_solved_positions` makes
it. In each of them the seat to act wins by at least one legal action, and by at least one it
doesn't.
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
from linkzoo.engine.rng import STREAM_ACTION, words
from linkzoo_training.agents.answers import checked
from linkzoo_training.evaluation.openings import digest, random_openings
from linkzoo_training.evaluation.result import side_label
from linkzoo_training.evaluation.statistics import Estimate, wilson

FORMAT = "linkzoo-solved-positions/1"
SOLVED_POSITIONS = Path(__file__).parent / "solved_positions"


@dataclass(frozen=True)
class SolvedPositions:
    """N solved positions of a game's standard options, from as many games."""

    game: Game
    states: NDArray[Any]  # [N]
    wins: NDArray[np.int8]  # [N, num_actions]: 1 wins, 0 doesn't, -1 is illegal

    @property
    def random_loss(self) -> NDArray[np.float64]:
        """The probability that a uniformly random legal action throws the win away, [N]."""
        loses: NDArray[np.float64] = (self.wins == 0).sum(1) / (self.wins >= 0).sum(1)
        return loses


def read_solved_positions(game: Game) -> SolvedPositions:
    """The solved positions of a game; ValueError if it has none or if its rules have changed."""
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
    """The records [N] after an `opening` and `actions` each, and their masks.

    An opening is the index of one of the `random_openings` of the settings.
    """
    (low, high), seed = settings["opening_plies"], np.uint64(settings["seed"])
    openings = [entry["opening"] for entry in entries]
    states = random_openings(game, game.blank(), seed, (low, high), openings)
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).legal(states, masks)
    games = [entry["actions"] for entry in entries]
    for turn in range(max(map(len, games), default=0)):
        actions = [played[turn] if turn < len(played) else -1 for played in games]
        kernels(game).play(states, np.array(actions, np.int64), masks)
    return states, masks


@dataclass(frozen=True)
class BlunderRate:
    """In which of N solved positions an agent blundered: threw the win away."""

    solved: SolvedPositions
    agent: str
    seed: int
    blunders: NDArray[np.bool_]  # [N]

    def count(self, seat: int | None = None) -> int:
        """The positions, of all seats or of one."""
        return int(self._of(seat).sum())

    def share(self, seat: int | None = None) -> Estimate:
        """The blunder rate, of all seats or of one (Wilson's interval)."""
        return wilson(float(self.blunders[self._of(seat)].mean()), self.count(seat))

    def random_share(self, seat: int | None = None) -> float:
        """The share that uniformly random legal play throws away on average."""
        return float(self.solved.random_loss[self._of(seat)].mean())

    def _of(self, seat: int | None) -> NDArray[np.bool_]:
        seats = self.solved.states["seat"]
        chosen: NDArray[np.bool_] = seats >= 0 if seat is None else seats == seat
        return chosen

    def seats(self) -> list[int]:
        """The seats that have positions."""
        return sorted(set(self.solved.states["seat"].tolist()))

    def seat_label(self, seat: int) -> str:
        """`More (seat 0)`."""
        game = self.solved.game
        return side_label(game, int(self.solved.states["num_players"][0]), seat, game.seat_names)

    def to_dict(self) -> dict[str, Any]:
        """JSON data: the shares, and for each position whether its win was thrown away."""
        game = self.solved.game
        return {
            "game": game.name,
            "version": game.version,
            "positions_sha256": digest(self.solved.states),
            "agent": self.agent,
            "seed": self.seed,
            "positions": self.count(),
            "share": self.share()._asdict(),
            "random": self.random_share(),
            "seats": [
                {
                    "label": self.seat_label(seat),
                    "positions": self.count(seat),
                    "share": self.share(seat)._asdict(),
                    "random": self.random_share(seat),
                }
                for seat in self.seats()
            ],
            "blunders": self.blunders.astype(int).tolist(),
        }


def with_blunder_rate(card: Mapping[str, Any], found: BlunderRate) -> dict[str, Any]:
    """A checkpoint's card with this result, in the place of an earlier one of the same agent."""
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
    """Asks an agent in every solved position of a game, in batches.

    `seed` fixes the agent's seeds; after each batch, `progress(finished, positions)` is called.
    ValueError for a game without solved positions, and if the agent plays an illegal action.
    """
    solved = read_solved_positions(get_game(game))
    count = len(solved.states)
    seeds = words(seed, STREAM_ACTION, np.arange(count))
    blunders = np.empty(count, np.bool_)
    for first in range(0, count, batch):
        rows = slice(first, min(first + batch, count))
        positions = Positions(solved.game, solved.states[rows].copy(), seeds[rows])
        known = solved.wins[rows]
        masks = (known >= 0).astype(np.int8)
        actions = checked(agent.name, np.asarray(agent.act(positions)), solved.states[rows], masks)
        blunders[rows] = known[np.arange(len(known)), actions] == 0
        if progress is not None:
            progress(rows.stop, count)
    return BlunderRate(solved, agent.name, seed, blunders)
