"""Draws the actions of a policy where its probabilities are, on the CPU or on a GPU."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkzoo.engine.rng import STREAM_POLICY, word
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import Rows
from linkzoo_training.transfers import to_device


@compiled
def _uniform(seed: Any, ply: Any, game: Any) -> Any:
    """A number below 1 with 24 bits: float32 holds it."""
    return np.float32((word(seed, STREAM_POLICY, ply, game) >> np.uint64(40)) / np.float32(2**24))


@compiled
def _uniforms(first: Any, last: Any, out: Any, seed: Any, ply: Any, game: Any) -> None:
    """Fills float32[N] with a number of every row: those of games from `game` on."""
    for i in range(first, last):
        out[i] = _uniform(seed, ply, game + i)


UNIFORMS = Rows(_uniforms, 512)


@compiled
def _choose(
    first: Any,
    last: Any,
    probabilities: Any,
    seed: Any,
    ply: Any,
    game: Any,
    actions: Any,
    log_probability: Any,
) -> None:
    """Draws an action of every row from float32 probabilities [N, A] that are 0 where illegal.

    Row 0 is of the game with this number, the other rows of those behind it.
    """
    for i in range(first, last):
        row = probabilities[i]
        total = np.float32(0)
        for action in range(row.shape[0]):
            total += row[action]
        left = _uniform(seed, ply, game + i) * total
        chosen = -1
        for action in range(row.shape[0]):
            if row[action] > 0:
                chosen = action
                left -= row[action]
                if left < 0:
                    break
        actions[i] = chosen
        log_probability[i] = np.log(row[chosen])


choose = Rows(_choose, 256)


def draw(probabilities: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """The same on the device of float32 probabilities [N, A], by uniform numbers [N] below 1.

    Actions int64[N], -1 where a row isn't finite, and their log-probabilities float32[N].
    """
    sums = probabilities.cumsum(-1)
    total = sums[:, -1]
    found = torch.searchsorted(sums, (uniform * total)[:, None], right=True)[:, 0]
    found = torch.where(found < sums.shape[1], found, probabilities.argmax(-1))  # of rounding
    drawn = torch.where(total.isfinite(), found, -1)
    return drawn, probabilities.gather(-1, found[:, None])[:, 0].log()


def sample(
    probabilities: Tensor, seed: np.uint64, ply: int, game: int = 0
) -> tuple[Tensor, Tensor]:
    """Draws an action of every row of float32 probabilities [N, A] that are 0 where illegal.

    The rows are of the games from `game` on. Actions int64[N], -1 where a row isn't finite, and
    their log-probabilities float32[N], on the device of the probabilities.
    """
    rows, device = len(probabilities), probabilities.device
    if device.type == "cpu":
        actions, log_probability = torch.empty(rows, dtype=torch.int64), torch.empty(rows)
        numbers = seed, ply, game
        choose(probabilities.numpy(), *numbers, actions.numpy(), log_probability.numpy())
        return actions, log_probability
    uniform = np.empty(rows, np.float32)
    UNIFORMS(uniform, seed, ply, game)
    return draw(probabilities, to_device(uniform, device))
