"""PPO end to end, as a share of the speed of its network alone.

Run `python -m lab.ppo linkage_ppo [field=value ...]`.

The network alone runs the same forward passes, backward passes and optimiser steps on prepared
batches, in the same process with the same threads. The difference is simulator, sampling,
advantages and bookkeeping. Rounds alternate; both figures are medians. On a GPU it also prints the
share of time without a running kernel.
"""

import argparse
import time
from statistics import median

import torch
from lab.gpu_idle import tell
from lab.gpu_turn import wait_for_turn

from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.config.config import PPOConfig, load_config
from linkzoo_training.networks.flat import masked
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.selfplay.rollout import Batch
from linkzoo_training.selfplay.workers import SelfPlayWorkers


def network_alone(trainer: PPOTrainer, batch: Batch) -> float:
    """Returns seconds of an iteration's forwards, backwards and steps on a prepared batch."""
    config, play, critic = trainer.config, trainer.play, trainer.behaviour_critic
    assert not isinstance(play, SelfPlayWorkers)
    kept = play._features, play._privileged, play._mask
    seen, hidden, mask = (buffer.device for buffer in kept)
    every = torch.arange(config.num_envs, device=trainer.device)
    opponent = play.opponents.slot.to(trainer.device)
    networks = trainer.pool.networks
    met = []  # per ply: pool networks with the games in which they act
    for t in range(config.horizon):
        frozen = play.opponents.act_in(play._seat[t]).to(trainer.device)
        acting = {s for s in opponent[frozen].tolist() if s < trainer.pool.size}  # without agents
        met.append([(networks[s], every[frozen & (opponent == s)]) for s in acting])
    start = time.perf_counter()
    for t in range(config.horizon):
        logits, _ = sharded_forward(trainer.behaviour_policy, seen[t])
        if critic is not None:
            sharded_forward(lambda *rows: (critic(*rows),), seen[t], hidden[t])
        torch.softmax(masked(logits, mask[t]), -1)
        for network, rows in met[t]:
            logits, _ = sharded_forward(network, seen[t][rows])
            torch.softmax(masked(logits, mask[t][rows]), -1)
    sharded_forward(trainer.behaviour_policy, seen[-1])
    trainer.learn(batch)
    return time.perf_counter() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("settings", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    config = load_config(arguments.config, arguments.settings)
    if not isinstance(config, PPOConfig):
        parser.error(f"{arguments.config} is of {config.algorithm}")
    trainer = PPOTrainer(config)
    for _ in range(3):
        trainer.iterate()
    wait_for_turn()
    batch = trainer.play.collect(
        trainer.behaviour_policy, trainer.pool, 0.0, trainer.iteration, trainer.behaviour_critic
    )
    whole, alone = [], []
    for _ in range(arguments.rounds):
        before = trainer.seconds
        trainer.iterate()
        whole.append(trainer.seconds - before)
        alone.append(network_alone(trainer, batch))
    steps = trainer.config.num_envs * trainer.config.horizon
    end, net = steps / median(whole), steps / median(alone)
    print(f"end to end {end:,.0f} steps/s, network alone {net:,.0f} steps/s: {end / net:.1%}")
    tell(trainer)


if __name__ == "__main__":
    main()
