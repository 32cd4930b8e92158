"""The clock of the race's runs with Stable-Baselines3."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from lab.race.games import Boards
from lab.race.judge import Runner
from numpy.typing import NDArray
from stable_baselines3.common.callbacks import BaseCallback


class Clock(BaseCallback):  # type: ignore[misc]  # no types where it isn't installed
    """Stops the run in time.

    Args:
        runner: The race's side of the run.
        observe: Returns the learner's observations of boards.
    """

    def __init__(self, runner: Runner, observe: Callable[[Boards], NDArray[np.int8]]) -> None:
        super().__init__()
        self.runner, self.observe, self.going = runner, observe, True

    def policy(self, boards: Boards) -> NDArray[Any]:
        """Returns the logits of all actions, [N, num_actions]."""
        with torch.no_grad():
            seen = torch.from_numpy(self.observe(boards).astype(np.float32))
            distribution = self.model.policy.get_distribution(seen)
        logits: NDArray[Any] = distribution.distribution.logits.numpy()
        return logits

    def _on_step(self) -> bool:
        return self.going

    def _on_rollout_start(self) -> None:
        if self.num_timesteps:
            self.going = self.runner.goes_on(self.policy, self.num_timesteps)
