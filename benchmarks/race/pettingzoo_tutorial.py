"""PettingZoo's way in the race: MaskablePPO plays both seats of `connect_four_v3` in turn.

As in PettingZoo's tutorial on action masks with SB3: one environment whose `step` returns what the
next seat sees and was paid, and the algorithm's own settings. Plies are those of both seats.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from benchmarks.race.judge import Runner
from numpy.typing import NDArray
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback


class BothSeats(gymnasium.Env[NDArray[np.int8], int]):
    """Connect Four as an environment of one agent, which plays every ply."""

    def __init__(self) -> None:
        self.game = connect_four_v3.env()  # type: ignore[no-untyped-call]
        self.game.reset()
        self.observation_space = self.game.observation_space("player_0")["observation"]
        self.action_space = self.game.action_space("player_0")

    def reset(self, **settings: Any) -> tuple[NDArray[np.int8], dict[str, Any]]:
        self.game.reset(seed=settings.get("seed"))
        return self.game.last()[0]["observation"], {}

    def step(self, action: int) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        self.game.step(action)
        seen, reward, terminated, truncated, told = self.game.last()
        return seen["observation"], reward, terminated, truncated, told

    def action_masks(self) -> NDArray[np.int8]:
        """Returns the columns that aren't full."""
        mask: NDArray[np.int8] = self.game.last()[0]["action_mask"]
        return mask


class Clock(BaseCallback):  # type: ignore[misc]  # no types where it isn't installed
    """Stops the run in time."""

    def __init__(self, runner: Runner) -> None:
        super().__init__()
        self.runner, self.going = runner, True

    def policy(self, boards: NDArray[np.int8]) -> NDArray[Any]:
        seen = boards[:, :, ::-1].transpose(0, 2, 3, 1).copy()  # the highest row first
        with torch.no_grad():
            distribution = self.model.policy.get_distribution(torch.from_numpy(seen))
        logits: NDArray[Any] = distribution.distribution.logits.numpy()
        return logits

    def _on_step(self) -> bool:
        return self.going

    def _on_rollout_start(self) -> None:
        if self.num_timesteps:
            self.going = self.runner.goes_on(self.policy, self.num_timesteps)


def main() -> None:
    runner = Runner()
    torch.set_num_threads(runner.cores)
    model = MaskablePPO("MlpPolicy", BothSeats(), seed=runner.seed, device="cpu")
    clock = Clock(runner)
    model.learn(10**12, callback=clock)
    runner.finish(clock.policy, model.num_timesteps)


if __name__ == "__main__":
    main()
