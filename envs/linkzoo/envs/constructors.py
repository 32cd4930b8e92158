"""The constructors of PettingZoo's modules: `env`, `raw_env` and `parallel_env`."""

from collections.abc import Callable
from typing import Any

from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

from linkzoo.envs.aec import GameEnv
from linkzoo.envs.order import SetByReset


class ParallelEnv(SetByReset, turn_based_aec_to_parallel_wrapper[str, dict[str, Any], int]):
    """A GameEnv as a PettingZoo ParallelEnv (turn-based)."""


def parallel_env(game: str, num_players: int | None = None, **kwargs: Any) -> Any:
    """Makes a PettingZoo ParallelEnv (turn-based), with the arguments of `GameEnv`."""
    return ParallelEnv(GameEnv(game, num_players, **kwargs))


def constructors(game: str) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """Returns `env`, `raw_env` and `parallel_env` of a game, for its versioned module."""

    def env(num_players: int | None = None, **kwargs: Any) -> GameEnv:
        return GameEnv(game, num_players, **kwargs)

    def raw_env(num_players: int | None = None, **kwargs: Any) -> GameEnv:
        return GameEnv(game, num_players, checks=False, **kwargs)

    def parallel(num_players: int | None = None, **kwargs: Any) -> Any:
        return parallel_env(game, num_players, **kwargs)

    env.__doc__ = f"The {game} environment, fast and with all checks (GameEnv)."
    raw_env.__doc__ = f"The {game} environment, which trusts that actions are legal (GameEnv)."
    parallel.__doc__ = f"The {game} environment as a PettingZoo ParallelEnv (turn-based)."
    return env, raw_env, parallel
