"""Solved positions, and the blunder rate of an agent: how often it throws away a win.

The files in `solved_positions/` are made by `lab/solved_positions.py`. In each position, the
seat to act has at least one winning and one losing action.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, get_game
from linkzoo.core.arguments import check_keys, parse_json
from linkzoo.core.kernels import kernels
from linkzoo_training.agents.playing import actions_in
from linkzoo_training.evaluation.openings import RandomPlies, digest
from linkzoo_training.evaluation.result import side_label
from linkzoo_training.evaluation.statistics import Estimate, wilson

FORMAT = "linkzoo-solved-positions/1"
_KEYS = "format game seed opening_plies players plies count games positions sha256".split()
SOLVED_POSITIONS = Path(__file__).parent / "solved_positions"


@dataclass(frozen=True)
class SolvedPositions:
    """N solved positions of a game with standard options, all from different games."""

    game: Game
    states: NDArray[Any]  # [N]
    wins: NDArray[np.int8]  # [N, num_actions]: 1 wins, 0 doesn't, -1 is illegal


def read_solved_positions(game: Game) -> SolvedPositions:
    """Returns a game's solved positions; ValueError if it has none or its rules have changed."""
    path = SOLVED_POSITIONS / f"{game.name}.json"
    if not path.is_file():
        names = sorted(file.stem for file in SOLVED_POSITIONS.glob("*.json"))
        raise ValueError(f"no solved positions for {game.name}; there are some for {names}")
    try:
        data = parse_json(path.read_bytes())
        check_keys("solved positions", data, _KEYS)
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from error
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

    An opening is the number of a block of RandomPlies.
    """
    openings, seed = RandomPlies(*settings["opening_plies"]), np.uint64(settings["seed"])
    states = openings.begin(game, game.blank(), seed, [entry["opening"] for entry in entries])
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    games = [entry["actions"] for entry in entries]
    for turn in range(max(map(len, games), default=0)):
        actions = [played[turn] if turn < len(played) else -1 for played in games]
        kernels(game).play(states, np.array(actions, np.int64), masks)
    return states, masks


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
        chosen = seats >= 0 if seat is None else seats == seat
        count, wins = int(chosen.sum()), self.solved.wins[chosen]
        random = float(((wins == 0).sum(1) / (wins >= 0).sum(1)).mean())
        return Rates(count, wilson(float(self.blunders[chosen].mean()), count), random)

    def seats(self) -> list[int]:
        """Returns the seats to act in the positions."""
        return sorted(set(self.solved.states["seat"].tolist()))

    def seat_label(self, seat: int | None) -> str:
        """Returns `More (seat 0)`."""
        if seat is None:
            return "all seats"
        game, players = self.solved.game, int(self.solved.states["num_players"][0])
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
