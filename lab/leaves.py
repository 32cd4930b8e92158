"""Measures the leaves and bytes that central inference sends, and the network's CPU time.

    python -m lab.leaves linkage_az 'simulations=[32]' num_envs=128

It plays as one worker does, on one thread, with a new network. The first iteration isn't measured.
"""

import argparse
import time
from dataclasses import replace

import torch
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo_training.config.config import AlphaZeroConfig, load_config
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import frozen, make_network
from linkzoo_training.runtime import use_bf16
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.replay import ReplayGames


class Counted(nn.Module):
    """A network; notes calls, rows, bytes and CPU seconds."""

    def __init__(self, network: nn.Module) -> None:
        super().__init__()
        self.network = network
        self.begin()

    def begin(self) -> None:
        """Begins to count."""
        self.calls = 0
        self.rows = 0
        self.sent = 0  # bytes
        self.received = 0
        self.seconds = 0.0

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the network's outputs."""
        started = time.process_time()
        logits, values = self.network(features)
        self.seconds += time.process_time() - started
        self.calls += 1
        self.rows += len(features)
        self.sent += features.nbytes
        self.received += logits.nbytes + values.nbytes
        return logits, values


def main() -> None:
    """Measures, and prints a row of a Markdown table."""
    parser = argparse.ArgumentParser(description="The leaves that a worker evaluates.")
    parser.add_argument("config", nargs="?", default="linkage_az")
    parser.add_argument("settings", nargs="*", metavar="FIELD=VALUE")
    parser.add_argument("--iterations", type=int, default=2)
    args = parser.parse_args()
    config = load_config(args.config, args.settings)
    assert isinstance(config, AlphaZeroConfig)
    torch.set_flush_denormal(True)
    shards.use(1)
    device = torch.device("cpu")
    game = get_game(config.game, config.options)
    bf16 = use_bf16(config.precision, device)
    network = Counted(frozen(make_network(game, config.network, config.width, config.blocks), bf16))
    games = ReplayGames(replace(config, num_threads=1), game, device)
    pool = OpponentPool(1, config.seed)
    games.collect(network, pool, 0.0, 0)
    network.begin()
    started = time.process_time()
    for iteration in range(1, args.iterations + 1):
        games.collect(network, pool, 0.0, iteration)
    seconds = time.process_time() - started
    plies = args.iterations * config.horizon * config.num_envs
    print(
        "| run | leaves a ply | leaves a call | bytes sent a leaf | bytes back | network's share |"
    )
    print("|---|" + "---:|" * 5)
    print(
        f"| {config.name} | {network.rows / plies:.1f} | {network.rows / network.calls:.0f} | "
        f"{network.sent / network.rows:.0f} | {network.received / network.rows:.0f} | "
        f"{network.seconds / seconds:.0%} |"
    )
    print(f"\n{plies / seconds:,.0f} plies/s, {network.rows / seconds:,.0f} leaves/s of one core")


if __name__ == "__main__":
    main()
