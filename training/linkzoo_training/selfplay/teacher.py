"""Teacher targets: an agent's moves or action values where the learner acts."""

from typing import Protocol, runtime_checkable

import numpy as np
import torch

from linkzoo import Agent, Game, Positions
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.arrays import Array

_MAX_VALUE = float(np.finfo(np.float16).max)  # payoffs are -1..1


@runtime_checkable
class ValuesActions(Agent, Protocol):
    """An agent with action values, such as `mc-N`."""

    def action_values(self, positions: Positions, score_margin_weight: float) -> Array:
        """Returns the values [N, num_actions] of N positions for the seats to act."""
        ...


def target_format(teacher: Agent | None, game: Game) -> tuple[tuple[int, ...], torch.dtype]:
    """Returns shape and dtype of one position's target."""
    if isinstance(teacher, ValuesActions):
        return (game.num_actions,), torch.float16
    return (), torch.int64


def teacher_targets(teacher: Agent, positions: Positions, score_margin_weight: float) -> Array:
    """Returns a teacher's moves int64 [M] in M positions, or its action values float32 [M, A].

    Raises:
        ValueError: A move isn't legal or a value isn't finite; the message names the teacher.
    """
    if isinstance(teacher, ValuesActions):
        answers = teacher.action_values(positions, score_margin_weight)
        values = np.array(answers, np.float32, order="C")
        shape = len(positions.states), positions.game.num_actions
        if values.shape != shape or not (np.abs(values) <= _MAX_VALUE).all():
            raise ValueError(
                f"{teacher.name}: its action values {list(values.shape)} are not finite numbers "
                f"{list(shape)} within ±{_MAX_VALUE:g}"
            )
        return values
    return checked_actions(teacher, positions)
