"""Samples actions from a policy on the device of its probabilities."""

import numpy as np
import torch
from torch import Tensor

from linkzoo.engine.compiled import compiled
from linkzoo.engine.rng import STREAM_POLICY, random_u64
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Float32s, Int64s
from linkzoo_training.networks.transfers import to_device


@compiled
def _uniform(seed: np.uint64, ply: int, game: int) -> np.float32:
    """Returns a uniform float32 below 1 with 24 random bits."""
    return np.float32(
        (random_u64(seed, STREAM_POLICY, ply, game) >> np.uint64(40)) / np.float32(2**24)
    )


@compiled
def _uniforms(first: int, last: int, out: Float32s, seed: np.uint64, ply: int, game: int) -> None:
    for i in range(first, last):
        out[i] = _uniform(seed, ply, game + i)


UNIFORMS = RowKernel(_uniforms, 512)


@compiled
def _choose(
    first: int,
    last: int,
    probabilities: Float32s,
    seed: np.uint64,
    ply: int,
    game: int,
    actions: Int64s,
    log_probability: Float32s,
) -> None:
    """Samples actions [N] from probabilities [N, A] for the games from `game` on."""
    for i in range(first, last):
        row = probabilities[i]
        total = np.float32(0)
        for action in range(row.shape[0]):
            total += row[action]
        remaining = _uniform(seed, ply, game + i) * total
        chosen = -1
        for action in range(row.shape[0]):
            if row[action] > 0:
                chosen = action
                remaining -= row[action]
                if remaining < 0:
                    break
        actions[i] = chosen
        log_probability[i] = np.log(row[chosen])


choose = RowKernel(_choose, 256)


def draw(probabilities: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Samples an action per row with torch operations.

    Args:
        probabilities: float32 [N, A], 0 where illegal.
        uniform: float32 [N], random numbers below 1, on the same device.

    Returns:
        Actions int64 [N], -1 where a row isn't finite, and their log-probabilities float32 [N].
    """
    sums = probabilities.cumsum(-1)
    total = sums[:, -1]
    actions = torch.searchsorted(sums, (uniform * total)[:, None], right=True)
    actions = actions.clamp(max=sums.shape[1] - 1)  # the product may be rounded up to the total
    # Sums made in parallel may grow where a probability is 0.
    possible = probabilities.gather(-1, actions) > 0
    actions = torch.where(possible, actions, probabilities.argmax(-1, True))
    log_probability = probabilities.gather(-1, actions)[:, 0].log()
    return torch.where(total.isfinite(), actions[:, 0], -1), log_probability


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
    rows = len(probabilities)
    device = probabilities.device
    if device.type == "cpu":
        actions = torch.empty(rows, dtype=torch.int64)
        log_probability = torch.empty(rows)
        choose(probabilities.numpy(), seed, ply, game, actions.numpy(), log_probability.numpy())
        return actions, log_probability
    uniform = np.empty(rows, np.float32)
    UNIFORMS(uniform, seed, ply, game)
    return draw(probabilities, to_device(uniform, device))
