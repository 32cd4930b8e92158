"""The configuration of a game that is trained without one, picked by the game's facts."""

from typing import Any

from linkzoo import Game, game_names, get_game
from linkzoo.core.features import FeatureMap
from linkzoo.engine.threads import get_num_threads
from linkzoo_training.imports import is_import_path

_SECONDS = 1800  # of training, by default
_MANY = 512  # features of a position for which a fully connected network gets more blocks
UNLIMITED_STEPS = 10**12  # the time ends the run


def is_game(text: str) -> bool:
    """Returns whether a text names a game, by its name, module:name or FILE.py:name."""
    return text in game_names() or is_import_path(text)


def standard_fields(name: str) -> dict[str, Any]:
    """Returns the fields of a game's configuration.

    AlphaZero learns games without hidden information; PPO, with a critic that sees everything,
    learns the others. The network shares its weights over a board or a graph if the game has one.

    Raises:
        ValueError: There is no such game.
    """
    game = get_game(name)
    fields = {
        "name": f"{game.name}_standard",
        "game": name,
        "options": {"skip_forced": True},  # a decision with one legal action teaches nothing
        "max_seconds": _SECONDS,
        "total_steps": UNLIMITED_STEPS,
        "num_threads": get_num_threads(),
        "symmetric": game.observation.symmetries is not None,
        **_network(game),
    }
    if game.hides:
        fields |= {"algorithm": "ppo", "critic": "full", "entropy": [0.05, 0.01], "clip": 0.1}
        return fields | {"minibatches": 8, "epochs": 2}
    fields |= {"algorithm": "alphazero", "simulations": [8, 16], "batch_size": 256}
    if game.rules.scores is not None:
        fields["score_margin_weight"] = 0.5
    return fields


def _network(game: Game) -> dict[str, Any]:
    """Returns the network's fields."""
    observation = game.observation
    features = FeatureMap(observation.spec)
    if observation.graph is not None:
        return {"network": "graph", "width": 64, "blocks": 1}
    if features.board is not None and observation.action_cells is not None:
        return {"network": "board", "width": 32, "blocks": 3}
    blocks = 2 if len(features) < _MANY else 4
    return {"network": "flat", "width": 256, "blocks": blocks}
