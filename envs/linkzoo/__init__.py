"""Tabletop games as multi-agent reinforcement-learning environments.

A game is one environment, or thousands of them as arrays:

    env = linkzoo.linkage_v0.env()  # a PettingZoo AEC environment
    env = linkzoo.make("linkage", threshold=10)  # the same, by name
    vec = linkzoo.make_vec("linkage", num_envs=1024)  # many games in lock-step, as arrays
    linkzoo.game_names()  # the names of the games
    linkzoo.make("my_package.my_game:GAME")  # a game from elsewhere
"""

from collections.abc import Sequence
from typing import Any

from linkzoo import link_o_v0, linkage_v0, love_formula_v0, love_links_v0
from linkzoo.envs.aec import GameEnv
from linkzoo.core.agent import Agent, Positions, RandomAgent
from linkzoo.core.game import Game, ObservationSpec, Piece
from linkzoo.envs.gym import SeatEnv
from linkzoo.record import GameRecord
from linkzoo.registry import NAMES, announce, game_names, get_game, register
from linkzoo.envs.vector import VecEnv, VecStep

__version__ = "0.1.0"


__all__ = [
    "Agent",
    "Game",
    "GameEnv",
    "GameRecord",
    "ObservationSpec",
    "Piece",
    "Positions",
    "RandomAgent",
    "SeatEnv",
    "VecEnv",
    "VecStep",
    "game_names",
    "get_game",
    "link_o_v0",
    "linkage_v0",
    "love_formula_v0",
    "love_links_v0",
    "make",
    "make_vec",
    "register",
]


def make(game: str, num_players: int | None = None, **kwargs: Any) -> GameEnv:
    """A PettingZoo AEC environment of a game, by name (see GameEnv)."""
    return GameEnv(game, num_players, **kwargs)


def make_vec(
    game: str,
    num_envs: int,
    num_players: int | Sequence[int] | None = None,
    *,
    device: str = "cpu",
    **kwargs: Any,
) -> VecEnv:
    """Many games in lock-step: on CPU threads, or with device="cuda" on a GPU.

    See VecEnv and `linkzoo.cuda.vector.CudaVecEnv`, which needs the extra `cuda`: ImportError or
    RuntimeError says what is missing.
    """
    kind = VecEnv
    if device == "cuda":
        from linkzoo.cuda import require

        require()
        from linkzoo.cuda.vector import CudaVecEnv as kind  # noqa: N813
    return kind(game, num_envs, num_players, device=device, **kwargs)


for _name in NAMES:
    announce(_name, _name)
