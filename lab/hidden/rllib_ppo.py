"""RLlib's PPO in the benchmark, with the settings of `examples/rllib_ppo.py`.

It learns a random seat against random play and frozen copies of itself, all in this process. Steps
are its own decisions with several legal actions. RLlib pins gymnasium: it needs an environment of
its own, `pip install -e ".[train,rllib]"`.
"""

import logging
from argparse import Namespace

import ray
import torch
from examples.rllib_ppo import configure
from lab.hidden.judge import Runner
from lab.hidden.network_agent import NetworkAgent, on_features
from ray.rllib.algorithms.algorithm import Algorithm

EXAMPLE = {"envs": 64, "rollout": 64, "runners": 0, "asynchronous": False}  # its defaults
EVERY = 4  # iterations between frozen copies
STEPS = "num_env_steps_sampled_lifetime"


def build(runner: Runner) -> Algorithm:
    """Returns the algorithm, whose games are played in this process."""
    column = runner.column
    config = configure(
        Namespace(game=column.game, players=column.num_players, seed=runner.seed, **EXAMPLE)
    )
    config.environment(env_config={**config.env_config, **column.options})
    settings = {"lr": config.lr, "minibatch_size": config.minibatch_size}
    config.training(**runner.trial.applied(settings, ["lr"], ["minibatch_size"]))
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
