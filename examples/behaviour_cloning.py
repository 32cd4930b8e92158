"""Behaviour cloning from a Minari data set, in one file; docs/tutorials/data.md makes one.

python examples/behaviour_cloning.py love_links data
"""

import os
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from linkzoo import Positions, RandomAgent
from linkzoo_training import play_match


class Clone:
    """Plays the most probable action of a network."""

    name = "clone"

    def __init__(self, network: nn.Module) -> None:
        self.network = network

    def act(self, positions: Positions) -> Any:
        """Returns the actions, int64[N]."""
        seen = torch.from_numpy(positions.observation).flatten(1).float()
        legal = torch.from_numpy(positions.action_mask != 0)
        with torch.no_grad():
            return self.network(seen).masked_fill(~legal, -torch.inf).argmax(-1).numpy()


def main(game: str, folder: str) -> None:
    """Learns from all seats of all games, and plays against random."""
    os.environ["MINARI_DATASETS_PATH"] = str(Path(folder).resolve())
    import minari

    episodes = minari.load_dataset(f"linkzoo/{game}/selfplay-v0")
    rows = [(e.observations[:-1], e.infos["action_mask"][:-1], e.actions) for e in episodes]
    observations, masks, actions = (np.concatenate(part) for part in zip(*rows, strict=True))
    seen = torch.from_numpy(observations).flatten(1).float()
    legal = torch.from_numpy(masks != 0)
    chosen = torch.from_numpy(actions)
    torch.manual_seed(0)
    layers = nn.Linear(seen.shape[1], 256), nn.ReLU(), nn.Linear(256, legal.shape[1])
    optimizer = torch.optim.Adam((network := nn.Sequential(*layers)).parameters(), lr=1e-3)
    for epoch in range(10):
        for part in torch.randperm(len(seen)).split(256):
            logits = network(seen[part]).masked_fill(~legal[part], -1e9)
            loss = nn.functional.cross_entropy(logits, chosen[part])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch + 1}: loss {loss.item():.3f}")
    print(play_match(game, Clone(network), RandomAgent(), blocks=100, seed=1))


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
