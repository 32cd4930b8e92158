"""A pool of frozen snapshots of the policy, against cycling and forgetting."""

from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.chance import below, word

_STREAM = 2000
_DECAY = 0.98  # of old results, each iteration
_PRIOR = 2.0  # games won and lost by every new opponent before its first


class Pool:
    """Up to `size` frozen opponents; the harder ones are met more often.

    The first quarter stays for good, and one of the opponents drawn is any of them: a role that
    loses to strong play anyway would never learn to punish weak play otherwise.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.networks: list[nn.Module] = []
        self.wins: NDArray[np.float64] = np.zeros(size)  # of the learner
        self.games: NDArray[np.float64] = np.zeros(size)

    def win_rates(self) -> NDArray[np.float64]:
        """The learner's recent score against each opponent, 0..1."""
        count = len(self.networks)
        return np.asarray((self.wins[:count] + _PRIOR) / (self.games[:count] + 2 * _PRIOR))

    def add(self, network: nn.Module) -> int:
        """Freezes a copy of a network and returns its slot; a full pool gives up an easy one."""
        frozen = deepcopy(network).requires_grad_(False)
        if len(self.networks) < self.size:
            slot = len(self.networks)
            self.networks.append(frozen)
        else:
            first = self.size // 4
            slot = first + int(np.argmax(self.win_rates()[first:]))
            self.networks[slot] = frozen
        self.wins[slot] = self.games[slot] = 0
        return slot

    def draw(self, count: int, iteration: int) -> NDArray[np.int64]:
        """Slots of up to `count` opponents: one uniformly, the others by (1 - win rate)**2.

        They are drawn without replacement.
        """
        weights = (1 - self.win_rates()) ** 2
        seed, slots = np.uint64(self.seed), len(weights)
        if slots:
            weights[below(slots, seed, _STREAM, iteration, slots)] = np.inf
        uniform = [(int(word(seed, _STREAM, iteration, slot)) + 1) / 2**64 for slot in range(slots)]
        # The largest u**(1/w) are a weighted sample (Efraimidis and Spirakis 2006).
        keys = np.log(uniform) / np.maximum(weights, 1e-6)
        return np.argsort(-keys)[:count].astype(np.int64)

    def result(self, slots: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Counts finished games: opponents' slots [G] and the learner's scores [G] in 0..1."""
        np.add.at(self.wins, slots, scores)
        np.add.at(self.games, slots, 1.0)

    def fade(self) -> None:
        """Lets old results count less; once an iteration."""
        self.wins *= _DECAY
        self.games *= _DECAY

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name."""
        saved = {
            "pool.wins": torch.from_numpy(self.wins.copy()),
            "pool.games": torch.from_numpy(self.games.copy()),
        }
        for slot, network in enumerate(self.networks):
            for name, tensor in network.state_dict().items():
                saved[f"pool.{slot}.{name}"] = tensor.cpu()
        return saved

    def load(self, saved: dict[str, Tensor], template: nn.Module) -> None:
        """Restores what `tensors` gave; `template` is a network of the same kind."""
        self.wins[:] = saved["pool.wins"].numpy()
        self.games[:] = saved["pool.games"].numpy()
        self.networks = []
        while any(name.startswith(f"pool.{len(self.networks)}.") for name in saved):
            prefix = f"pool.{len(self.networks)}."
            network = deepcopy(template).requires_grad_(False)
            network.load_state_dict(
                {
                    name.removeprefix(prefix): tensor
                    for name, tensor in saved.items()
                    if name.startswith(prefix)
                }
            )
            self.networks.append(network)
