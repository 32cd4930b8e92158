"""The encoder of a run: features of observations, and samples of them for input statistics."""

import numpy as np
import torch
from torch import Tensor

from linkzoo import Agent, Game, Positions, make_vec
from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo.core.observation import ObservationSpec
from linkzoo.engine.rng import STREAM_INPUTS, random_u64s
from linkzoo_training.arrays import Array
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.selfplay.backend import HostBackend, TensorStep, as_tensor, step_of_tensors

_GAMES = 64  # games per sample
_MOMENTS = 128  # max plies per sample


class Encoder:
    """Computes features of observations, and of hidden information for a full critic.

    Attributes:
        row: The length of a row of listed actions; 0 without them (Inputs).
        observed: Features of the observation, which come before the listed actions.
        widths: The numbers of inputs (F) and of privileged features (H).
        dtype: The inputs' integer type.
    """

    def __init__(self, game: Game, backend: HostBackend, config: PPOConfig) -> None:
        self._game = game
        self._backend = backend
        inputs = Inputs(game, lists_actions=config.network == "action")
        self.row = inputs.row
        self.observed = len(inputs.map)
        self._fill = backend.features(inputs.map)
        self.widths = [inputs.width, 0]
        self.dtype = torch.from_numpy(np.empty(0, inputs.dtype)).dtype
        self._privileged_spec: ObservationSpec | None = None
        if config.critic == "full":
            self._privileged_spec = game.observation.privileged_spec
        if self._privileged_spec is not None:
            hidden = FeatureMap(self._privileged_spec)
            self._fill_privileged = backend.features(hidden)
            self.widths[1] = len(hidden)

    def encode(self, states: Tensor, now: TensorStep, features: Tensor, privileged: Tensor) -> None:
        """Encodes the observations of the seats to act.

        Args:
            states: The records, uint8 [N, bytes].
            now: The step that led to them.
            features: [N, F], filled.
            privileged: Privileged features [N, H], filled.
        """
        self._fill(now.observation.flatten(1), features[:, : self.observed])
        kernel = kernels(self._game)
        records = self._backend.view(states, self._game.state)
        if self.row and kernel.observe_actions is not None:
            scratch = self._backend.view(torch.empty_like(states), self._game.state)
            listed = features[:, self.observed :]
            self._backend.run(kernel.observe_actions, records, scratch, now.action_mask, listed)
        if self._privileged_spec is not None and kernel.reveal is not None:
            revealed = now.observation.new_zeros(len(states), self._privileged_spec.size)
            self._backend.run(kernel.reveal, records, now.seat, revealed)
            self._fill_privileged(revealed, privileged)


def sample_inputs(game: Game, agent: Agent, config: PPOConfig) -> tuple[Array, Array]:
    """Samples inputs from a few self-play games of an agent.

    Returns:
        Features [M, F] and privileged features [M, H].
    """
    backend = HostBackend(torch.device("cpu"))
    encoder = Encoder(game, backend, config)
    vec = make_vec(game.name, _GAMES, config.players, check=False, **config.options)
    now = vec.reset(config.seed)
    every = max(1, game.facts.typical_length // _MOMENTS)
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
