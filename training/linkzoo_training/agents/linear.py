"""A linear scorer of action features (`search.linear`) as an agent, and its file."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.arguments import agrees, check_keys, one_of, parse_json
from linkzoo.core.files import write_atomically
from linkzoo.core.observation import ObservationSpec
from linkzoo.core.urls import local_copy
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.action import scorer_alone
from linkzoo_training.search.duel import Player
from linkzoo_training.search.linear import NO_SCORER, Scorer, action_spec, linear

FORMAT = "linkzoo-linear/1"
# The scorers that ship: agent `linear`, and what `linkzoo linear improve` made of it.
SHIPPED_SCORERS = ("linear", "improved")
_SCORERS = Path(__file__).parent / "scorers"


class LinearAgent:
    """Plays the legal action with the highest linear score.

    Args:
        file: A file of `linkzoo linear fit`; None for the game's shipped scorer.
    """

    def __init__(self, file: str | None = None) -> None:
        self.file = None if file is None else str(local_copy(file).absolute())
        self.name = file or "linear"
        self._scorers: dict[Game, Scorer] = {}  # read once: it acts at every ply

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the best action of each position, int64[N].

        Raises:
            ValueError: There is no scorer for the game.
        """
        return self.scores(positions)[1]

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the probabilities by which `act` plays, float64[N, num_actions]: 0 and 1."""
        shares = np.zeros(positions.action_mask.shape)
        np.put_along_axis(shares, self.act(positions)[:, None], 1, 1)
        return shares

    def distribution(self, positions: Positions) -> tuple[NDArray[np.float32], None]:
        """Returns the softmax of the scores float32[N, num_actions], and None instead of values.

        `linkzoo linear improve` trains this policy at its temperature 1. Scores are comparable
        within a position only, so a scorer has no values of positions.
        """
        scores, _ = self.scores(positions)
        weights = np.exp(scores - scores.max(1, keepdims=True))
        return weights / weights.sum(1, keepdims=True), None

    def action_values(self, positions: Positions, score_margin_weight: float) -> NDArray[Any]:  # noqa: ARG002 - fixed when it was fitted
        """Returns the scores float32[N, num_actions] of legal actions, 0 for others.

        Scores estimate an action's value up to a constant per position.
        """
        return np.where(positions.action_mask, self.scores(positions)[0], 0)

    def scorer(self, game: Game) -> Scorer:
        """Returns the scorer for a game, for compiled code; raises as `act`."""
        if game not in self._scorers:
            self._scorers[game] = load_scorer(game, self.file or "linear")
        return self._scorers[game]

    def compiled_player(self, game: Game) -> Player:
        """Returns the agent as a player of compiled duels; raises as `act`."""
        return Player(scorer_alone(self.scorer(game)), 0.0)

    def scores(self, positions: Positions) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
        """Returns scores float32[N, A], -inf if illegal, and best actions; raises as `act`."""
        game = positions.game
        masks = positions.action_mask
        scores = np.empty(masks.shape, np.float32)
        actions = np.empty(len(masks), np.int64)
        linear(game)(positions.states, self.scorer(game), masks, scores, actions)
        return scores, actions


@cache
def shipped_critic(game: Game) -> Scorer:
    """Returns the scorer that predicts the results of playouts; NO_SCORER if none ships."""
    path = shipped_file(game, "critic")
    if not path.is_file():
        return NO_SCORER
    return load_scorer(game, str(path))


def has_scorer(game: Game) -> bool:
    """Returns whether a scorer ships for a game."""
    return game.observation.action_spec is not None and shipped_file(game).is_file()


def shipped_file(game: Game, name: str = "linear") -> Path:
    """Returns the file of the game's scorer `linear`, `improved` or `critic`; there may be none."""
    file = game.name if name == "linear" else f"{game.name}_{name}"
    return _SCORERS / f"{file}.json"


def load_scorer(game: Game, name: str = "linear") -> Scorer:
    """Returns the scorer of a name: one of SHIPPED_SCORERS, or a FILE.json of `save_scorer`.

    Features that the game has and the file hasn't weigh 0: a file stays what it is when a game gets
    new features.

    Raises:
        ValueError: There is no such file, it is damaged, or the game hasn't its features.
    """
    if name in SHIPPED_SCORERS:
        path = shipped_file(game, name)
        missing = f"{name}: no scorer ships for {game.name}"
    else:
        path = local_copy(name)
        missing = f"linear: there is no file {path}"
    if not path.is_file():
        raise ValueError(missing)
    return _parse(game, path, path.read_bytes())


@cache
def _parse(game: Game, path: Path, text: bytes) -> Scorer:
    try:
        data = parse_json(text)
        check_keys("scorer", data, "format game version features weights".split())
        game.check_version(data["version"])
        agrees("format", data["format"], FORMAT)
        agrees("game", data["game"], game.name)
        weights = _weights(action_spec(game), data["features"], data["weights"])
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    return Scorer(context_of(action_spec(game)), weights)


def _weights(
    spec: ObservationSpec, features: list[str], weights: list[list[float]]
) -> NDArray[np.float32]:
    """Returns the weights [K, 1 + C] of all features; those that the file doesn't know weigh 0.

    Raises:
        ValueError: A feature is unknown, or the weights aren't finite numbers of the right shape.
    """
    names = [part.name for part in spec.parts]
    for feature in features:
        one_of("features", feature, names)
    if len(set(features)) < len(features):
        raise ValueError("features: one is named twice")
    context = [names[k] for k in context_of(spec)]
    rows = [names.index(feature) for feature in features]
    columns = [0, *(1 + context.index(feature) for feature in features if feature in context)]
    numbers = np.array(weights, np.float32)
    shape = len(rows), len(columns)
    if numbers.shape != shape or not np.isfinite(numbers).all():
        raise ValueError(f"weights: not finite numbers {list(shape)}")
    filled = np.zeros((spec.size, 1 + len(context)), np.float32)
    filled[np.ix_(rows, columns)] = numbers
    return filled


def save_scorer(game: Game, weights: NDArray[np.float32], path: Path) -> None:
    """Writes weights [K, 1 + C] to a JSON file."""
    rounded = [[float(f"{weight:.6g}") for weight in row] for row in weights.tolist()]
    write_atomically(path, (json.dumps({**_header(game), "weights": rounded}) + "\n").encode())


def _header(game: Game) -> dict[str, Any]:
    features = [part.name for part in action_spec(game).parts]
    return {"format": FORMAT, "game": game.name, "version": game.version, "features": features}
