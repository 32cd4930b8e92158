"""Steps that stage masks and observations in thread-local memory and transfer them as words.

Adjacent threads access memory one row apart, so the cost depends on the number of accesses, and
rules access single bytes, many of them twice. Thread-local memory is interleaved and cached: rules
work there, and eight bytes at a time are copied in and out.
"""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels, make_step, random_legal
from linkzoo.core.state import Actions, Records, Seeds
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.rng import STREAM_ACTION
from linkzoo.engine.threads import RowKernel

WORD = 8  # bytes


@compiled
def store(row: NDArray[np.uint64], size: int, words: NDArray[np.uint64], row_index: int) -> None:
    """Stores the first `size` bytes of the uint64 words `row` as a row of the uint64 words `words`.

    Rows of `size` bytes are contiguous in `words`, so most are unaligned.
    """
    own, out = row.view(np.uint8), words.view(np.uint8)
    start = row_index * size
    before = min(-start % WORD, size)  # bytes before the first whole word
    for k in range(before):
        out[start + k] = own[k]
    first, count = (start + before) // WORD, (size - before) // WORD
    if before:
        right, left = np.uint64(8 * before), np.uint64(8 * (WORD - before))
        for k in range(count):
            words[first + k] = (row[k] >> right) | (row[k + 1] << left)
    else:
        for k in range(count):
            words[first + k] = row[k]
    for k in range(before + WORD * count, size):
        out[start + k] = own[k]


@compiled
def load(words: NDArray[np.uint64], row_index: int, size: int, row: NDArray[np.uint64]) -> None:
    """Loads a row written by `store`, rounded up to the last word of `row`."""
    start = row_index * size
    first, before = start // WORD, start % WORD
    right, left = np.uint64(8 * before), np.uint64(8 * (WORD - before))
    for k in range(row.shape[0]):
        row[k] = words[first + k] >> right
        if before and first + k + 1 < words.shape[0]:
            row[k] |= words[first + k + 1] << left


@compiled
def own_row(rows: NDArray[Any], i: int) -> NDArray[Any]:  # noqa: ARG001  # RowOf
    """Returns the thread's own mask or observation, for any game."""
    return rows


@cache
def staged_step(game: Game) -> RowKernel:
    """Returns a game's step (`linkzoo.core.kernels`) with masks and observations as words."""
    step_own = make_step(kernels(game).functions, own_row)
    num_actions, size = game.num_actions, game.observation.spec.size
    dtype = np.dtype(game.observation.spec.dtype).type
    observation_bytes = size * np.dtype(dtype).itemsize
    mask_size, observation_size = words(num_actions), words(observation_bytes)

    @compiled
    def step(
        first: int,
        last: int,
        states: Records,
        actions: Actions,
        run_seed: Seeds,
        episodes: NDArray[np.int64],
        masks: NDArray[np.uint64],
        observations: NDArray[np.uint64],
        *others: Any,
    ) -> None:
        mask_words = local(mask_size, np.uint64)
        observation_words = local(observation_size, np.uint64)
        mask = mask_words.view(np.int8)[:num_actions]
        observation = observation_words.view(dtype)[:size]
        for i in range(first, last):
            step_own(i, i + 1, states, actions, run_seed, episodes, mask, observation, *others)
            store(mask_words, num_actions, masks, i)
            store(observation_words, observation_bytes, observations, i)

    return RowKernel(step, 1)


@cache
def staged_random_actions(game: Game) -> RowKernel:
    """Returns the kernel of uniformly random legal actions of a game; `actions` come first."""
    num_actions, mask_size = game.num_actions, words(game.num_actions)

    @compiled
    def random_actions(
        first: int, last: int, actions: Actions, seeds: Seeds, index: int, masks: NDArray[np.uint64]
    ) -> None:
        mask_words = local(mask_size, np.uint64)
        mask = mask_words.view(np.int8)[:num_actions]
        for i in range(first, last):
            load(masks, i, num_actions, mask_words)
            actions[i] = random_legal(mask, seeds[i], STREAM_ACTION, index)

    return RowKernel(random_actions, 1)


def words(size: int) -> int:
    """Returns the number of words that hold `size` bytes."""
    return -(-size // WORD)
