"""Masks and observations by way of the thread's own memory, and from and to the device's in words.

Games lie one after the other, so threads side by side read and write places that are a row apart.
What that costs goes by the number of accesses, and rules read and write single bytes, many of them
twice. A thread's own memory lies beside that of the others and is cached: rules use that, and eight
bytes at a time go out, or come in.
"""

from functools import cache
from typing import Any

import numpy as np

from linkzoo.core.kernels import kernels, random_legal, step
from linkzoo.engine.rng import STREAM_ACTION
from linkzoo.engine.compiled import compiled, local, specialise
from linkzoo.core.game import Game
from linkzoo.engine.threads import Rows

WORD = 8  # bytes

# The names that `staged_step` binds.
step_own: Any
NUM_ACTIONS: int
MASK_WORDS: int
OBSERVATION_SIZE: int
OBSERVATION_WORDS: int
OBSERVATION_BYTES: int
OBSERVATION_DTYPE: Any


@compiled
def store(row: Any, size: Any, words: Any, row_index: Any) -> None:
    """Stores `size` bytes, those of the uint64 words `row`, as a row of the uint64 words `words`.

    Rows of `size` bytes follow one another in `words`, and few begin where a word does.
    """
    own, out = row.view(np.uint8), words.view(np.uint8)
    start = row_index * size
    before = min(-start % WORD, size)  # bytes up to the first whole word
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
def load(words: Any, row_index: Any, size: Any, row: Any) -> None:
    """What `store` stored, up to the last word of `row`, which may hold more than the row."""
    start = row_index * size
    first, before = start // WORD, start % WORD
    right, left = np.uint64(8 * before), np.uint64(8 * (WORD - before))
    for k in range(row.shape[0]):
        row[k] = words[first + k] >> right
        if before and first + k + 1 < words.shape[0]:
            row[k] |= words[first + k + 1] << left


@compiled
def _own(row: Any, _: Any) -> Any:
    """The thread's own mask or observation, for every game."""
    return row


def _step(
    first: Any,
    last: Any,
    states: Any,
    actions: Any,
    seeds: Any,
    episodes: Any,
    masks: Any,
    observations: Any,
    *others: Any,
) -> None:
    """As the step of `linkzoo.core.kernels`, but that masks and observations are words: see `store`."""
    mask_words = local(MASK_WORDS, np.uint64)
    observation_words = local(OBSERVATION_WORDS, np.uint64)
    mask = mask_words.view(np.int8)[:NUM_ACTIONS]
    observation = observation_words.view(OBSERVATION_DTYPE)[:OBSERVATION_SIZE]
    for i in range(first, last):
        step_own(i, i + 1, states, actions, seeds, episodes, mask, observation, *others)
        store(mask_words, NUM_ACTIONS, masks, i)
        store(observation_words, OBSERVATION_BYTES, observations, i)


def _random_actions(
    first: Any, last: Any, actions: Any, seeds: Any, index: Any, masks: Any
) -> None:
    """As that of `linkzoo.core.kernels`, but that masks are words."""
    mask_words = local(MASK_WORDS, np.uint64)
    mask = mask_words.view(np.int8)[:NUM_ACTIONS]
    for i in range(first, last):
        load(masks, i, NUM_ACTIONS, mask_words)
        actions[i] = random_legal(mask, seeds[i], STREAM_ACTION, index)


@cache
def staged_step(game: Game) -> Rows:
    """The step of a game."""
    spec = game.observation
    size = spec.size * np.dtype(spec.dtype).itemsize
    staged = specialise(
        _step,
        game.key,
        step_own=specialise(step, f"{game.key}_own", **kernels(game).rules, row=_own),
        NUM_ACTIONS=game.num_actions,
        MASK_WORDS=words(game.num_actions),
        OBSERVATION_SIZE=spec.size,
        OBSERVATION_WORDS=words(size),
        OBSERVATION_BYTES=size,
        OBSERVATION_DTYPE=np.dtype(spec.dtype).type,
    )
    return Rows(staged, 1)


@cache
def staged_random_actions(game: Game) -> Rows:
    """Uniformly random legal actions in a game; `actions` come first."""
    sizes = {"NUM_ACTIONS": game.num_actions, "MASK_WORDS": words(game.num_actions)}
    return Rows(specialise(_random_actions, game.key, **sizes), 1)


def words(size: int) -> int:
    """The words that hold so many bytes."""
    return -(-size // WORD)
