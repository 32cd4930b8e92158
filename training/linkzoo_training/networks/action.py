"""A network that scores legal actions by their features (`Observation.action_spec`).

It is a linear scorer plus a residual. The linear scorer can begin with the weights of one that was
fitted (`linkzoo linear`); the residual begins at zero.
"""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.observation import ObservationSpec
from linkzoo_training.networks.inputs import MAX_LISTED, context_of
from linkzoo_training.networks.policy_value import PolicyValueNet, small_init
from linkzoo_training.networks.shards import padded_forward
from linkzoo_training.networks.trunk import MIN_DEVIATION, ResidualTrunk

_HIGHEST = 1e9  # finite, where no action is listed
_HIDDEN_SHARE = 2  # the tower's width is the trunk's divided by this


class LinearScorer(nn.Module):
    """Scores rows of actions by their features, with weights that are linear in the context.

    The context are the features that are equal for all actions of a position; see
    `search.linear`, which has the same scores.
    """

    keeps_float32 = True  # scores of good actions differ by less than bfloat16 can tell
    context: Tensor

    def __init__(self, spec: ObservationSpec) -> None:
        super().__init__()
        context = torch.from_numpy(context_of(spec))
        self.register_buffer("context", context, persistent=False)
        self.weight = nn.Parameter(torch.zeros(spec.size, 1 + len(context)))

    def forward(self, features: Tensor) -> Tensor:
        """Returns the scores [...] of features [..., K]."""
        features = features.float()
        context = features.index_select(-1, self.context)
        factors = torch.cat([torch.ones_like(context[..., :1]), context], -1)
        with torch.autocast(features.device.type, enabled=False):
            return torch.einsum("...k,kc,...c->...", features, self.weight, factors)


class ActionNet(PolicyValueNet):
    """A fully connected trunk reads the position; a tower scores each legal action.

    The tower reads the action's features, an embedding of the action and the trunk's output; its
    score is added to the linear scorer's. It runs on legal actions alone. Legal actions beyond
    MAX_LISTED have the lowest of the others' logits.
    """

    has_scales = True
    action_scale: Tensor

    def __init__(self, game: Game, width: int, blocks: int) -> None:
        super().__init__(game, lists_actions=True)
        action_spec = game.observation.action_spec
        assert action_spec is not None  # Inputs raises without it
        hidden = max(1, width // _HIDDEN_SHARE)
        self.num_actions = game.num_actions
        self.trunk = ResidualTrunk(self.map.scale, width, blocks)
        self.value = small_init(nn.Linear(width, game.max_players))
        self.register_buffer("action_scale", torch.ones(self.encoding.row - 1))
        # Drawing numbers on "meta", as for checkpoints, would import torch's compiler.
        self.action = nn.Embedding.from_pretrained(
            torch.zeros(game.num_actions, hidden), freeze=False
        )
        self.described = nn.Linear(self.encoding.row - 1, hidden)
        self.state = nn.Linear(width, hidden)
        self.second = nn.Linear(hidden, hidden)
        self.policy = nn.Linear(hidden, 1)
        self.linear = LinearScorer(action_spec)
        for zero in (self.policy.weight, self.policy.bias):
            nn.init.zeros_(zero)

    def begin_with(self, weights: NDArray[np.float32], temperature: float) -> None:
        """Makes the policy the softmax of a linear scorer's scores divided by a temperature.

        Args:
            weights: The scorer's weights [K, 1 + C].
            temperature: The temperature, above 0.
        """
        with torch.no_grad():
            self.linear.weight.copy_(torch.from_numpy(weights / np.float32(temperature)))

    def standardise(self, features: NDArray[Any]) -> None:
        """Sets the scales of all features to 1 / their standard deviations."""
        self.trunk.standardise(features[:, : len(self.map)])
        rows = features[:, len(self.map) :].reshape(-1, self.encoding.row)
        deviation = rows[rows[:, 0] > 0, 1:].std(0, dtype=np.float32)
        self.action_scale.copy_(torch.from_numpy(1 / np.maximum(deviation, MIN_DEVIATION)))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Returns logits [B, A], 0 for actions that aren't listed, and values [B, P]."""
        position, rows = features.split([len(self.map), MAX_LISTED * self.encoding.row], 1)
        rows = rows.unflatten(1, (MAX_LISTED, -1))
        whole = self.trunk(position)
        state = self.state(whole)
        if torch.compiler.is_exporting():  # shapes must not depend on data
            action = rows[:, :, 0].long() - 1
            (scores,) = self._scores(rows, state[:, None])
            listed_scores = torch.where(action >= 0, scores, torch.inf)
            lowest = listed_scores.amin(1, keepdim=True).clamp(max=_HIGHEST)
            logits = lowest.expand(-1, self.num_actions + 1)  # -1 is the last
            return logits.scatter(1, action % logits.shape[1], scores)[:, :-1], self.value(whole)
        position, row = rows[:, :, 0].nonzero(as_tuple=True)
        listed = rows[position, row]
        (scores,) = padded_forward(self._scores, listed, state.index_select(0, position))
        lowest = scores.new_zeros(whole.shape[0])
        lowest.scatter_reduce_(0, position, scores.detach(), "amin", include_self=False)
        logits = lowest[:, None].repeat(1, self.num_actions)
        action = listed[:, 0].long() - 1
        return logits.index_put((position, action), scores), self.value(whole)

    def _scores(self, rows: Tensor, state: Tensor) -> tuple[Tensor]:
        """Returns the scores [...] of rows [..., 1 + K], given a part of the state [..., H]."""
        action = (rows[..., 0].long() - 1).clamp(min=0)
        described = self.described(rows[..., 1:] * self.action_scale)
        x = torch.relu(described + self.action(action) + state)
        residual = self.policy(x + torch.relu(self.second(x))).squeeze(-1)
        return (self.linear(rows[..., 1:]) + residual,)
