"""RLlib (new API stack): modules that read the action mask of linkzoo's observations.

    spec = RLModuleSpec(module_class=MaskedModule, model_config={"hidden": [256, 256]})

Environments are `PettingZooEnv(FeatureEnv(...))` of RLlib's own wrapper. Needs the extra `rllib`.
"""

from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from ray.rllib.core.columns import Columns
from ray.rllib.core.learner.utils import make_target_network
from ray.rllib.core.rl_module import RLModule
from ray.rllib.core.rl_module.apis import TARGET_NETWORK_ACTION_DIST_INPUTS, TargetNetworkAPI
from ray.rllib.core.rl_module.apis.value_function_api import ValueFunctionAPI
from ray.rllib.core.rl_module.torch import TorchRLModule
from torch import Tensor, nn

from linkzoo.policy import Policy

ILLEGAL_LOGIT = -1e9


class MaskedModule(TorchRLModule, ValueFunctionAPI):
    """A fully connected policy and value function for PPO that never picks an illegal action.

    Reads `obs["observation"]` and `obs["action_mask"]`. `model_config["hidden"]` are the widths of
    the layers (default 256 and 256).
    """

    def setup(self) -> None:
        """Builds the layers; RLlib calls it."""
        widths = [prod(self.observation_space["observation"].shape)]
        widths += (self.model_config or {}).get("hidden", [256, 256])
        layers: list[nn.Module] = [nn.Flatten()]
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.policy = nn.Linear(widths[-1], int(self.action_space.n))
        self.value = nn.Linear(widths[-1], 1)

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = batch[Columns.OBS]
        embedding = self.trunk(seen["observation"].float())
        logits = self.policy(embedding).masked_fill(seen["action_mask"] == 0, ILLEGAL_LOGIT)
        return {Columns.ACTION_DIST_INPUTS: logits, Columns.EMBEDDINGS: embedding}

    def compute_values(self, batch: dict[str, Any], embeddings: Tensor | None = None) -> Tensor:
        """Returns the value of each observation, [B]."""
        if embeddings is None:
            embeddings = self.trunk(batch[Columns.OBS]["observation"].float())
        values: Tensor = self.value(embeddings)
        return values.squeeze(-1)

    def act(self, features: NDArray[np.float32], mask: NDArray[np.int8]) -> NDArray[np.int64]:
        """Draws actions [N] for features [N, F] and masks [N, A], for FunctionAgent."""
        seen = {"observation": torch.from_numpy(features), "action_mask": torch.from_numpy(mask)}
        with torch.no_grad():
            logits = self._forward({Columns.OBS: seen})[Columns.ACTION_DIST_INPUTS]
        drawn: NDArray[np.int64] = torch.distributions.Categorical(logits=logits).sample().numpy()
        return drawn


class MaskedTargetModule(MaskedModule, TargetNetworkAPI):
    """MaskedModule for APPO, which also needs an older copy of the policy."""

    def make_target_networks(self) -> None:
        """Copies the policy; the learner calls it."""
        self.old_trunk = make_target_network(self.trunk)
        self.old_policy = make_target_network(self.policy)

    def get_target_network_pairs(self) -> list[tuple[nn.Module, nn.Module]]:
        """Returns the parts of the policy with their copies."""
        return [(self.trunk, self.old_trunk), (self.policy, self.old_policy)]

    def forward_target(self, batch: dict[str, Any]) -> dict[str, Any]:
        """Returns the logits of the copy, [B, A]."""
        seen = batch[Columns.OBS]
        logits = self.old_policy(self.old_trunk(seen["observation"].float()))
        illegal = seen["action_mask"] == 0
        return {TARGET_NETWORK_ACTION_DIST_INPUTS: logits.masked_fill(illegal, ILLEGAL_LOGIT)}


class AgentModule(RLModule):
    """A trained policy of linkzoo as a frozen policy of RLlib.

    `model_config["policy"]` is a `linkzoo.load_policy`. The environment has to show observations as
    they are: `PettingZooEnv(linkzoo.make(...))`, not FeatureEnv. Leave it out of
    `policies_to_train`; it is no torch module to RLlib, whose learner would want to optimise one.
    """

    def setup(self) -> None:
        """Takes the policy; RLlib calls it."""
        self.plays: Policy = self.model_config["policy"]

    def compile(self, *_args: Any, **_kwargs: Any) -> None:
        """Nothing to compile; RLlib may ask."""

    def _forward(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        seen = {name: np.asarray(values) for name, values in batch[Columns.OBS].items()}
        return {Columns.ACTIONS: self.plays.predict(seen)}

    def _forward_train(self, batch: dict[str, Any], **_: Any) -> dict[str, Any]:
        raise NotImplementedError(
            "a policy of linkzoo plays only: leave it out of policies_to_train"
        )
