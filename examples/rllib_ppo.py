"""Trains PPO of RLlib from one seat, against a pool of frozen copies of itself.

    pip install ".[rllib]"
    python examples/rllib_ppo.py love_links --steps 100000
    python examples/rllib_ppo.py love_links --steps 100000 --runners 1 --rollout 16 --asynchronous

Takes any game by name. SeatEnvRunner plays many games in lock-step, in this process or in
`--runners` others, and MaskedModule reads the mask. With `--asynchronous`, APPO learns while the
runners play. The environment raises at the first illegal move, so a finished run had none.
"""

import argparse
import logging

import ray
import torch
from ray.rllib.algorithms.algorithm import Algorithm
from ray.rllib.algorithms.appo import APPOConfig
from ray.rllib.algorithms.ppo import PPOConfig
from ray.rllib.core.rl_module import RLModuleSpec

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv, FunctionAgent
from linkzoo.integrations.rllib import MaskedModule, MaskedTargetModule
from linkzoo.integrations.rllib_runner import SeatEnvRunner
from linkzoo_training import against_baselines


def configure(args: argparse.Namespace) -> PPOConfig | APPOConfig:
    """Returns the algorithm's configuration."""
    batch = args.envs * args.rollout * max(1, args.runners)
    if args.asynchronous:
        module_class = MaskedTargetModule
        # A step per use of a batch, and a new target every 16 of them. With the defaults the target
        # would hold the policy back.
        config = APPOConfig().training(
            train_batch_size_per_learner=args.envs * args.rollout,
            circular_buffer_num_batches=4,
            circular_buffer_iterations_per_batch=4,
            target_network_update_freq=1,
        )
        config.reporting(min_time_s_per_iteration=5)
    else:
        module_class = MaskedModule
        config = PPOConfig().training(
            train_batch_size_per_learner=batch,
            minibatch_size=min(512, batch),
            num_epochs=4,
            lambda_=0.95,
            vf_clip_param=10.0,
        )
    game = {"game": args.game, "num_players": args.players, "seat": None, "skip_forced": True}
    return (
        config.environment(FeatureSeatVectorEnv, env_config=game)
        .env_runners(
            env_runner_cls=SeatEnvRunner,
            num_envs_per_env_runner=args.envs,
            num_env_runners=args.runners,
            rollout_fragment_length=args.rollout,
        )
        .learners(num_learners=0)
        .rl_module(
            rl_module_spec=RLModuleSpec(
                module_class=module_class, model_config={"hidden": [256, 256]}
            )
        )
        .training(lr=1e-3, gamma=1.0, entropy_coeff=0.01)
        .debugging(seed=args.seed, log_level="ERROR")
    )


def build(args: argparse.Namespace) -> Algorithm:
    """Builds the algorithm and its env runners."""
    return configure(args).build_algo()


def policy_of(algorithm: Algorithm) -> FunctionAgent:
    """Returns the learner's policy as an agent; APPO sends its weights to the runners alone."""
    learner = algorithm.learner_group
    algorithm.env_runner_group.sync_weights(from_worker_or_learner_group=learner)
    return FunctionAgent("rllib", algorithm.get_module().act)


def arguments() -> argparse.Namespace:
    """Returns the command-line arguments."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", help=f"{linkzoo.game_names()} or module:name")
    parser.add_argument("--players", type=int, default=None)
    parser.add_argument("--steps", type=int, default=100_000, help="decisions of the learner")
    parser.add_argument("--envs", type=int, default=64, help="games in lock-step per runner")
    parser.add_argument("--rollout", type=int, default=64, help="decisions of each game")
    parser.add_argument("--runners", type=int, default=0, help="processes that play; 0: this one")
    parser.add_argument("--asynchronous", action="store_true", help="APPO; needs runners")
    parser.add_argument("--blocks", type=int, default=50, help="blocks of each match")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Trains, with matches against random and greedy before and after."""
    args = arguments()
    torch.set_num_threads(1)
    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(
        num_cpus=max(1, args.runners), include_dashboard=False, object_store_memory=100_000_000
    )
    algorithm = build(args)

    def strength(when: str) -> None:
        agent = policy_of(algorithm)
        print(f"{when}:", against_baselines(args.game, agent, args.players, args.blocks))

    strength("untrained")
    played = 0
    iterations = 0
    while played < args.steps:
        result = algorithm.train()["env_runners"]
        played = int(result.get("num_env_steps_sampled_lifetime", 0))
        iterations = iterations + 1
        # No returns before the first game has ended.
        mean = result.get("episode_return_mean", float("nan"))
        print(f"{played:>9,} decisions, mean return {mean:+.2f}")
        if iterations % 4 == 0:
            algorithm.env_runner_group.foreach_env_runner(lambda runner: runner.add_opponent())
    strength(f"after {played} decisions")
    algorithm.stop()
    ray.shutdown()


if __name__ == "__main__":
    main()
