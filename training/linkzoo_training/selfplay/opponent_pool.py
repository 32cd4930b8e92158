"""A pool of frozen snapshots of the policy, against cycling and forgetting."""

import hashlib
from collections.abc import Mapping
from copy import deepcopy

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.engine.rng import STREAM_OPPONENTS, below, words
from linkzoo_training.checkpoint import named, pack, under, unpack

_DECAY = 0.98  # of old results, each iteration
_PRIOR = 2.0  # games won and lost by every new opponent before its first


class OpponentPool:
    """Up to `size` frozen opponents; the harder ones are met more often.

    The first quarter stays for good, and one of the opponents drawn is any of them: a role that
    loses to strong play anyway would never learn to punish weak play otherwise.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size, self.seed = size, seed
        self.networks: list[nn.Module] = []
        self._packed: list[tuple[str, bytes] | None] = []  # see `snapshots`; those known
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
            self._packed.append(None)
        else:
            first = self.size // 4
            slot = first + int(np.argmax(self.win_rates()[first:]))
            self.networks[slot], self._packed[slot] = frozen, None
        self.wins[slot] = self.games[slot] = 0
        return slot

    def draw(self, count: int, iteration: int) -> NDArray[np.int64]:
        """Slots of up to `count` opponents: one uniformly, the others by (1 - win rate)**2.

        They are drawn without replacement.
        """
        weights = (1 - self.win_rates()) ** 2
        seed, slots = np.uint64(self.seed), len(weights)
        if slots:
            weights[below(slots, seed, STREAM_OPPONENTS, iteration, slots)] = np.inf
        uniform = (words(seed, STREAM_OPPONENTS, iteration, np.arange(slots)) + 1.0) / 2**64
        # The largest u**(1/w) are a weighted sample (Efraimidis and Spirakis 2006).
        keys = np.log(uniform) / np.maximum(weights, 1e-6)
        return np.argsort(-keys)[:count].astype(np.int64)

    def result(self, slots: NDArray[np.int64], scores: NDArray[np.float64]) -> None:
        """Counts finished games: opponents' slots [G] and the learner's scores [G] in 0..1."""
        np.add.at(self.wins, slots, scores)
        np.add.at(self.games, slots, 1.0)

    def decay(self) -> None:
        """Lets old results count less; once an iteration."""
        self.wins *= _DECAY
        self.games *= _DECAY

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name."""
        saved = self.results()
        for slot, network in enumerate(self.networks):
            state = {name: tensor.cpu() for name, tensor in network.state_dict().items()}
            saved |= named(f"pool.{slot}.", state)
        return saved

    def results(self) -> dict[str, Tensor]:
        """What of `tensors` changes with every game."""
        return {
            "pool.wins": torch.from_numpy(self.wins.copy()),
            "pool.games": torch.from_numpy(self.games.copy()),
        }

    def load(self, saved: dict[str, Tensor], template: nn.Module) -> None:
        """Restores what `tensors` gave; `template` is a network of the same kind."""
        self.receive(saved, snapshots(saved), template)

    def snapshots(self) -> dict[str, bytes]:
        """All of the networks, packed, under names that tell slot and weights, in their order."""
        for slot, network in enumerate(self.networks):
            if self._packed[slot] is None:
                self._packed[slot] = _packed(slot, network.state_dict())
        return dict(one for one in self._packed if one is not None)

    def receive(
        self, results: dict[str, Tensor], snapshots: Mapping[str, bytes], template: nn.Module
    ) -> None:
        """Becomes the pool of these results and snapshots; networks that it has already stay."""
        before = {
            known[0]: network
            for known, network in zip(self._packed, self.networks, strict=True)
            if known is not None
        }
        networks: list[nn.Module] = []
        for name, data in snapshots.items():
            network = before.get(name)
            if network is None:
                network = deepcopy(template).requires_grad_(False)
                network.load_state_dict(unpack(data))
            networks.append(network)
        self.wins[:] = results["pool.wins"].numpy()
        self.games[:] = results["pool.games"].numpy()
        self.networks, self._packed = networks, list(snapshots.items())


def snapshots(saved: Mapping[str, Tensor]) -> dict[str, bytes]:
    """What `OpponentPool.snapshots` gave when the pool's `tensors` were saved."""
    found: dict[str, bytes] = {}
    while state := under(f"pool.{len(found)}.", saved):
        found |= [_packed(len(found), state)]
    return found


def _packed(slot: int, state: Mapping[str, Tensor]) -> tuple[str, bytes]:
    """A snapshot's weights as bytes, and a name for them."""
    data = pack(state)
    return f"{slot} {hashlib.sha256(data).hexdigest()}", data
