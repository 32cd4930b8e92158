"""Fully connected networks, the critic, and the factory of networks."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.features import RAW, FeatureMap
from linkzoo_training.arrays import Array
from linkzoo_training.imports import is_import_path
from linkzoo_training.networks.action import ActionNet
from linkzoo_training.networks.cells import BoardNet, GraphNet
from linkzoo_training.networks.own import OwnNet
from linkzoo_training.networks.policy_value import OUTER, PolicyValueNet, small_init
from linkzoo_training.networks.sparse import SparseLinear, joined
from linkzoo_training.networks.trunk import ResidualTrunk

ILLEGAL_LOGIT = -1e9
Network = TypeVar("Network", bound=nn.Module)


class FlatNet(PolicyValueNet):
    """Fully connected network: a trunk and two heads."""

    has_scales = True

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game)
        self.trunk = ResidualTrunk(self.map.scale, width, blocks)
        self.policy = small_init(nn.Linear(width, game.num_actions))
        self.value = small_init(nn.Linear(width, game.max_players))

    def standardise(self, features: Array) -> None:
        """Implements `PolicyValueNet.standardise`."""
        self.trunk.standardise(features)

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A] and values [B, P]."""
        logits, values = joined(self.trunk(features), self.policy, self.value)
        return logits, values


class Critic(nn.Module):
    """Values from observations and privileged observations, used only in training.

    Maps features [B, F] of observations and [B, H] of privileged observations to values [B, P] like
    PolicyValueNet's. It sees more than any player, so its values are less noisy (PerfectDou: Yang
    et al. 2022).
    """

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__()
        if game.observation.privileged_spec is None:
            raise ValueError(f"critic: {game.name} has no hidden information; use 'shared'")
        seen = FeatureMap(game.observation.spec)
        hidden = FeatureMap(game.observation.privileged_spec)
        self._seen = len(seen)
        self.trunk = ResidualTrunk(np.concatenate([seen.scale, hidden.scale]), width, blocks)
        self.value = small_init(nn.Linear(width, game.max_players))

    def forward(self, features: Tensor, hidden: Tensor) -> Tensor:
        """Returns values of all seats, relative to the observing seat."""
        values: Tensor = self.value(self.trunk(torch.cat([features[:, : self._seen], hidden], 1)))
        return values

    def standardise(self, features: Array, hidden: Array) -> None:
        """Sets the scales of all features to 1 / their standard deviations in a sample."""
        self.trunk.standardise(np.concatenate([features[:, : self._seen], hidden], 1))


def make_network(game: Game, kind: str, width: int, blocks: int) -> PolicyValueNet:
    """Creates a network (`Config.network`); raises ValueError if the game has none such."""
    if is_import_path(kind):
        return OwnNet(game, kind)
    kinds: dict[str, Callable[[Game, int, int], PolicyValueNet]] = {
        "flat": FlatNet,
        "board": BoardNet,
        "graph": GraphNet,
        "action": ActionNet,
    }
    if kind not in kinds:
        raise ValueError(f"network: {kind!r} is not one of {list(kinds)}, or FILE.py:NAME")
    return kinds[kind](game, width, blocks)


def frozen(network: Network, bf16: bool) -> Network:
    """Returns a frozen inference copy, in bf16 if `bf16`.

    Modules that say so (`keeps_float32`) stay in float32, as SparseLinear does on a CPU.
    """
    copy = deepcopy(network).requires_grad_(False).eval()
    if bf16 and not getattr(network, "keeps_float32", False):
        copy.to(torch.bfloat16)
        for layer, original in zip(copy.modules(), network.modules(), strict=True):
            is_sparse = isinstance(layer, SparseLinear) and layer.weight.device.type == "cpu"
            if is_sparse or getattr(layer, "keeps_float32", False):
                layer.float().load_state_dict(original.state_dict())
    return copy


def select(observations: Tensor, columns: Tensor, levels: Tensor) -> Tensor:
    """Returns FeatureMap's features [N, F] of flat observations [N, size], in their dtype."""
    seen = observations[:, columns]
    return torch.where(levels == RAW, seen, (seen == levels).to(seen.dtype))


def masked(logits: Tensor, mask: Tensor) -> Tensor:
    """Returns float32 logits [B, A], plus ILLEGAL_LOGIT where the mask [B, A] is 0, not 1."""
    return torch.add(logits.float(), 1 - mask, alpha=ILLEGAL_LOGIT)  # `where` takes twice as long


def decayed(parameters: Sequence[Tensor], decay: float) -> list[dict[str, Any]]:
    """Returns parameter groups of an optimiser: weights decay, biases and gates (1-D) don't."""
    return [
        {"params": [weight for weight in parameters if weight.ndim > 1], "weight_decay": decay},
        {"params": [bias for bias in parameters if bias.ndim <= 1], "weight_decay": 0.0},
    ]


def split_hidden(network: PolicyValueNet) -> tuple[list[Tensor], list[Tensor]]:
    """Returns the weights of the hidden layers, and all other parameters."""
    hidden: list[Tensor] = []
    others: list[Tensor] = []
    for name, parameter in network.named_parameters():
        if parameter.ndim > 1 and OUTER.isdisjoint(name.split(".")):
            hidden.append(parameter)
        else:
            others.append(parameter)
    return hidden, others
