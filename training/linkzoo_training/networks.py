"""Fully connected networks, the heads and critics of training, and networks by their kinds."""

from collections.abc import Sequence
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.features import RAW, FeatureMap
from linkzoo_training.cell_networks import BoardNet, GraphNet
from linkzoo_training.policy_value import OUTER, PolicyValueNet, quiet
from linkzoo_training.sparse import SparseLinear

ILLEGAL_LOGIT = -1e9
_LEAST_DEVIATION = 0.1  # of an integer: what hardly ever varies isn't blown up further
Network = TypeVar("Network", bound=nn.Module)


class ResidualTrunk(nn.Module):
    """Fully connected: a layer, then `blocks` residual blocks of two layers; [B, F] to [B, width].

    Features are integers; `scale` [F] makes them numbers of about -1..1, until `standardise` learns
    how far they vary. Each block has a learned gate that starts at zero (ReZero: Bachlechner et al.
    2021).
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
        """Scales every feature by its standard deviation in a sample [N, F]."""
        deviation = np.maximum(features.std(0, dtype=np.float32), _LEAST_DEVIATION)
        self.scale.copy_(torch.from_numpy(1 / deviation))

    def forward(self, features: Tensor) -> Tensor:
        """Integers to numbers of 0 or more."""
        x = torch.relu(self.inputs(features, self.scale))
        for gate, first, second in zip(self.gates, self.first, self.second, strict=True):
            x = x + gate * second(torch.relu(first(x)))
        return torch.relu(x)


class FlatNet(PolicyValueNet):
    """Fully connected: a trunk and two heads."""

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        self.trunk = ResidualTrunk(self.map.scale, width, blocks)
        self.policy = quiet(nn.Linear(width, game.num_actions))
        self.value = quiet(nn.Linear(width, game.max_players))

    def read(self, features: Tensor) -> tuple[None, Tensor]:
        """See PolicyValueNet."""
        return None, self.trunk(features)

    def answer(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:  # noqa: ARG002
        """See PolicyValueNet."""
        return self.policy(whole), self.value(whole)


class Critic(nn.Module):
    """Values from what a seat sees and from what is hidden from it, for training alone.

    Takes features [B, F] of observations and features [B, H] of `Game.hidden`; gives values [B, P]
    as PolicyValueNet does. It knows more than any player, so its values are less noisy (PerfectDou:
    Yang et al. 2022).
    """

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__()
        if game.hidden is None:
            raise ValueError(f"critic: {game.name} has no hidden information; use 'shared'")
        seen, hidden = FeatureMap(game.observation), FeatureMap(game.hidden)
        self.trunk = ResidualTrunk(np.concatenate([seen.scale, hidden.scale]), width, blocks)
        self.value = quiet(nn.Linear(width, game.max_players))

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        """Values of all seats, relative to the seat that observes."""
        values: Tensor = self.value(self.trunk(torch.cat([features, hidden], 1)))
        return values


class AuxiliaryHeads(nn.Module):
    """What the end of the game will look like: heads that make training richer, and play no part.

    From what a network reads, the margins [B, P] of the seats relative to the one that observes
    and, where there is a board, its planes [B, C * H * W] as that seat will see them, scaled.
    """

    def __init__(self, network: PolicyValueNet) -> None:
        super().__init__()
        self.margins = quiet(nn.Linear(network.value.in_features, network.value.out_features))
        self.planes: nn.Linear | None = None
        if isinstance(network, BoardNet):
            self.planes = quiet(nn.Linear(network.policy.in_features, network.board[0]))

    def forward(self, cells: Tensor | None, whole: Tensor) -> tuple[Tensor, Tensor]:
        """Margins and planes; no planes [B, 0] without a board."""
        planes = whole[:, :0]
        if self.planes is not None and cells is not None:
            planes = self.planes(cells).transpose(1, 2).flatten(1)
        return self.margins(whole), planes


def make_network(game: Game, kind: str, width: int, blocks: int) -> PolicyValueNet:
    """A network by its kind: `flat`, `board` or `graph`; ValueError if the game has none such."""
    kinds = {"flat": FlatNet, "board": BoardNet, "graph": GraphNet}
    if kind not in kinds:
        raise ValueError(f"network: {kind!r} is not one of {list(kinds)}")
    return kinds[kind](game, width, blocks)


def frozen(network: Network, bf16: bool) -> Network:
    """A copy that plays, in the precision of playing; what reads features sparsely has float32."""
    copy = deepcopy(network).requires_grad_(False)
    if bf16:
        copy.to(torch.bfloat16)
        for layer, original in zip(copy.modules(), network.modules(), strict=True):
            if isinstance(layer, SparseLinear) and layer.weight.device.type == "cpu":
                layer.float().load_state_dict(original.state_dict())
    return copy


def select(observations: Tensor, columns: Tensor, levels: Tensor) -> Tensor:
    """FeatureMap's features [N, F] of flat observations [N, size], of their type."""
    seen = observations[:, columns]
    return torch.where(levels == RAW, seen, (seen == levels).to(seen.dtype))


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Float32 logits with illegal actions (mask 0) at ILLEGAL_LOGIT; shapes [B, A]."""
    return logits.float().masked_fill(mask == 0, ILLEGAL_LOGIT)


def decayed(parameters: Sequence[Tensor], decay: float) -> list[dict[str, Any]]:
    """Groups of parameters for an optimiser: weights decay, biases and gates (1-D) don't."""
    return [
        {"params": [one for one in parameters if one.ndim > 1], "weight_decay": decay},
        {"params": [one for one in parameters if one.ndim <= 1], "weight_decay": 0.0},
    ]


def split_hidden(network: PolicyValueNet, heads: nn.Module) -> tuple[list[Tensor], list[Tensor]]:
    """The weights of a network's hidden layers, and all other parameters, those of `heads` too."""
    hidden: list[Tensor] = []
    others: list[Tensor] = []
    for name, parameter in network.named_parameters():
        inside = parameter.ndim > 1 and not set(OUTER) & set(name.split("."))
        (hidden if inside else others).append(parameter)
    return hidden, [*others, *heads.parameters()]


def parameter_count(network: nn.Module) -> int:
    """The number of trained numbers."""
    return sum(parameter.numel() for parameter in network.parameters())
