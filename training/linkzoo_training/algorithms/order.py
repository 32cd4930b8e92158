"""The order in which a trainer visits its data: a function of the seed and the pass."""

import numpy as np
import torch
from torch import Tensor

from linkzoo.engine.rng import STREAM_ORDER, permutation, random_u64s
from linkzoo_training.networks.transfers import to_device


def shuffled(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns the random permutation of `count` rows for a pass, int64[count] on the device.

    The permutation of a GPU differs from the CPU's: the GPU would have to wait for a sequential
    shuffle on the host.
    """
    if device.type == "cpu":
        return torch.from_numpy(permutation(count, seed, STREAM_ORDER, passes))
    return sorted_keys(count, seed, passes, device)


def sorted_keys(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns a random permutation by sorting one random number per row on the device."""
    numbers = random_u64s(seed, STREAM_ORDER, passes, np.arange(count))
    keys = (numbers >> np.uint64(1)).astype(np.int64)
    return to_device(keys, device).argsort(stable=True)
