"""PettingZoo's way in the race: MaskablePPO plays both seats of `connect_four_v3` in turn.

As in PettingZoo's tutorial on action masks with SB3: one environment whose `step` returns what the
next seat sees and was paid, and the algorithm's own settings. Plies are those of both seats.
"""

from typing import Any

import gymnasium
import numpy as np
import torch
from lab.race.games import Boards
from lab.race.judge import Runner
from lab.race.sb3 import Clock
from numpy.typing import NDArray
from pettingzoo.classic import connect_four_v3
from sb3_contrib import MaskablePPO


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


def observe(boards: Boards) -> NDArray[np.int8]:
    """Returns boards [N, 2, 6, 7] as the environment shows them: the highest row first."""
    return boards[:, :, ::-1].transpose(0, 2, 3, 1).copy()


def main() -> None:
    runner = Runner()
    torch.set_num_threads(runner.cores)
    model = MaskablePPO("MlpPolicy", BothSeats(), seed=runner.seed, device="cpu")
    clock = Clock(runner, observe)
    model.learn(10**12, callback=clock)
    runner.finish(clock.policy, model.num_timesteps)


if __name__ == "__main__":
    main()
