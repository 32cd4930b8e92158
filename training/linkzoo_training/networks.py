"""The policy and value network: fully connected, residual."""

from typing import Any

import numpy as np
import torch
from linkzoo import Game, ObservationSpec
from numpy.typing import NDArray
from torch import Tensor, nn

ILLEGAL_LOGIT = -1e9


def feature_columns(spec: ObservationSpec) -> NDArray[np.int64]:
    """The elements of a flat observation that the network reads: broadcast pieces only once."""
    columns: list[NDArray[Any]] = []
    for piece, where in zip(spec.pieces, spec.slices().values(), strict=True):
        indices = np.arange(where.start, where.stop)
        if piece.broadcast:
            indices = indices.reshape(-1, int(np.prod(piece.shape[-2:])))[:, 0]
        columns.append(indices)
    return np.concatenate(columns).astype(np.int64)


def feature_scale(spec: ObservationSpec) -> NDArray[np.float32]:
    """What each feature is multiplied with, so that it lies in -1..1."""
    space = spec.space()
    bound = np.maximum(np.abs(space.low), np.abs(space.high)).reshape(-1)
    scale: NDArray[np.float32] = (1.0 / np.maximum(bound, 1)).astype(np.float32)
    return scale[feature_columns(spec)]


class PolicyValueNet(nn.Module):
    """Logits of all actions and a value for every seat, from the features of an observation.

    A linear layer, `blocks` residual blocks of two layers with a learned gate that starts at zero
    (ReZero: Bachlechner et al. 2021), and two linear heads.
    """

    scale: Tensor

    def __init__(self, game: Game, width: int = 256, blocks: int = 4) -> None:
        super().__init__()
        scale = feature_scale(game.observation)
        self.register_buffer("scale", torch.from_numpy(scale), persistent=False)
        self.inputs = nn.Linear(len(scale), width)
        self.first = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.second = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.gates = nn.Parameter(torch.zeros(blocks))
        self.policy = nn.Linear(width, game.num_actions)
        self.value = nn.Linear(width, game.max_players)
        with torch.no_grad():
            self.policy.weight.mul_(0.01)
            self.policy.bias.zero_()
            self.value.weight.mul_(0.1)
            self.value.bias.zero_()

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Features [B, F] (integers) to logits [B, A] and values [B, P].

        Values are of the seats relative to the seat that observes: index 0 is its own.
        """
        x = torch.relu(self.inputs(features.to(self.scale.dtype) * self.scale))
        for gate, first, second in zip(self.gates, self.first, self.second, strict=True):
            x = x + gate * second(torch.relu(first(x)))
        x = torch.relu(x)
        return self.policy(x), self.value(x)


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Float32 logits with illegal actions (mask 0) at ILLEGAL_LOGIT; shapes [B, A]."""
    return logits.float().masked_fill(mask == 0, ILLEGAL_LOGIT)


def parameter_count(network: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(parameter.numel() for parameter in network.parameters())
