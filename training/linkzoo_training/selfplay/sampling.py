"""Samples actions from a policy on the device of its probabilities."""

import numpy as np
from torch import Tensor

from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_POLICY, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s
from linkzoo_training.networks.categorical import draw
from linkzoo_training.networks.transfers import to_device


@compiled
def _uniforms(first: int, last: int, out: Float32s, seed: np.uint64, ply: int, game: int) -> None:
    """Fills `out` [N] with uniform numbers below 1, of 24 random bits, of the games from `game`."""
    for i in range(first, last):
        bits = random_u64(seed, STREAM_POLICY, ply, game + i) >> np.uint64(40)
        out[i] = bits / np.float32(2**24)


UNIFORMS = RowKernel(_uniforms, 4096)


def sample(
    probabilities: Tensor, seed: np.uint64, ply: int, game: int = 0
) -> tuple[Tensor, Tensor]:
    """Samples an action per row on the device of the probabilities.

    The randomness is a function of the run's seed, its ply and the number of the game.

    Args:
        probabilities: float32 [N, A], 0 where illegal.
        seed: The run's seed.
        ply: The ply.
        game: The number of the first row's game; the next rows are of the next games.

    Returns:
        Actions and log-probabilities, as from `draw`.
    """
    uniform = np.empty(len(probabilities), np.float32)
    UNIFORMS(uniform, seed, ply, game)
    return draw(probabilities, to_device(uniform, probabilities.device))
