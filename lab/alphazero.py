"""AlphaZero end to end, as a share of the speed of its network alone.

Run `python -m lab.alphazero linkage_az [field=value ...]`.

The network alone runs the same forward passes, backward passes and optimiser steps on prepared
batches, in the same process with the same threads. The difference is trees, simulator and
bookkeeping. Rounds alternate; both figures are medians. On a GPU it also prints the share of time
without a running kernel.
"""

import argparse
import time
from statistics import median
from typing import Any
from unittest.mock import patch

import numpy as np
import torch
from lab.gpu_idle import tell
from lab.gpu_turn import wait_for_turn
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.core.kernels import kernels, observations
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer, Batch
from linkzoo_training.config.config import AlphaZeroConfig, load_config
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.selfplay import replay
from linkzoo_training.selfplay.replay import ReplayGames, Samples


class Watched(AlphaZeroTrainer):
    """Counts the positions of each network call, and can learn samples repeatedly."""

    asked: list[int]
    ready: dict[int, Batch] | None = None

    def iterate(self) -> dict[str, float]:
        def counted(network: nn.Module, *rows: Tensor) -> list[Tensor]:
            self.asked.append(len(rows[0]))
            return sharded_forward(network, *rows)

        with patch.object(replay, "sharded_forward", counted):
            return super().iterate()

    def _batch(self, samples: Samples, index: int) -> Batch:
        if self.ready is None:
            return super()._batch(samples, index)
        if index not in self.ready:
            self.ready[index] = super()._batch(samples, index)
        return self.ready[index]


def network_alone(trainer: Watched, samples: Samples, features: NDArray[Any]) -> float:
    """Returns seconds of the last iteration's forwards, backwards and steps on prepared batches."""
    asked = trainer.asked.copy()
    trainer.ready = {}
    trainer.learn(samples)  # creates the batches
    start = time.perf_counter()
    for count in asked:
        sharded_forward(
            trainer.behaviour_policy, torch.from_numpy(features[:count]).to(trainer.device)
        )
    trainer.learn(samples)
    spent = time.perf_counter() - start
    trainer.ready = None
    return spent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("config")
    parser.add_argument("settings", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--rounds", type=int, default=8)
    arguments = parser.parse_args()
    config = load_config(arguments.config, arguments.settings)
    if not isinstance(config, AlphaZeroConfig):
        parser.error(f"{arguments.config} is of {config.algorithm}")
    trainer, whole, alone, simulations = Watched(config), list[float](), list[float](), 0
    trainer.asked = []
    for _ in range(config.window):  # until as much is learned as is played
        trainer.iterate()
    wait_for_turn()
    for _ in range(arguments.rounds):
        trainer.asked = []
        before = trainer.seconds
        trainer.iterate()
        whole.append(trainer.seconds - before)
        simulations = sum(trainer.asked)
        samples = trainer.samples_for_iteration()
        assert isinstance(trainer.play, ReplayGames)
        game, states = trainer.game, trainer.play.states
        masks = np.empty((len(states), game.num_actions), np.int8)
        kernels(game).fill_masks(states, masks)
        flat = observations(game, states, states["seat"])
        seen = trainer.network.encoding.encode(states, masks, flat)
        alone.append(network_alone(trainer, samples, seen))
    steps = config.num_envs * config.horizon
    end, net = steps / median(whole), steps / median(alone)
    print(
        f"end to end {end:,.0f} steps/s ({simulations / steps:.1f} positions evaluated for each), "
        f"network alone {net:,.0f} steps/s: {end / net:.1%}"
    )
    tell(trainer)


if __name__ == "__main__":
    main()
