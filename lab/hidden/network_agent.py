"""A network of another package as an agent."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.features import FeatureMap

# Takes a seat and its observations float32[N, F]; returns logits or shares of all actions [N, A].
Forward = Callable[[int, torch.Tensor], torch.Tensor]


def on_features(rules: Game, forward: Forward) -> Forward:
    """Returns a forward pass whose network was trained on features, not on observations."""
    features = FeatureMap(rules.observation.spec)

    def scaled(seat: int, observations: torch.Tensor) -> torch.Tensor:
        numbers = features.scaled(observations.numpy().astype(np.int64))
        return forward(seat, torch.from_numpy(numbers))

    return scaled


class NetworkAgent:
    """An agent that plays the softmax of a network's logits.

    Args:
        forward: Returns the logits [N, num_actions] of a seat's observations [N, size].
        shares: Whether these are shares of actions instead of logits.
    """

    name = "network"

    def __init__(self, forward: Forward, *, shares: bool = False) -> None:
        self._forward = forward
        self._shares = shares

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the likeliest actions, int64[N]."""
        actions: NDArray[np.int64] = self.probabilities(positions).argmax(1)
        return actions

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns the probabilities at N positions, [N, num_actions]."""
        observations = positions.observation.reshape(len(positions), -1)
        features = torch.from_numpy(observations.astype(np.float32))
        legal = torch.from_numpy(positions.action_mask.astype(bool))
        result = torch.zeros(legal.shape, dtype=torch.float64)
        seats = positions.states["seat"]
        for seat in np.unique(seats).tolist():
            rows = torch.from_numpy(np.flatnonzero(seats == seat))
            with torch.inference_mode():
                output = self._forward(seat, features[rows]).double()
            if self._shares:
                shares = output.clamp(min=1e-9) * legal[rows]
                result[rows] = shares / shares.sum(1, keepdim=True)
            else:
                result[rows] = output.masked_fill(~legal[rows], -torch.inf).softmax(1)
        return result.numpy()
