"""Share of `make_vec`'s speed that each framework keeps when collecting.

    python -m lab.frameworks linkage --rounds 5  # with the framework extras installed

Measures the learner's decisions per second in the batched environments, with a fully connected 256
x 256 network that samples masked actions, on one thread. The baseline loop is `make_vec`, features
and that network. Measurements alternate over `rounds`; a ratio is the median of the ratios to the
baseline of the same round. Nothing learns.
"""

import argparse
import logging
import time
import warnings
from collections.abc import Callable
from statistics import median
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

import linkzoo
from linkzoo.core.features import FeatureMap
from linkzoo.engine.threads import set_num_threads
from linkzoo.integrations import FeatureSeatVectorEnv

Collect = Callable[[], int]  # continues, and returns the number of decisions


def network(inputs: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(inputs, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, outputs)
    )


def loop(game: str, games: int, steps: int) -> Collect:
    vec = linkzoo.make_vec(game, games)
    features = FeatureMap(vec.game.observation.spec)
    net = network(len(features), vec.game.num_actions)
    now = vec.reset(1)

    def choose(seen: Tensor, mask: Tensor) -> Tensor:
        logits = net(seen).masked_fill(~mask.bool(), -1e9)
        drawn: Tensor = torch.distributions.Categorical(logits=logits).sample()
        return drawn

    def collect() -> int:
        with torch.no_grad():
            for _ in range(steps):
                seen = features.scaled(now.observation.reshape(games, -1))
                action = choose(torch.from_numpy(seen), torch.from_numpy(now.action_mask))
                vec.step(action.numpy())
        return steps * games

    return collect


def torchrl(game: str, games: int, steps: int) -> Collect:
    from tensordict.nn import TensorDictModule
    from torchrl.collectors import Collector
    from torchrl.modules import MaskedCategorical, ProbabilisticActor

    from linkzoo.integrations.torchrl import SelfPlayEnv

    env = SelfPlayEnv(game, games)
    net = network(len(env.features), env.vec.game.num_actions)
    actor = ProbabilisticActor(
        TensorDictModule(net, in_keys=["observation"], out_keys=["logits"]),
        in_keys={"logits": "logits", "mask": "action_mask"},
        distribution_class=MaskedCategorical,
        return_log_prob=True,
    )
    collector = Collector(env, actor, frames_per_batch=steps * games, total_frames=-1)
    batches = iter(collector)
    return lambda: int(next(batches).numel())


def sb3(game: str, games: int, steps: int) -> Collect:
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.callbacks import CallbackList
    from stable_baselines3.common.vec_env import VecMonitor

    from linkzoo.integrations.sb3 import SB3VecEnv

    envs = VecMonitor(SB3VecEnv(FeatureSeatVectorEnv(game, games, illegal="raise")))
    model = MaskablePPO(
        "MlpPolicy", envs, n_steps=steps, policy_kwargs={"net_arch": [256, 256]}, device="cpu"
    )
    model._setup_learn(10**9)
    quiet = CallbackList([])
    quiet.init_callback(model)

    def collect() -> int:
        model.collect_rollouts(model.env, quiet, model.rollout_buffer, steps)
        return steps * games

    return collect


def tianshou(game: str, games: int, steps: int) -> Collect:
    from tianshou.algorithm.modelfree.dqn import DiscreteQLearningPolicy
    from tianshou.data import Collector, VectorReplayBuffer
    from tianshou.utils.net.common import Net

    from linkzoo.integrations.tianshou import TianshouVectorEnv

    envs = TianshouVectorEnv(game, games)
    inputs, actions = len(envs.envs.features), envs.envs.game.num_actions
    net = Net(state_shape=(inputs,), action_shape=(actions,), hidden_sizes=(256, 256))
    policy = DiscreteQLearningPolicy(model=net, action_space=envs.action_space[0], eps_training=0.1)
    collector = Collector[Any](
        policy, envs, VectorReplayBuffer(steps * games, games), raise_on_nan_in_buffer=False
    )
    collector.reset()
    return lambda: int(collector.collect(n_step=steps * games).n_collected_steps)


def rllib(game: str, games: int, steps: int) -> Collect:
    import ray
    from ray.rllib.algorithms.ppo import PPOConfig
    from ray.rllib.core.rl_module import RLModuleSpec

    from linkzoo.integrations.rllib import MaskedModule
    from linkzoo.integrations.rllib_runner import SeatEnvRunner

    logging.getLogger("ray").setLevel(logging.ERROR)
    ray.init(num_cpus=1, include_dashboard=False, object_store_memory=100_000_000)
    config = (
        PPOConfig()
        .environment(FeatureSeatVectorEnv, env_config={"game": game})
        .env_runners(env_runner_cls=SeatEnvRunner, num_envs_per_env_runner=games, num_env_runners=0)
        .learners(num_learners=0)
        .rl_module(rl_module_spec=RLModuleSpec(module_class=MaskedModule))
        .debugging(log_level="ERROR")
    )
    runner: Any = config.build_algo().env_runner

    def collect() -> int:
        episodes = runner.sample(num_timesteps=steps * games)
        runner.get_metrics()
        return sum(map(len, episodes))

    return collect


SYSTEMS = {"torchrl": torchrl, "sb3": sb3, "tianshou": tianshou, "rllib": rllib}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("game", nargs="?", default="linkage")
    parser.add_argument("--games", type=int, default=512, help="in lock-step")
    parser.add_argument("--steps", type=int, default=32, help="decisions of each game, a time")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    args = parser.parse_args()
    torch.set_num_threads(1)
    set_num_threads(1)
    warnings.simplefilter("ignore")
    sizes = (args.game, args.games, args.steps)
    collects = {"loop": loop(*sizes), **{name: SYSTEMS[name](*sizes) for name in args.systems}}
    torch.set_num_threads(1)  # same as RLlib
    for collect in collects.values():
        collect()  # compiles
    speeds: dict[str, list[float]] = {name: [] for name in collects}
    for _ in range(args.rounds):
        for name, collect in collects.items():
            began = time.perf_counter()
            speeds[name].append(collect() / (time.perf_counter() - began))
    print("| system | decisions/s | of the loop |\n|---|---:|---:|")
    for name, found in speeds.items():
        ratios = np.divide(found, speeds["loop"]).tolist()
        print(f"| {name} | {median(found):,.0f} | {median(ratios):.2f} |")


if __name__ == "__main__":
    main()
