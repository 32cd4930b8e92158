"""SB3's MaskablePPO in the race, on our vector environment, with the settings of `examples/sb3.py`.

It learns one seat against random play and frozen copies of itself. Plies are its own decisions.
"""

from typing import Any

import torch
from lab.race.judge import Runner
from lab.race.sb3 import Clock
from sb3_contrib import MaskablePPO

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv, FunctionAgent, OpponentPool
from linkzoo.integrations.sb3 import SB3VecEnv

GAMES = 64
EVERY = 4  # rollouts between frozen copies
SETTINGS: dict[str, Any] = {
    "n_steps": 64,
    "batch_size": 512,
    "n_epochs": 4,
    "gamma": 1.0,
    "ent_coef": 0.01,
    "learning_rate": 1e-3,
    "policy_kwargs": {"net_arch": [256, 256]},
    "device": "cpu",
}


def frozen(model: MaskablePPO) -> FunctionAgent:
    """Returns a frozen copy of the policy as an agent that samples its actions."""
    policy = model.policy_class(
        model.observation_space, model.action_space, model.lr_schedule, **model.policy_kwargs
    )
    policy.load_state_dict(model.policy.state_dict())

    def choose(features: Any, mask: Any) -> Any:
        return policy.predict(features, action_masks=mask, deterministic=False)[0]

    return FunctionAgent(f"sb3-{model.num_timesteps}", choose)


class FreezingClock(Clock):
    """Adds a copy of the learner to the pool now and then, too."""

    def __init__(self, runner: Runner, pool: OpponentPool) -> None:
        super().__init__(runner, runner.game.observe)
        self.pool, self.rollouts = pool, 0

    def _on_rollout_start(self) -> None:
        super()._on_rollout_start()
        if self.rollouts and self.rollouts % EVERY == 0:
            self.pool.add(frozen(self.model))
        self.rollouts += 1


def main() -> None:
    runner = Runner()
    torch.set_num_threads(runner.cores)
    pool = OpponentPool([linkzoo.RandomAgent()])
    games = FeatureSeatVectorEnv(
        runner.game.address, GAMES, seat=None, opponent=pool, illegal="raise", skip_forced=True
    )
    model = MaskablePPO("MlpPolicy", SB3VecEnv(games), seed=runner.seed, **SETTINGS)
    clock = FreezingClock(runner, pool)
    model.learn(10**12, callback=clock)
    runner.finish(clock.policy, model.num_timesteps)


if __name__ == "__main__":
    main()
