"""A table of a network's outputs: searches of successive moves reach the same positions."""

from typing import NamedTuple

import numpy as np

from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_SEARCH, random_u64s
from linkzoo_training.arrays import Array, Float32s, Int8s, Int64s, UInt64s
from linkzoo_training.networks.inputs import Inputs


class _Table(NamedTuple):
    factors: UInt64s  # [F + A], of the hash
    keys: UInt64s  # [E], hashes; 0: empty
    asked: Int64s  # [E], index of the new row that is being evaluated; -1: none
    chances: Float32s  # [E, A]
    values: Float32s  # [E, P]


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
        self._table = _Table(
            factors=random_u64s(0, STREAM_SEARCH, np.arange(inputs.width + game.num_actions)),
            keys=np.zeros(entries, np.uint64),
            asked=np.full(entries, -1),
            chances=np.zeros((entries, game.num_actions), np.float32),
            values=np.zeros((entries, game.max_players), np.float32),
        )

    def find(self, features: Array, masks: Int8s) -> tuple[Int64s, Float32s, Float32s]:
        """Looks up inputs [R, F] with legal actions [R, A].

        Returns the rows that the network must evaluate, each input once, and probabilities [R, A]
        and relative values [R, P]. Those of rows that aren't known are there after `keep`.
        """
        count, table = len(features), self._table
        chances = np.empty((count, table.chances.shape[1]), np.float32)
        values = np.empty((count, table.values.shape[1]), np.float32)
        new, entries, source = np.empty((3, count), np.int64)
        self._found = entries, source, chances, values
        return new[: _find(table, features, masks, new, *self._found)], chances, values

    def keep(self, chances: Float32s, values: Float32s) -> None:
        """Adds the outputs [N, A] and [N, P] of the rows that the last `find` returned."""
        _keep(self._table, chances, values, *self._found)


@compiled
def _find(
    table: _Table,
    features: Array,
    masks: Int8s,
    new: Int64s,  # [R], output
    entries: Int64s,  # [R], output: the table's entry for each new row
    source: Int64s,  # [R], output: the index in `new` of the input; -1: it is known
    chances: Float32s,
    values: Float32s,
) -> int:
    """Copies known outputs, and lists new rows; returns their number."""
    count, width = 0, features.shape[1]
    for i in range(features.shape[0]):
        key = np.uint64(0)
        for k in range(width):
            key += np.uint64(features[i, k]) * table.factors[k]
        for action in range(masks.shape[1]):
            key += np.uint64(masks[i, action]) * table.factors[width + action]
        entry = np.int64(key % np.uint64(table.keys.shape[0]))
        if table.keys[entry] != key:
            table.keys[entry], table.asked[entry] = key, count
            new[count], entries[count] = i, entry
            count += 1
        source[i] = table.asked[entry]
        if source[i] < 0:
            chances[i], values[i] = table.chances[entry], table.values[entry]
    return count


@compiled
def _keep(
    table: _Table,
    new_chances: Float32s,
    new_values: Float32s,
    entries: Int64s,
    source: Int64s,
    chances: Float32s,
    values: Float32s,
) -> None:
    for i in range(source.shape[0]):
        if source[i] >= 0:
            chances[i], values[i] = new_chances[source[i]], new_values[source[i]]
    for n in range(new_chances.shape[0]):
        entry = entries[n]
        if table.asked[entry] == n:  # else a later row has replaced it
            table.chances[entry], table.values[entry] = new_chances[n], new_values[n]
            table.asked[entry] = -1
