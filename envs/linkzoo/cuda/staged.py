"""Steps that stage records, masks and observations near the processor, and transfer them as words.

Adjacent threads access memory one row apart, so the cost depends on the number of accesses, and
rules access single bytes, many of them twice. So rules work on copies. The copies of a block of
threads lie in shared memory, if they fit. Otherwise each thread has its own copies in local memory,
which is interleaved between threads and cached, and records stay in global memory.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.kernels import make_step
from linkzoo.core.state import Actions, Record, Records, Seeds
from linkzoo.engine.compiled import barrier, compiled, local, shared, thread, threads
from linkzoo.engine.rng import STREAM_ACTION, random_u64
from linkzoo.engine.threads import RowKernel

WORD = 8  # bytes
BLOCK = 32  # rows that are staged together
_SHARED = 48 * 1024  # bytes of shared memory per block
_ONES = np.uint64(0x0101010101010101)
_TOP = np.uint64(56)  # the highest byte of a word times _ONES is the sum of its bytes

Words = NDArray[np.uint64]


@compiled
def store(row: Words, size: int, words: Words, row_index: int) -> None:
    """Stores the first `size` bytes of the uint64 words `row` as a row of the uint64 words `words`.

    Rows of `size` bytes are contiguous in `words`, so most are unaligned.
    """
    row_bytes = row.view(np.uint8)
    out = words.view(np.uint8)
    start = row_index * size
    before = min(-start % WORD, size)  # bytes before the first whole word
    for k in range(before):
        out[start + k] = row_bytes[k]
    first = (start + before) // WORD
    count = (size - before) // WORD
    if before:
        right = np.uint64(8 * before)
        left = np.uint64(8 * (WORD - before))
        for k in range(count):
            words[first + k] = (row[k] >> right) | (row[k + 1] << left)
    else:
        for k in range(count):
            words[first + k] = row[k]
    for k in range(before + WORD * count, size):
        out[start + k] = row_bytes[k]


@compiled
def word_at(words: Words, start: int, k: int, size: int) -> np.uint64:
    """Returns bytes 8k..8k+7 of the row of `size` bytes from byte `start` on; 0 beyond the row."""
    first = start // WORD + k
    before = np.uint64(8 * (start % WORD))
    word = words[first] >> before
    if before and first + 1 < words.shape[0]:
        word |= words[first + 1] << (np.uint64(64) - before)
    remaining = size - WORD * k
    if remaining < WORD:
        word &= (np.uint64(1) << np.uint64(8 * remaining)) - np.uint64(1)
    return word  # type: ignore[no-any-return]  # uint64


@compiled
def own_row(rows: NDArray[Any], i: int) -> NDArray[Any]:  # noqa: ARG001  # RowOf
    """Returns the thread's own mask or observation, for any game."""
    return rows


@compiled
def own_record(records: Records, i: int) -> Record:  # noqa: ARG001  # RecordOf
    """Returns the thread's own record, for any game."""
    return records[0]  # type: ignore[no-any-return]  # a record


@compiled
def copy_words(source: Words, first: int, target: Words, to: int, count: int) -> None:
    """Copies words with all threads of a block, neighbouring words at the same time."""
    for k in range(thread(), count, threads()):
        target[to + k] = source[first + k]


def is_shared(game: Game) -> bool:
    """Returns whether `shared_step` can play a game."""
    return BLOCK * (game.state.itemsize + sum(_row_bytes(game))) <= _SHARED


@cache
def shared_step(game: Game) -> RowKernel:
    """Returns a game's step for blocks of threads, with all rows of a block in shared memory.

    The arguments are as in `staged_step`, but the records are words, uint64 [M]. Rows begin at
    multiples of BLOCK, so that blocks of masks and observations are whole words.
    """
    step_own = make_step(game, own_row, own_record)
    dtype = np.dtype(game.observation.spec.dtype).type
    record = game.state
    num_actions = game.num_actions
    size = game.observation.spec.size
    record_words = record.itemsize // WORD
    mask_bytes, observation_bytes = _row_bytes(game)
    all_records = BLOCK * record_words
    all_masks = BLOCK * mask_bytes // WORD
    all_observations = BLOCK * observation_bytes // WORD

    @compiled
    def step(
        first: int,
        last: int,
        actions: Actions,
        states: Words,
        run_seed: Seeds,
        episodes: NDArray[np.int64],
        masks: Words,
        observations: Words,
        *others: Any,
    ) -> None:
        near_states = shared(all_records, np.uint64)
        near_masks = shared(all_masks, np.uint64)
        near_observations = shared(all_observations, np.uint64)
        own_states = near_states.view(record)
        own_masks = near_masks.view(np.int8)
        own_observations = near_observations.view(dtype)
        for start in range(first, last, BLOCK):
            count = min(BLOCK, last - start)
            copy_words(states, start * record_words, near_states, 0, count * record_words)
            barrier()
            for k in range(thread(), count, threads()):
                i = start + k
                mask = own_masks[k * num_actions : (k + 1) * num_actions]
                observation = own_observations[k * size : (k + 1) * size]
                own = own_states[k : k + 1]
                step_own(i, i + 1, own, actions, run_seed, episodes, mask, observation, *others)
            barrier()
            copy_words(near_states, 0, states, start * record_words, count * record_words)
            filled = -(-count * mask_bytes // WORD)
            copy_words(near_masks, 0, masks, start * mask_bytes // WORD, filled)
            filled = -(-count * observation_bytes // WORD)
            copy_words(
                near_observations, 0, observations, start * observation_bytes // WORD, filled
            )
            barrier()

    return RowKernel(step, BLOCK, BLOCK)


@cache
def staged_step(game: Game) -> RowKernel:
    """Returns a game's step with masks and observations as words; actions come first."""
    step_own = make_step(game, own_row)
    num_actions = game.num_actions
    size = game.observation.spec.size
    dtype = np.dtype(game.observation.spec.dtype).type
    mask_bytes, observation_bytes = _row_bytes(game)
    mask_size = words(mask_bytes)
    observation_size = words(observation_bytes)

    @compiled
    def step(
        first: int,
        last: int,
        actions: Actions,
        states: Records,
        run_seed: Seeds,
        episodes: NDArray[np.int64],
        masks: Words,
        observations: Words,
        *others: Any,
    ) -> None:
        mask_words = local(mask_size, np.uint64)
        observation_words = local(observation_size, np.uint64)
        mask = mask_words.view(np.int8)[:num_actions]
        observation = observation_words.view(dtype)[:size]
        for i in range(first, last):
            step_own(i, i + 1, states, actions, run_seed, episodes, mask, observation, *others)
            store(mask_words, mask_bytes, masks, i)
            store(observation_words, observation_bytes, observations, i)

    return RowKernel(step, 1)


@cache
def staged_refresh(game: Game) -> RowKernel:
    """Returns the kernel that fills masks, observations and seats of the `changed` rows."""
    legal_actions = game.rules.legal_actions
    observe = game.observation.observe
    num_actions = game.num_actions
    size = game.observation.spec.size
    dtype = np.dtype(game.observation.spec.dtype).type
    mask_bytes, observation_bytes = _row_bytes(game)
    mask_size = words(mask_bytes)
    observation_size = words(observation_bytes)

    @compiled
    def refresh(
        first: int,
        last: int,
        states: Records,
        changed: NDArray[np.bool_],
        masks: Words,
        observations: Words,
        seats: NDArray[np.int8],
    ) -> None:
        mask_words = local(mask_size, np.uint64)
        observation_words = local(observation_size, np.uint64)
        mask = mask_words.view(np.int8)[:num_actions]
        observation = observation_words.view(dtype)[:size]
        for i in range(first, last):
            if changed[i]:
                legal_actions(states[i], mask)
                observe(states[i], states[i].seat, observation)
                seats[i] = states[i].seat
                store(mask_words, mask_bytes, masks, i)
                store(observation_words, observation_bytes, observations, i)

    return RowKernel(refresh, 1)


@cache
def staged_random_actions(game: Game) -> RowKernel:
    """Returns the kernel of uniformly random legal actions of a game; `actions` come first.

    The same as `linkzoo.core.kernels.random_legal`, but counts eight actions at a time.
    """
    num_actions = game.num_actions
    mask_size = words(num_actions)

    @compiled
    def random_actions(
        first: int, last: int, actions: Actions, seeds: Seeds, index: int, masks: Words
    ) -> None:
        for i in range(first, last):
            start = i * num_actions
            count = np.uint64(0)
            for k in range(mask_size):
                count += (word_at(masks, start, k, num_actions) * _ONES) >> _TOP
            actions[i] = -1
            if count == 0:
                continue
            remaining = random_u64(seeds[i], STREAM_ACTION, index) % count
            k = 0
            word = word_at(masks, start, k, num_actions)
            while remaining >= (word * _ONES) >> _TOP:
                remaining -= (word * _ONES) >> _TOP
                k += 1
                word = word_at(masks, start, k, num_actions)
            chosen = WORD * k
            while remaining > 0 or not word & np.uint64(1):
                remaining -= word & np.uint64(1)
                word >>= np.uint64(8)
                chosen += 1
            actions[i] = chosen

    return RowKernel(random_actions, 1)


def words(size: int) -> int:
    """Returns the number of words that hold `size` bytes."""
    return -(-size // WORD)


def _row_bytes(game: Game) -> tuple[int, int]:
    """Returns the bytes of a mask and of an observation."""
    spec = game.observation.spec
    return game.num_actions, spec.size * np.dtype(spec.dtype).itemsize
