"""The order in which a trainer goes over its data, a function of the seed and of the pass."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkzoo.engine.rng import STREAM_ORDER, permutation, word
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import Rows
from linkzoo_training.transfers import to_device


@compiled
def _draw(first: Any, last: Any, words: Any, seed: Any, passes: Any) -> None:
    """Fills int64[N] with random words."""
    for i in range(first, last):
        words[i] = np.int64(word(seed, STREAM_ORDER, passes, i) >> np.uint64(1))


DRAW = Rows(_draw, 512)


def shuffled(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """The numbers below `count` in the random order of a pass; int64[count] on the device.

    A GPU has another order than the CPU: it would have to wait for the shuffling of one number
    after the other.
    """
    if device.type == "cpu":
        return torch.from_numpy(permutation(count, seed, STREAM_ORDER, passes))
    return sorted_words(count, seed, passes, device)


def sorted_words(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """As `shuffled`, from one random word for each number, sorted on the device."""
    words = np.empty(count, np.int64)
    DRAW(words, np.uint64(seed), passes)
    return to_device(words, device).argsort(stable=True)
