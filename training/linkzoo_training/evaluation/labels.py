"""Labelled positions: values of all legal actions, means over many playouts in redealt worlds.

Labels train a linear scorer (`agents.linear`) and measure the regret of an agent. Positions come
from games in which an agent plays, with a share of random actions. A playout plays on at random, or
as a linear scorer does; the n-th playouts of all actions share a world (`search.monte_carlo`).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions, get_game
from linkzoo.core.files import write_atomically
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_LABELS, STREAM_SEARCH, random_u64s
from linkzoo_training.agents.linear import load_scorer
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import checked_actions, play_games
from linkzoo_training.evaluation.statistics import Estimate, normal_mean
from linkzoo_training.search.linear import action_spec
from linkzoo_training.search.monte_carlo import NO_SCORER, action_values

FORMAT = "linkzoo-labels/1"
RANDOM = "random"  # playouts
_ARRAYS = ("states", "counts", "actions", "values")
_SHIPPED = Path(__file__).parent / "labelled_positions"
_GAMES = 64  # games of a part
_RANDOM_SHARE = 0.1  # of the positions with a choice


@dataclass(frozen=True)
class LabelSettings:
    """Settings of a file of labels; part i depends on them and on i alone.

    Attributes:
        game: The name of the game.
        options: Its options.
        players: Numbers of players; game i has `players[i % len(players)]`.
        agent: The agent that plays the games.
        playouts: Playouts per legal action.
        rollout: Who plays the playouts: `random`, `linear`, or a file of `linkzoo linear fit`.
        score_margin_weight: Weight of score margins beside payoffs.
        seed: Seed of the games and playouts.
        share: Share of the positions with a choice that are labelled.
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


@dataclass(frozen=True)
class Labels:
    """Labelled positions: N records, and M values of their legal actions in order.

    Attributes:
        settings: How they were made.
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

    def features(self) -> NDArray[np.int8]:
        """Returns the action features int8[M, K]."""
        size = action_spec(self.game).size
        masks = np.zeros((len(self.states), self.game.num_actions), np.int8)
        masks[self.position, self.actions] = 1
        found = np.zeros((len(self.states), max(self.counts, default=0) * (1 + size)), np.int16)
        observe_actions = kernels(self.game).observe_actions
        assert observe_actions is not None  # else `action_spec` has raised
        observe_actions(self.states, np.empty_like(self.states), masks, found)
        rows = found.reshape(-1, 1 + size)
        return rows[rows[:, 0] > 0, 1:].astype(np.int8)

    def regrets(self, agent: Agent, seed: int = 0) -> NDArray[np.float64]:
        """Returns how much less an agent's action is worth than the best one, float64[N]."""
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
    """Returns by how much each position's best value [M] exceeds what was chosen [N]."""
    best = np.maximum.reduceat(values, np.cumsum(counts) - counts)
    return np.asarray(best - chosen, np.float64)


def regret(agent: Agent, labels: Labels, seed: int = 0) -> Estimate:
    """Returns an agent's mean regret in labelled positions, with a 95 % interval."""
    return normal_mean(labels.regrets(agent, seed))


def make_labels(
    settings: LabelSettings, positions: int, path: Path, progress: Callable[[int], None]
) -> Labels:
    """Adds parts to a file of labels until it holds enough positions.

    Args:
        settings: The settings; those of an existing file must be equal.
        positions: The number of positions, at least.
        path: The file; it is written after every part, so that a stopped run resumes.
        progress: Called with the number of positions after every part.

    Raises:
        ValueError: The file has other settings, or is damaged.
    """
    none, game = np.zeros(0, np.int64), get_game(settings.game, settings.options)
    labels = Labels(settings, 0, np.zeros(0, game.state), none, none, np.zeros(0, np.float32))
    if path.exists():
        labels = read_labels(path)
        if labels.settings != settings:
            raise ValueError(f"{path} has other settings: {labels.settings}")
    agent = make_agent(settings.agent, settings.game, settings.options)
    while len(labels.states) < positions:
        labels = _join(labels, _label(settings, _positions(settings, agent, labels.parts)))
        write_labels(labels, path)
        progress(len(labels.states))
    return labels


def _positions(settings: LabelSettings, agent: Agent, part: int) -> NDArray[Any]:
    """Returns the records [N] of a part."""
    game = get_game(settings.game, settings.options)
    states = np.zeros(_GAMES, game.state)
    for i in range(_GAMES):
        states[i] = game.blank(settings.players[i % len(settings.players)], settings.options)
    games = part * _GAMES + np.arange(_GAMES)
    masks = np.empty((_GAMES, game.num_actions), np.int8)
    kernels(game).begin(states, random_u64s(settings.seed, STREAM_LABELS, 0, games), masks)
    found, ply = [states[:0].copy()], 1

    def seeds(rows: NDArray[np.int64]) -> NDArray[np.uint64]:
        return random_u64s(settings.seed, STREAM_LABELS, ply, games[rows])

    for actions in play_games(game, states, [agent], lambda states: np.zeros(len(states)), seeds):
        going = np.flatnonzero(actions >= 0)
        draws = random_u64s(seeds(going), STREAM_LABELS, 1) / 2.0**64
        masks, chosen = np.empty((len(going), game.num_actions), np.int8), actions[going]
        kernels(game).fill_masks(states[going], masks)
        kernels(game).random_actions(masks, seeds(going), np.ones(1, np.int64), chosen)
        actions[going] = np.where(draws < _RANDOM_SHARE, chosen, actions[going])
        labelled = (masks.sum(1) > 1) & (draws > 1 - settings.share)
        found.append(states[going][labelled])
        ply += 1
    return np.concatenate(found)


def _label(settings: LabelSettings, states: NDArray[Any]) -> Labels:
    """Labels records [N]; the seeds of the playouts depend on the records."""
    game = get_game(settings.game, settings.options)
    masks = np.empty((len(states), game.num_actions), np.int8)
    kernels(game).fill_masks(states, masks)
    values, scorer = np.empty(masks.shape, np.float32), NO_SCORER
    if settings.rollout != RANDOM:
        scorer = load_scorer(game, None if settings.rollout == "linear" else settings.rollout)
    seeds = random_u64s(states["seed"] ^ np.uint64(settings.seed), STREAM_SEARCH, states["ply"])
    label = action_values(game, settings.rollout != RANDOM)
    playouts, weight = np.full(len(states), settings.playouts), float(settings.score_margin_weight)
    label(states, seeds, playouts, weight, scorer, NO_SCORER, masks, values)
    _, actions = masks.nonzero()
    return Labels(settings, 1, states, masks.sum(1, np.int64), actions, values[masks > 0])


def _join(one: Labels, other: Labels) -> Labels:
    arrays = {name: np.concatenate([vars(one)[name], vars(other)[name]]) for name in _ARRAYS}
    return Labels(one.settings, one.parts + other.parts, **arrays)


def write_labels(labels: Labels, path: Path) -> None:
    """Writes labels to a compressed .npz file."""
    about = {"format": FORMAT, "parts": labels.parts, "settings": vars(labels.settings)}
    arrays = {name: vars(labels)[name] for name in _ARRAYS}
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
