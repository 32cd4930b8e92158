"""Hashes of records and histories, and a table that finds equal records."""

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.state import Records
from linkzoo.engine.compiled import compiled

Words = NDArray[np.uint64]

TABLE = 1 << 20  # places of the table


def words_of(states: Records) -> Words:
    """Returns records [N] as words [N, W], which share their memory."""
    return states.view(np.uint64).reshape(len(states), states.itemsize // 8)


@compiled
def hash_of(words: Words) -> np.uint64:
    """Returns a hash of a record."""
    total = np.uint64(0)
    for i in range(words.shape[0]):
        total = mix(total, words[i])
    return total


@compiled
def hash_words(records: Words, hashes: Words) -> None:
    """Fills the hashes of records [N, W]."""
    for i in range(len(records)):
        hashes[i] = hash_of(records[i])


@compiled
def enter(table: NDArray[np.int32], hashes: Words, count: int, records: Words, words: Words) -> int:
    """Returns the index of an equal record; enters `count` and returns it if there is none."""
    slot = np.int64(hashes[count] & np.uint64(TABLE - 1))
    while table[slot] > 0:
        other = table[slot] - 1
        if hashes[other] == hashes[count] and _are_equal(records[other], words):
            return int(other)
        slot = (slot + 1) & (TABLE - 1)
    table[slot] = count + 1
    return count


@compiled
def _are_equal(first: Words, second: Words) -> bool:
    for i in range(len(first)):  # noqa: SIM110 - compiled
        if first[i] != second[i]:
            return False
    return True


@compiled
def clear(table: NDArray[np.int32], hashed: np.uint64) -> None:
    """Empties the places of a hash and all that follow without a gap."""
    slot = np.int64(hashed & np.uint64(TABLE - 1))
    while table[slot] > 0:
        table[slot] = 0
        slot = (slot + 1) & (TABLE - 1)


@compiled
def mix(total: np.uint64, word: np.uint64) -> np.uint64:
    """Returns the hash of a sequence with one more word (the steps of MurmurHash3's finaliser)."""
    total = np.uint64(total * np.uint64(0x9E3779B97F4A7C15)) ^ word
    total ^= total >> np.uint64(33)
    total *= np.uint64(0xFF51AFD7ED558CCD)
    total ^= total >> np.uint64(33)
    total *= np.uint64(0xC4CEB9FE1A85EC53)
    return total ^ (total >> np.uint64(33))
