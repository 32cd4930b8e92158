"""SB3's MaskablePPO in the benchmark, with the settings of `examples/sb3.py`.

It learns a random seat against random play and frozen copies of itself. Steps are its own
decisions with several legal actions.
"""

import torch
from lab.hidden.judge import Runner
from lab.hidden.network_agent import NetworkAgent, on_features
from lab.race.maskable_ppo import EVERY, GAMES, SETTINGS, frozen
from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv, OpponentPool
from linkzoo.integrations.sb3 import SB3VecEnv


class Clock(BaseCallback):  # type: ignore[misc]  # no types where it isn't installed
    """Stops the run in time, and adds a copy of the learner to the pool now and then."""

    def __init__(self, runner: Runner, pool: OpponentPool) -> None:
        super().__init__()
        self._runner = runner
        self._pool = pool
        self._rollouts = 0
        self._going = True
        self._agent = NetworkAgent(on_features(runner.column.rules(), self._logits))

    def agent(self) -> NetworkAgent:
        """Returns the policy so far."""
        return self._agent

    def _logits(self, _seat: int, features: torch.Tensor) -> torch.Tensor:
        distribution = self.model.policy.get_distribution(features)
        logits: torch.Tensor = distribution.distribution.logits
        return logits

    def _on_step(self) -> bool:
        return self._going

    def _on_rollout_start(self) -> None:
        if self._rollouts:
            self._going = self._runner.goes_on(self.agent, self.num_timesteps)
            if self._rollouts % EVERY == 0:
                self._pool.add(frozen(self.model))
        self._rollouts += 1


def main() -> None:
    runner = Runner()
    torch.set_num_threads(1)
    pool = OpponentPool([linkzoo.RandomAgent()])
    games = FeatureSeatVectorEnv(
        runner.column.game,
        GAMES,
        seat=None,
        opponent=pool,
        num_players=runner.column.num_players,
        illegal="raise",
        skip_forced=True,
        **runner.column.options,
    )
    settings = runner.trial.applied(SETTINGS, ["learning_rate"], ["batch_size"])
    model = MaskablePPO("MlpPolicy", SB3VecEnv(games), seed=runner.seed, **settings)
    model.learn(10**12, callback=Clock(runner, pool))
    runner.finish(model.num_timesteps)


if __name__ == "__main__":
    main()
