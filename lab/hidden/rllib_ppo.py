"""RLlib's PPO in the benchmark, with the settings of `examples/rllib_ppo.py`.

It learns a random seat against random play and frozen copies of itself, all in this process. Steps
are its own decisions with several legal actions. RLlib pins gymnasium: it needs an environment of
its own, `pip install -e ".[train,rllib]"`.
"""

import logging

import ray
import torch
from lab.hidden.judge import Runner
from lab.hidden.network_agent import NetworkAgent, on_features
from ray.rllib.algorithms.ppo import PPO, PPOConfig
from ray.rllib.core.rl_module import RLModuleSpec

from linkzoo.integrations import FeatureSeatVectorEnv
from linkzoo.integrations.rllib import MaskedModule
from linkzoo.integrations.rllib_runner import SeatEnvRunner

SETTINGS = {"lr": 1e-3, "minibatch_size": 512}
EVERY = 4  # iterations between frozen copies
GAMES, DECISIONS = 64, 64  # of an iteration
STEPS = "num_env_steps_sampled_lifetime"


def build(runner: Runner) -> PPO:
    """Returns the algorithm, whose games are played in this process."""
    game = {
        "game": runner.column.game,
        "num_players": runner.column.num_players,
        "seat": None,
        "skip_forced": True,
        **runner.column.options,
    }
    config = (
        PPOConfig()
        .environment(FeatureSeatVectorEnv, env_config=game)
        .env_runners(
            env_runner_cls=SeatEnvRunner,
            num_envs_per_env_runner=GAMES,
            num_env_runners=0,
            rollout_fragment_length=DECISIONS,
        )
        .learners(num_learners=0)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=MaskedModule, model_config={"hidden": [256, 256]}
            )
        )
        .training(
            train_batch_size_per_learner=GAMES * DECISIONS,
            num_epochs=4,
            lambda_=0.95,
            gamma=1.0,
            entropy_coeff=0.01,
            vf_clip_param=10.0,
            **runner.trial.applied(SETTINGS, ["lr"], ["minibatch_size"]),
        )
        .debugging(seed=runner.seed, log_level="ERROR")
    )
    return config.build_algo()


def main() -> None:
    runner = Runner()
    torch.set_num_threads(1)
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000)
    algorithm = build(runner)

    def logits(_seat: int, features: torch.Tensor) -> torch.Tensor:
        module = algorithm.get_module()
        result: torch.Tensor = module.policy(module.trunk(features))
        return result

    agent = NetworkAgent(on_features(runner.column.rules(), logits))
    steps = 0
    iterations = 0
    going = True
    while going:
        steps = int(algorithm.train()["env_runners"][STEPS])
        iterations += 1
        if iterations % EVERY == 0:
            algorithm.env_runner_group.foreach_env_runner(lambda env: env.add_opponent())
        going = runner.goes_on(lambda: agent, steps)
    runner.finish(steps)
    ray.shutdown()


if __name__ == "__main__":
    main()
