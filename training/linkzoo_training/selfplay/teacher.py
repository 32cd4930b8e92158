"""What a teacher says where the learner acts: its moves, or what actions are worth."""

from typing import Any, Protocol, runtime_checkable

import numpy as np
import torch
from numpy.typing import NDArray

from linkzoo import Agent, Game, Positions
from linkzoo_training.selfplay.opponents import agent_actions

_MOST = float(np.finfo(np.float16).max)  # that is kept of a value; payoffs are -1..1


@runtime_checkable
class ValuesActions(Agent, Protocol):
    """An agent that says what every action is worth, such as `mc-N`."""

    def action_values(self, positions: Positions, score_margin_weight: float) -> NDArray[Any]:
        """Of N positions to the seats to act, [N, num_actions]."""
        ...


def room(teacher: Agent | None, game: Game) -> tuple[tuple[int, ...], torch.dtype]:
    """Shape and type of what is kept of one answer of a teacher."""
    values = isinstance(teacher, ValuesActions)
    return ((game.num_actions,), torch.float16) if values else ((), torch.int64)


def ask(
    teacher: Agent,
    game: Game,
    states: NDArray[Any],
    seeds: NDArray[np.uint64],
    score_margin_weight: float,
) -> NDArray[Any]:
    """Moves int64[M] in records [M], or values float32[M, A] from a teacher that has them.

    ValueError naming the teacher for a move that isn't legal, and for values that are no numbers.
    """
    if isinstance(teacher, ValuesActions):
        told = teacher.action_values(Positions(game, states, seeds), score_margin_weight)
        values, shape = np.array(told, np.float32, order="C"), (len(states), game.num_actions)
        if values.shape != shape or not (np.abs(values) <= _MOST).all():
            raise ValueError(
                f"{teacher.name}: its action values {list(values.shape)} are not finite numbers "
                f"{list(shape)} within ±{_MOST:g}"
            )
        return values
    return agent_actions(teacher, game, states, seeds)
