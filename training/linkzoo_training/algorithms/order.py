"""The order in which a trainer visits its data: a function of the seed and the pass."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_ORDER, permutation, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.networks.transfers import to_device


@compiled
def _draw(first: Any, last: Any, words: Any, seed: Any, passes: Any) -> None:
    """Fills int64[N] with random numbers."""
    for i in range(first, last):
        words[i] = np.int64(random_u64(seed, STREAM_ORDER, passes, i) >> np.uint64(1))


DRAW = RowKernel(_draw, 512)


def shuffled(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns the random permutation of `count` rows for a pass, int64[count] on the device.

    The permutation of a GPU differs from the CPU's: the GPU would have to wait for a sequential
    shuffle on the host.
    """
    if device.type == "cpu":
        return torch.from_numpy(permutation(count, seed, STREAM_ORDER, passes))
    return sorted_words(count, seed, passes, device)


def sorted_words(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns a random permutation by sorting one random number per row on the device."""
    words = np.empty(count, np.int64)
    DRAW(words, np.uint64(seed), passes)
    return to_device(words, device).argsort(stable=True)
