"""A table of a network's outputs: searches of successive moves reach the same positions."""

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64s
from linkzoo_training.arrays import Array, Int64s, UInt64s
from linkzoo_training.networks.inputs import Inputs


class Evaluations:
    """Outputs of one network by the hash of its inputs; a new one replaces an older in its entry.

    A hash is the sum of all numbers that the network reads, each times a random one, modulo 2**64
    (Carter and Wegman, "Universal classes of hash functions", 1979).

    Args:
        inputs: The game's positions as the network reads them.
        entries: Number of entries E, at least as many as inputs of one call.

    Attributes:
        logits: float32 [E, A].
        values: Relative values, float32 [E, P].
    """

    def __init__(self, inputs: Inputs, entries: int) -> None:
        game = inputs.game
        self.logits = np.zeros((entries, game.num_actions), np.float32)
        self.values = np.zeros((entries, game.max_players), np.float32)
        self._factors = random_u64s(0, STREAM_SEARCH, np.arange(inputs.width))
        self._keys = np.zeros(entries, np.uint64)  # 0: empty
        self._calls = np.zeros(entries, np.int64)  # the last call that used an entry
        self._call = 0

    def find(self, features: Array) -> tuple[Int64s, Int64s]:
        """Looks up inputs [R, F].

        Returns:
            The entry of each input, [R], and the rows of new inputs, each input once. The caller
            has to set their outputs before the next call.

        Raises:
            ValueError: There are more inputs than entries.
        """
        if len(features) > len(self._keys):
            raise ValueError(f"{len(features)} inputs for {len(self._keys)} entries")
        self._call += 1
        entries = np.empty(len(features), np.int64)
        new = np.empty(len(features), np.int64)
        count = _find(features, self._factors, self._keys, self._calls, self._call, entries, new)
        return entries, new[:count]


@compiled
def _find(
    features: Array,
    factors: UInt64s,
    keys: UInt64s,
    calls: Int64s,
    call: int,
    entries: Int64s,
    new: Int64s,
) -> int:
    """Fills the entries, which differ for different inputs, and new rows; returns their number."""
    count = 0
    for i in range(features.shape[0]):
        key = np.uint64(0)
        for k in range(features.shape[1]):
            key += np.uint64(features[i, k]) * factors[k]
        entry = np.int64(key % np.uint64(keys.shape[0]))
        while keys[entry] != key and calls[entry] == call:  # in use by another input
            entry = (entry + 1) % keys.shape[0]
        if keys[entry] != key:
            keys[entry] = key
            new[count] = i
            count += 1
        entries[i] = entry
        calls[entry] = call
    return count
