"""Rewards of many games from a function of the records before and after each step."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.core.arguments import shown
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Actions, Records

RewardFunction = Callable[[Records, Records], ArrayLike]


class RewardHook:
    """Calls a function of the records before and after a step.

    A vector environment starts finished games anew in the same step, so the actions are played in a
    copy first: the record after the step of a finished game is its end. The function gets copies
    alone, so it can't change a game.

    Args:
        function: `function(before, after)` for records [N] returns numbers [N, P], by seat.
        game: The game.
        num_players: The largest number of players, P.

    Raises:
        ValueError: `function` can't be called.
    """

    def __init__(self, function: RewardFunction, game: Game, num_players: int) -> None:
        if not callable(function):
            raise ValueError(f"reward_hook={shown(function)} is not a function of two arrays")
        self._function = function
        self._play = kernels(game).play
        self._num_actions = game.num_actions
        self._num_players = num_players

    def __call__(self, states: Records, actions: Actions) -> NDArray[np.float32]:
        """Returns the rewards of a step that is about to play actions [N] in records [N].

        Returns:
            float32[N, P].

        Raises:
            ValueError: The function's result has another shape or isn't finite.
        """
        after = states.copy()
        self._play(after, actions, np.empty((len(states), self._num_actions), np.int8))
        result: NDArray[Any] = np.asarray(self._function(states.copy(), after))
        shape = (len(states), self._num_players)
        if result.shape != shape or result.dtype.kind not in "iufb":
            raise ValueError(
                f"reward_hook: its result is {result.dtype}{list(result.shape)}, and rewards are "
                f"float{list(shape)}"
            )
        rewards = result.astype(np.float32)
        if not np.isfinite(rewards).all():
            raise ValueError("reward_hook: its result isn't finite")
        return rewards
