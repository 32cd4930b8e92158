"""Labelled positions: values of all legal actions, and the regret of an agent in them.

Labels train a linear scorer. `linkzoo linear labels` makes them (`linear/labels.py`), also those in
`labelled_positions/`. A file of labels is .npz, unlike other files of positions: reading 581
positions of Love Formula takes 0.1 s instead of 1.6 s, in a 23rd of the size of JSON lines.
"""

import json
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, get_game
from linkzoo.core.files import write_atomically
from linkzoo.engine.rng import STREAM_LABELS, random_u64s
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.evaluation.statistics import Estimate, normal_mean

FORMAT = "linkzoo-labels/1"
_ARRAYS = ("states", "counts", "actions", "values")
_SHIPPED = Path(__file__).parent / "labelled_positions"


@dataclass(frozen=True)
class LabelSettings:
    """Settings of a file of labels; part i depends on them and on i alone.

    Attributes:
        game: The name of the game.
        options: Its options.
        players: Numbers of players; game i has `players[i % len(players)]`.
        agent: The agent that plays the games.
        playouts: Playouts per legal action.
        rollout: The policy of the playouts: `random`, `linear`, or a file of `linkzoo linear fit`.
        score_margin_weight: Weight of score margins beside payoffs.
        seed: Seed of the games and playouts.
        share: Labelled share of the positions with a choice.
        digests: `AgentSpec.digest` of `agent` and `rollout`, where they have one.
    """

    game: str
    options: dict[str, Any]
    players: tuple[int, ...]
    agent: str
    playouts: int
    rollout: str
    score_margin_weight: float
    seed: int
    share: float = 0.15
    digests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Labels:
    """Labelled positions: N records, and M values of their legal actions in order.

    Attributes:
        settings: Settings of the games and playouts.
        parts: The number of parts.
        states: Records [N].
        counts: int64[N], the number of legal actions of each.
        actions: int64[M].
        values: float32[M], for the seat to act.
    """

    settings: LabelSettings
    parts: int
    states: NDArray[Any]
    counts: NDArray[np.int64]
    actions: NDArray[np.int64]
    values: NDArray[np.float32]

    @property
    def game(self) -> Game:
        """The game."""
        return get_game(self.settings.game, self.settings.options)

    @property
    def position(self) -> NDArray[np.int64]:
        """The position of each value, int64[M]."""
        return np.repeat(np.arange(len(self.counts)), self.counts)

    def joined(self, other: "Labels") -> "Labels":
        """Returns these labels and others of the same settings."""
        arrays = {
            name: np.concatenate([getattr(self, name), getattr(other, name)]) for name in _ARRAYS
        }
        return Labels(self.settings, self.parts + other.parts, **arrays)

    def regrets(self, agent: Agent, seed: int = 0) -> NDArray[np.float64]:
        """Returns how much less an agent's action is worth than the best action, float64[N]."""
        seeds = random_u64s(seed, STREAM_LABELS, np.arange(len(self.states)))
        chosen = checked_actions(agent, Positions(self.game, self.states, seeds))
        rows = np.flatnonzero(self.actions == chosen[self.position])
        return regrets(self.values, self.counts, self.values[rows])

    def random_regret(self) -> float:
        """Returns the mean regret of random play."""
        return float(regrets(self.values, self.counts, means(self.values, self.counts)).mean())


def means(numbers: NDArray[Any], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Returns each position's mean [N, ...] of numbers [M, ...], `counts[i]` of position i."""
    sums = np.add.reduceat(numbers, np.cumsum(counts) - counts)
    return np.asarray(sums / counts.reshape(-1, *[1] * (numbers.ndim - 1)))


def regrets(
    values: NDArray[np.float32], counts: NDArray[np.int64], chosen: NDArray[Any]
) -> NDArray[np.float64]:
    """Returns the difference between each position's best value [M] and the chosen one [N]."""
    best = np.maximum.reduceat(values, np.cumsum(counts) - counts)
    return np.asarray(best - chosen, np.float64)


def regret(agent: Agent, labels: Labels, seed: int = 0) -> Estimate:
    """Returns an agent's mean regret in labelled positions, with a 95 % interval."""
    return normal_mean(labels.regrets(agent, seed))


def write_labels(labels: Labels, path: Path) -> None:
    """Writes labels to a compressed .npz file."""
    about = {"format": FORMAT, "parts": labels.parts, "settings": vars(labels.settings)}
    arrays = {name: getattr(labels, name) for name in _ARRAYS}
    arrays["states"] = np.frombuffer(labels.states.tobytes(), np.uint8)
    file = BytesIO()
    np.savez_compressed(file, allow_pickle=False, about=np.array(json.dumps(about)), **arrays)
    write_atomically(path, file.getvalue())


def read_labelled_positions(game: str) -> Labels:
    """Returns the labelled positions that ship for a game; ValueError if there are none."""
    path = _SHIPPED / f"{game}.npz"
    if not path.is_file():
        names = sorted(file.stem for file in _SHIPPED.glob("*.npz"))
        raise ValueError(f"no labelled positions for {game}; there are some for {names}")
    return read_labels(path)


def read_labels(path: Path) -> Labels:
    """Reads labels; ValueError if the file is damaged or of another game."""
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            arrays = {name: file[name] for name in _ARRAYS}
        if about["format"] != FORMAT:
            raise ValueError(f"its format is {about['format']!r}, not {FORMAT!r}")  # noqa: TRY301
        players = tuple(about["settings"].pop("players"))
        settings = LabelSettings(players=players, **about["settings"])
        game = get_game(settings.game, settings.options)
        arrays["states"] = arrays["states"].view(game.state)
        return Labels(settings, about["parts"], **arrays)
    except Exception as error:  # zipfile, zlib and NumPy raise many kinds
        raise ValueError(f"{path}: not a file of labels of this version ({error})") from error
