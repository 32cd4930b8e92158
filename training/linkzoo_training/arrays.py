"""Types of NumPy arrays, and numbers by seat."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
Bools = NDArray[np.bool_]
Int8s = NDArray[np.int8]
Int64s = NDArray[np.int64]
UInt64s = NDArray[np.uint64]
Float32s = NDArray[np.float32]
Float64s = NDArray[np.float64]


def relative(numbers: Float32s, seat: Array, players: Array) -> Float32s:
    """Rotates numbers [M, P] by seat so that `seat` [M] comes first; 0 beyond `players` [M]."""
    index = np.arange(numbers.shape[1])
    absolute = (seat[:, None].astype(np.int64) + index) % players[:, None]
    rotated: Float32s = np.take_along_axis(numbers, absolute, 1)
    return np.where(index < players[:, None], rotated, np.float32(0))
