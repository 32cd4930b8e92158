"""Base class of policy and value networks."""

from abc import ABC, abstractmethod
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo_training.networks.inputs import Inputs

# Names of input and output layers; all others are hidden. `module`: a user's whole network.
OUTER = {
    "inputs",
    "numbers",
    "of_kinds",
    "of_groups",
    "described",
    "linear",
    "action",
    "policy",
    "elsewhere",
    "value",
    "module",
}


class PolicyValueNet(nn.Module, ABC):
    """Logits of all actions and a value for every seat, from features (Inputs).

    `forward` maps integer features [B, F] to logits [B, A] and values [B, P]. Values are relative
    to the observing seat: index 0 is its own.
    """

    has_scales = False  # whether `standardise` sets any
    keeps_float32 = False  # whether inference copies stay in float32

    def __init__(self, game: Game, *, lists_actions: bool = False) -> None:
        super().__init__()
        self.encoding = Inputs(game, lists_actions=lists_actions)
        self.map = self.encoding.map

    def standardise(self, features: NDArray[Any]) -> None:
        """Sets input scales from a sample [N, F] of features, in fully connected networks."""

    @abstractmethod
    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P]."""


def small_init(head: nn.Linear) -> nn.Linear:
    """Shrinks a head's initial weights: a nearly uniform policy, values near 0."""
    with torch.no_grad():
        head.weight.mul_(0.01)
        head.bias.zero_()
    return head
