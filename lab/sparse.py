"""Compares the sparse first layer with torch's dense one: `python -m lab.sparse NAME ...`.

Times a forward pass and a training pass of each checkpoint's fully connected network on mid-game
positions, on one thread in float32: with integer features, whose zeros are skipped, and with dense
float features. Prints Markdown rows, best of alternating rounds.
"""

import argparse
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor

from linkzoo import make_vec
from linkzoo_training.agents.policy import PolicyAgent, load_agent
from linkzoo_training.networks.flat import FlatNet

CHECKPOINTS = ("love_formula", "love_links")
ROWS, PLIES, ROUNDS = 512, 20, 40


def features_of(agent: PolicyAgent) -> Tensor:
    """Returns a network's input features after some random plies, [ROWS, F]."""
    vec = make_vec(agent.game.name, ROWS)
    now = vec.reset(1)
    for ply in range(PLIES):
        now = vec.step(vec.random_actions(ply))
    return torch.from_numpy(agent.network.map(now.observation.reshape(ROWS, -1)))


def forward(network: FlatNet, features: Tensor) -> None:
    with torch.no_grad():
        network(features)


def training(network: FlatNet, features: Tensor) -> None:
    for parameter in network.parameters():
        parameter.grad = None
    logits, values = network(features)
    (logits.square().mean() + values.square().mean()).backward()


def microseconds(work: Callable[[FlatNet, Tensor], None], network: FlatNet, x: Tensor) -> float:
    """Returns the time of one pass, per row."""
    started = time.perf_counter()
    work(network, x)
    return 1e6 * (time.perf_counter() - started) / ROWS


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("checkpoints", nargs="*", default=CHECKPOINTS, metavar="NAME")
    torch.set_num_threads(1)
    columns = ["network", "features", "not 0", "pass"]
    columns += ["dense µs per row", "sparse µs per row", "faster"]
    print(f"| {' | '.join(columns)} |\n|{'---|' * len(columns)}")
    for name in parser.parse_args().checkpoints:
        agent = load_agent(name)
        if not isinstance(agent.network, FlatNet):
            parser.error(f"{name}: its network isn't fully connected")
        sparse = features_of(agent)
        dense = sparse.float()
        for work in (forward, training):
            rounds = [
                [microseconds(work, agent.network, x) for x in (dense, sparse)]
                for _ in range(ROUNDS)
            ]
            slow, fast = np.min(rounds, 0)
            filled = int((sparse != 0).sum()) / ROWS
            print(
                f"| {name} | {sparse.shape[1]:,} | {filled:.0f} | {work.__name__} | {slow:.1f} | "
                f"{fast:.1f} | {slow / fast:.1f}× |"
            )


if __name__ == "__main__":
    main()
