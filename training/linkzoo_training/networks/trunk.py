"""The trunk of fully connected networks."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo_training.networks.sparse import SparseLinear

MIN_DEVIATION = 0.1  # limits the scale of nearly constant features


class ResidualTrunk(nn.Module):
    """An input layer and `blocks` residual blocks of two dense layers: [B, F] to [B, width].

    Features are integers; `scale` [F] maps them to about -1..1 until `standardise` sets it from
    data. Each block has a learned gate that starts at zero (ReZero: Bachlechner et al. 2021).
    """

    scale: Tensor

    def __init__(self, scale: NDArray[np.float32], width: int, blocks: int) -> None:
        super().__init__()
        self.register_buffer("scale", torch.from_numpy(scale))
        self.inputs = SparseLinear(len(scale), width)
        self.first = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.second = nn.ModuleList(nn.Linear(width, width) for _ in range(blocks))
        self.gates = nn.Parameter(torch.zeros(blocks))

    def standardise(self, features: NDArray[Any]) -> None:
        """Sets the scale of every feature to 1 / its standard deviation in a sample [N, F]."""
        deviation = np.maximum(features.std(0, dtype=np.float32), MIN_DEVIATION)
        self.scale.copy_(torch.from_numpy(1 / deviation))

    def forward(self, features: Tensor) -> Tensor:
        """Maps integer features [B, F] to nonnegative activations [B, width]."""
        x = torch.relu(self.inputs(features, self.scale))
        for gate, first, second in zip(self.gates, self.first, self.second, strict=True):
            x = torch.addcmul(x, gate, second(torch.relu(first(x))))
        return torch.relu(x)
