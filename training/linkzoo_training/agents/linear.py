"""A linear scorer of action features (`search.linear`) as an agent, and its file."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.arguments import agrees, check_keys, parse_json
from linkzoo.core.files import write_atomically
from linkzoo.core.urls import local_copy
from linkzoo_training.networks.inputs import context_of
from linkzoo_training.search.action import scorer_alone
from linkzoo_training.search.duel import Player
from linkzoo_training.search.linear import NO_SCORER, Scorer, action_spec, linear

FORMAT = "linkzoo-linear/1"
SHIPPED_SCORER = "linear"  # the name of the scorer that ships for a game
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
            self._scorers[game] = load_scorer(game, self.file)
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
    path = shipped_file(game, critic=True)
    if not path.is_file():
        return NO_SCORER
    return load_scorer(game, str(path))


def has_scorer(game: Game) -> bool:
    """Returns whether a scorer ships for a game."""
    return game.observation.action_spec is not None and shipped_file(game).is_file()


def shipped_file(game: Game, critic: bool = False) -> Path:
    """Returns the file of the game's scorer or critic; there may be none."""
    name = f"{game.name}_critic" if critic else game.name
    return _SCORERS / f"{name}.json"


def read_scorer(game: Game, name: str) -> Scorer:
    """Returns the scorer of a name: `linear`, or a FILE.json; raises as `load_scorer`."""
    if name == SHIPPED_SCORER:
        return load_scorer(game)
    return load_scorer(game, name)


def load_scorer(game: Game, file: str | None = None) -> Scorer:
    """Returns the scorer of a file of `save_scorer`, or the game's shipped one.

    Raises:
        ValueError: There is no such file, it is damaged, or it was made for other features.
    """
    if file is None:
        path = shipped_file(game)
        if not path.is_file():
            raise ValueError(f"linear: no scorer ships for {game.name}")
    else:
        path = local_copy(file)
        if not path.is_file():
            raise ValueError(f"linear: there is no file {path}")
    return _parse(game, path, path.read_bytes())


@cache
def _parse(game: Game, path: Path, text: bytes) -> Scorer:
    try:
        data = parse_json(text)
        check_keys("scorer", data, "format game version features weights".split())
        game.check_version(data["version"])
        header = _header(game)
        for name in ("format", "game", "features"):
            agrees(name, data[name], header[name])
        weights = np.array(data["weights"], np.float32)
        spec = action_spec(game)
    except (OSError, ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error
    shape = spec.size, 1 + len(context_of(spec))
    if weights.shape != shape or not np.isfinite(weights).all():
        raise ValueError(f"{path}: weights: not finite numbers {list(shape)}")
    return Scorer(context_of(spec), weights)


def save_scorer(game: Game, weights: NDArray[np.float32], path: Path) -> None:
    """Writes weights [K, 1 + C] to a JSON file."""
    rounded = [[float(f"{weight:.6g}") for weight in row] for row in weights.tolist()]
    write_atomically(path, (json.dumps({**_header(game), "weights": rounded}) + "\n").encode())


def _header(game: Game) -> dict[str, Any]:
    features = [part.name for part in action_spec(game).parts]
    return {"format": FORMAT, "game": game.name, "version": game.version, "features": features}
