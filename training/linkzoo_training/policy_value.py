"""What every policy and value network is."""

from typing import Any

import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.features import FeatureMap

# The layers that read features or answer, by name; all others are hidden.
OUTER = ("inputs", "numbers", "of_kinds", "of_groups", "policy", "elsewhere", "value")


class PolicyValueNet(nn.Module):
    """Logits of all actions and a value for every seat, from features (FeatureMap).

    `forward` takes features [B, F] (integers) and gives logits [B, A] and values [B, P]. Values are
    of the seats relative to the seat that observes: index 0 is its own.
    """

    value: nn.Linear

    def __init__(self, game: Game) -> None:
        super().__init__()
        self.map = FeatureMap(game.observation)

    def read(self, features: Tensor) -> tuple[Tensor | None, Tensor]:
        """What the heads answer from: cells of a board or graph [B, N, C], and the whole [B, D]."""
        raise NotImplementedError

    def answer(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Logits and values from what `read` gave."""
        raise NotImplementedError

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """See PolicyValueNet."""
        return self.answer(*self.read(features))


def quiet(head: Any) -> Any:
    """A head that starts near zero: a nearly uniform policy, values near 0."""
    with torch.no_grad():
        head.weight.mul_(0.01)
        head.bias.zero_()
    return head
