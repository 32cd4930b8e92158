"""Pool of frozen policy snapshots, against cycling and forgetting."""

import hashlib
from collections.abc import Mapping
from copy import deepcopy

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.engine.rng import STREAM_OPPONENTS, below, random_u64s
from linkzoo_training.arrays import Float64s, Int64s
from linkzoo_training.checkpoints.checkpoint import add_prefix, pack, strip_prefix, unpack

_DECAY = 0.98  # decay of old results per iteration
_PRIOR = 2.0  # pseudo-games won and lost by every new opponent


class OpponentPool:
    """Up to `size` frozen opponents; harder ones are drawn more often.

    The first quarter of the slots is never replaced. One opponent of each draw is uniform:
    otherwise a role that always loses to strong play would never learn to punish weak play.
    """

    def __init__(self, size: int, seed: int) -> None:
        self.size = size
        self.seed = seed
        self.networks: list[nn.Module] = []
        self._packed: list[tuple[str, bytes] | None] = []  # see `snapshots`; None: not packed yet
        self.wins: Float64s = np.zeros(size)  # the learner's wins
        self.games: Float64s = np.zeros(size)

    def win_rates(self) -> Float64s:
        """Returns the learner's recent score against each opponent, 0..1."""
        count = len(self.networks)
        return np.asarray((self.wins[:count] + _PRIOR) / (self.games[:count] + 2 * _PRIOR))

    def add(self, network: nn.Module) -> int:
        """Adds a frozen copy of a network; returns its slot. A full pool replaces an easy one."""
        frozen = deepcopy(network).requires_grad_(False)
        slot = len(self.networks)
        if slot == self.size:
            first = self.size // 4
            slot = first + int(np.argmax(self.win_rates()[first:]))
        self.networks[slot : slot + 1] = [frozen]  # appends, or replaces
        self._packed[slot : slot + 1] = [None]
        self.wins[slot] = self.games[slot] = 0
        return slot

    def draw(self, count: int, iteration: int) -> Int64s:
        """Draws up to `count` distinct slots: one uniform, the others by (1 - win rate)**2."""
        weights = (1 - self.win_rates()) ** 2
        seed = np.uint64(self.seed)
        slots = len(weights)
        if slots:
            weights[below(slots, seed, STREAM_OPPONENTS, iteration, slots)] = np.inf
        uniform = (random_u64s(seed, STREAM_OPPONENTS, iteration, np.arange(slots)) + 1.0) / 2**64
        # Taking the largest u**(1/w) samples by weight (Efraimidis and Spirakis 2006).
        keys = np.log(uniform) / np.maximum(weights, 1e-6)
        return np.argsort(-keys)[:count].astype(np.int64)

    def count(self, wins: Float64s, games: Float64s) -> None:
        """Adds finished games by slot: the learner's total score (0..1 each) and game count."""
        self.wins[: len(wins)] += wins
        self.games[: len(games)] += games

    def decay(self) -> None:
        """Discounts old results; called once per iteration."""
        self.wins *= _DECAY
        self.games *= _DECAY

    def tensors(self) -> dict[str, Tensor]:
        """Returns the state as tensors by name."""
        saved = self.results()
        for slot, network in enumerate(self.networks):
            state = {name: tensor.cpu() for name, tensor in network.state_dict().items()}
            saved |= add_prefix(f"pool.{slot}.", state)
        return saved

    def results(self) -> dict[str, Tensor]:
        """Returns the part of `tensors` that changes with every game."""
        return {
            "pool.wins": torch.from_numpy(self.wins.copy()),
            "pool.games": torch.from_numpy(self.games.copy()),
        }

    def load(self, saved: dict[str, Tensor], template: nn.Module) -> None:
        """Restores the state from `tensors`; `template` is a network of the same architecture."""
        self.receive(saved, snapshots(saved), template)

    def snapshots(self) -> dict[str, bytes]:
        """Returns the packed networks in slot order, named by slot and weights."""
        for slot, network in enumerate(self.networks):
            if self._packed[slot] is None:
                self._packed[slot] = _packed(slot, network.state_dict())
        return dict(packed for packed in self._packed if packed is not None)

    def receive(
        self, results: dict[str, Tensor], snapshots: Mapping[str, bytes], template: nn.Module
    ) -> None:
        """Updates the pool to these results and snapshots; networks already present are kept."""
        pairs = zip(self._packed, self.networks, strict=True)
        present = {packed[0]: network for packed, network in pairs if packed is not None}
        for name, data in snapshots.items():
            if name not in present:
                present[name] = deepcopy(template).requires_grad_(False)
                present[name].load_state_dict(unpack(data))
        self.networks = [present[name] for name in snapshots]
        self._packed = list(snapshots.items())
        self.wins[:] = results["pool.wins"].numpy()
        self.games[:] = results["pool.games"].numpy()


def snapshots(saved: Mapping[str, Tensor]) -> dict[str, bytes]:
    """Returns `OpponentPool.snapshots` of a pool saved by `tensors`."""
    packed: dict[str, bytes] = {}
    while state := strip_prefix(f"pool.{len(packed)}.", saved):
        name, data = _packed(len(packed), state)
        packed[name] = data
    return packed


def _packed(slot: int, state: Mapping[str, Tensor]) -> tuple[str, bytes]:
    """Returns a snapshot's name and its weights as bytes."""
    data = pack(state)
    return f"{slot} {hashlib.sha256(data).hexdigest()}", data
