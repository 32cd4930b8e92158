"""Tabletop games as multi-agent reinforcement-learning environments.

A game is one environment, or thousands of them as arrays:

    env = linkzoo.linkage_v0.env()  # a PettingZoo AEC environment
    env = linkzoo.make("linkage", threshold=10)  # the same, by name
    vec = linkzoo.make_vec("linkage", num_envs=1024)  # many games in lock-step, as arrays
    linkzoo.game_names()  # the names of the games
    linkzoo.make("my_package.my_game:GAME")  # a game from elsewhere
    policy = linkzoo.load_policy("linkage")  # a trained policy: policy.predict(env)
"""

from collections.abc import Sequence
from typing import Any

from linkzoo import link_o_v0, linkage_v0, love_formula_v0, love_links_v0
from linkzoo.core.agent import Agent, Positions, RandomAgent
from linkzoo.core.contract import Chance, Drawing, Facts, Notation, Observation, Rules
from linkzoo.core.game import FixedOptions, Game
from linkzoo.core.guide import FeatureReason, Guide, ScoreRow
from linkzoo.core.history import Event, History
from linkzoo.core.observation import Graph, ObservationPart, ObservationSpec
from linkzoo.core.options import Options
from linkzoo.core.state import Field, Mask, Record
from linkzoo.engine import rng
from linkzoo.engine.compiled import compiled
from linkzoo.envs.aec import GameEnv
from linkzoo.envs.gym import SeatEnv
from linkzoo.envs.vector import VecEnv, VecStep
from linkzoo.games import VERSIONS
from linkzoo.policy import load_policy
from linkzoo.position_file import load_positions, save_positions
from linkzoo.record import GameRecord
from linkzoo.registry import announce, game_names, get_game, register

__version__ = "0.1.0"

__all__ = [
    "Agent",
    "Chance",
    "Drawing",
    "Event",
    "Facts",
    "FeatureReason",
    "Field",
    "FixedOptions",
    "Game",
    "GameEnv",
    "GameRecord",
    "Graph",
    "Guide",
    "History",
    "Mask",
    "Notation",
    "Observation",
    "ObservationPart",
    "ObservationSpec",
    "Options",
    "Positions",
    "RandomAgent",
    "Record",
    "Rules",
    "ScoreRow",
    "SeatEnv",
    "VecEnv",
    "VecStep",
    "compiled",
    "game_names",
    "get_game",
    "link_o_v0",
    "linkage_v0",
    "load_policy",
    "load_positions",
    "love_formula_v0",
    "love_links_v0",
    "make",
    "make_vec",
    "register",
    "rng",
    "save_positions",
]


def make(game: str, num_players: int | None = None, **kwargs: Any) -> GameEnv:
    """Makes a PettingZoo AEC environment of a game.

    Args:
        game: A name of `game_names()`, or `module:name` or `FILE.py:name` of another.
        num_players: The number of players; None for the game's smallest.
        kwargs: Keyword arguments of `GameEnv`, the game's options included.

    Raises:
        ValueError: There is no such game, number of players, argument or option; the message names
            the allowed values.
    """
    return GameEnv(game, num_players, **kwargs)


def make_vec(
    game: str,
    num_envs: int,
    num_players: int | Sequence[int] | None = None,
    *,
    device: str = "cpu",
    **kwargs: Any,
) -> VecEnv:
    """Makes many games in lock-step.

    Args:
        game: A name of `game_names()`, or `module:name` or `FILE.py:name` of another.
        num_envs: The number of games, N.
        num_players: The number of players, or several that the games take in turn.
        device: `"cpu"` for threads, `"cuda"` for a GPU (the extra `cuda`).
        kwargs: Keyword arguments of `VecEnv`, the game's options included.

    Returns:
        A `VecEnv`, on a GPU a `linkzoo.cuda.vector.CudaVecEnv`.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
        ImportError: The extra `cuda` isn't installed.
        RuntimeError: There is no GPU that can be used.
    """
    kind = VecEnv
    if str(device) == "cuda":
        from linkzoo.cuda import require

        require()
        from linkzoo.cuda.vector import CudaVecEnv as kind  # noqa: N813
    return kind(game, num_envs, num_players, device=device, **kwargs)


for _name, _version in VERSIONS.items():
    announce(_name, _version, _name)
