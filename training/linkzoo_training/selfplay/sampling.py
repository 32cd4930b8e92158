"""Draws the actions of a policy where its probabilities are, on the CPU or on a GPU."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkzoo.chance import STREAM_POLICY, word
from linkzoo.compiled import compiled
from linkzoo.threads import Rows


@compiled
def _choose(
    first: Any,
    last: Any,
    probabilities: Any,
    seed: Any,
    ply: Any,
    actions: Any,
    log_probability: Any,
) -> None:
    """Draws an action of every row from float32 probabilities [N, A] that are 0 where illegal."""
    for i in range(first, last):
        row = probabilities[i]
        total = np.float32(0)
        for action in range(row.shape[0]):
            total += row[action]
        uniform = (word(seed, STREAM_POLICY, ply, i) >> np.uint64(40)) / np.float32(2**24)
        left = np.float32(uniform) * total
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


def race(probabilities: Tensor, seed: int) -> tuple[Tensor, Tensor]:
    """Draws an action of every row on the device of float32 probabilities [N, A].

    Every action waits for a time that is exponential with its probability as the rate; the first
    one wins (as `torch.multinomial` does it). Actions int64[N], -1 where a row isn't finite, and
    their log-probabilities float32[N].
    """
    generator = torch.Generator(probabilities.device).manual_seed(seed)
    scale = torch.empty_like(probabilities).exponential_(generator=generator)
    drawn = (probabilities / scale.clamp_(min=torch.finfo(scale.dtype).tiny)).argmax(-1)
    logs = probabilities.gather(-1, drawn[:, None])[:, 0].log()
    return torch.where(probabilities.sum(-1).isfinite(), drawn, -1), logs


def sample(
    probabilities: Tensor, seed: np.uint64, ply: int, actions: Tensor, log_probability: Tensor
) -> None:
    """Draws an action of every row of float32 probabilities [N, A] that are 0 where illegal.

    Fills `actions` int64[N], -1 where a row isn't finite, and `log_probability` float32[N]; both
    lie on the host, so of a GPU's probabilities no more than these come back. The draw is a
    function of seed and ply, another one on each kind of device.
    """
    if probabilities.device.type == "cpu":
        drawn = actions.numpy(), log_probability.numpy()
        choose(probabilities.numpy(), seed, ply, *drawn)
        return
    chosen, logs = race(probabilities, int(word(seed, STREAM_POLICY, ply)))
    actions.copy_(chosen)
    log_probability.copy_(logs)
