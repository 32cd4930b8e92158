"""A table of a network's outputs: searches of successive moves reach the same positions."""

import numpy as np

from linkzoo.engine.rng import STREAM_SEARCH, random_u64s
from linkzoo_training.arrays import Array, Bools, Float32s, Int8s, UInt64s
from linkzoo_training.networks.inputs import Inputs


class Evaluations:
    """Outputs of one network by the hash of its inputs; a new one replaces an older in its entry.

    A hash is the sum of all numbers that the network reads, each times a random one, modulo 2**64
    (Carter and Wegman, "Universal classes of hash functions", 1979).

    Args:
        inputs: The game's positions as the network reads them.
        entries: Number of entries.
    """

    def __init__(self, inputs: Inputs, entries: int) -> None:
        game = inputs.game
        self._factors = random_u64s(0, STREAM_SEARCH, np.arange(inputs.width + game.num_actions))
        self._keys = np.zeros(entries, np.uint64)  # 0: empty
        self._chances = np.zeros((entries, game.num_actions), np.float32)
        self._values = np.zeros((entries, game.max_players), np.float32)

    def keys(self, features: Array, masks: Int8s) -> UInt64s:
        """Returns the hashes [R] of inputs [R, F] and legal actions [R, A]."""
        hashes: UInt64s = np.concatenate([features, masks], 1).astype(np.uint64) @ self._factors
        return hashes

    def find(self, keys: UInt64s) -> tuple[Bools, Float32s, Float32s]:
        """Returns which are known, their probabilities [R, A] and relative values [R, P]."""
        entry = keys % np.uint64(len(self._keys))
        return self._keys[entry] == keys, self._chances[entry], self._values[entry]

    def keep(self, keys: UInt64s, chances: Float32s, values: Float32s) -> None:
        """Stores outputs."""
        entry = keys % np.uint64(len(self._keys))
        self._keys[entry], self._chances[entry], self._values[entry] = keys, chances, values
