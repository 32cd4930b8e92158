"""The encoder of a run: features of observations, and samples of them for input statistics."""

from typing import Any

import numpy as np
import torch
from torch import Tensor

from linkzoo import Agent, Game, Positions, make_vec
from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_INPUTS, random_u64s
from linkzoo_training.arrays import Array
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.selfplay.backend import HostBackend, as_tensor, step_of_tensors

_GAMES = 64  # games per sample
_MOMENTS = 128  # max plies per sample


class Encoder:
    """Computes features of observations, and of hidden information for a full critic."""

    def __init__(self, game: Game, backend: HostBackend, config: PPOConfig) -> None:
        self._game, self._backend = game, backend
        inputs = Inputs(game, lists_actions=config.network == "action")
        self.row, self.observed = inputs.row, len(inputs.map)  # of actions; features before them
        self._fill = backend.features(inputs.map)
        self.widths = [inputs.width, 0]  # numbers of inputs (F) and privileged features (H)
        self.dtype = torch.from_numpy(np.empty(0, inputs.dtype)).dtype
        self._spec = game.observation.privileged_spec if config.critic == "full" else None
        if self._spec is not None:
            hidden = FeatureMap(self._spec)
            self._fill_privileged, self.widths[1] = backend.features(hidden), len(hidden)

    def encode(self, states: Tensor, now: Any, features: Tensor, privileged: Tensor) -> None:
        """Fills features [N, F] and privileged features [N, H] of the seats to act.

        `states` are the records, uint8 [N, bytes], and `now` is a VecStep of tensors.
        """
        self._fill(now.observation.flatten(1), features[:, : self.observed])
        kernel, records = kernels(self._game), self._backend.view(states, self._game.state)
        if self.row and kernel.observe_actions is not None:
            scratch = self._backend.view(torch.empty_like(states), self._game.state)
            listed = features[:, self.observed :]
            self._backend.run(kernel.observe_actions, records, scratch, now.action_mask, listed)
        reveal = kernel.reveal
        if self._spec is not None and reveal is not None:
            revealed = now.observation.new_zeros(len(states), self._spec.size)
            self._backend.run(reveal, records, now.seat, revealed)
            self._fill_privileged(revealed, privileged)


def sample_inputs(game: Game, agent: Agent, config: PPOConfig) -> tuple[Array, Array]:
    """Returns features [M, F] and [M, H] from a few self-play games of an agent."""
    backend = HostBackend(torch.device("cpu"))
    encoder = Encoder(game, backend, config)
    vec = make_vec(game.name, _GAMES, config.players, check=False, **config.options)
    now, every = vec.reset(config.seed), max(1, game.facts.typical_length // _MOMENTS)
    samples = []
    for ply in range(game.facts.typical_length):
        if ply % every == 0:
            sample = [backend.zeros(_GAMES, width, dtype=encoder.dtype) for width in encoder.widths]
            encoder.encode(as_tensor(vec.states), step_of_tensors(now), *sample)
            samples.append(sample)
        seeds = random_u64s(config.seed, STREAM_INPUTS, ply, np.arange(_GAMES))
        now = vec.step(agent.act(Positions(game, vec.states.copy(), seeds)))
    features, hidden = (torch.cat(parts).numpy() for parts in zip(*samples, strict=True))
    return features, hidden
