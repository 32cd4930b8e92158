"""Samples from categorical distributions."""

import torch
from torch import Tensor


def draw(probabilities: Tensor, uniform: Tensor) -> tuple[Tensor, Tensor]:
    """Samples an action per row.

    Args:
        probabilities: Floats [N, A], 0 where illegal.
        uniform: Random numbers below 1 [N], of the same type and on the same device.

    Returns:
        Actions int64 [N], -1 where a row isn't finite, and their log-probabilities [N].
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
