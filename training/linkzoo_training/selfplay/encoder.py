"""The encoder of a run: features of observations, and samples of them for input statistics."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from linkzoo import Agent, Game, Positions, make_vec
from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_INPUTS, random_u64s
from linkzoo_training.selfplay.backend import HostBackend, as_tensor, step_of_tensors

_GAMES = 64  # games per sample
_MOMENTS = 128  # max plies per sample


class Encoder:
    """Computes features of observations and, with `privileged`, of hidden information.

    Args:
        game: The game.
        backend: The backend of the games.
        privileged: Whether privileged observations are encoded too, where the game has them.
    """

    def __init__(self, game: Game, backend: HostBackend, *, privileged: bool) -> None:
        self._game, self._backend = game, backend
        observed = FeatureMap(game.observation.spec)
        self._fill = backend.features(observed)
        self.widths = [len(observed), 0]  # numbers of features: observed (F) and privileged (H)
        self.dtype = torch.from_numpy(np.empty(0, observed.dtype)).dtype
        self._spec = game.observation.privileged_spec if privileged else None
        if self._spec is not None:
            hidden = FeatureMap(self._spec)
            self._fill_privileged, self.widths[1] = backend.features(hidden), len(hidden)

    def encode(self, states: Tensor, now: Any, features: Tensor, privileged: Tensor) -> None:
        """Fills features [N, F] and privileged features [N, H] of the seats to act.

        Args:
            states: uint8 [N, bytes], records.
            now: VecStep of tensors.
            features: Output.
            privileged: Output, unused if H is 0.
        """
        self._fill(now.observation.flatten(1), features)
        reveal = kernels(self._game).reveal
        if self._spec is not None and reveal is not None:
            revealed = now.observation.new_zeros(len(states), self._spec.size)
            records = self._backend.view(states, self._game.state)
            self._backend.run(reveal, records, now.seat, revealed)
            self._fill_privileged(revealed, privileged)


def sample_inputs(
    game: Game,
    agent: Agent,
    players: tuple[int, ...],
    options: dict[str, Any],
    seed: int,
    *,
    privileged: bool,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Returns features [M, F] and [M, H] from a few self-play games of an agent."""
    backend = HostBackend(torch.device("cpu"))
    encoder = Encoder(game, backend, privileged=privileged)
    vec = make_vec(game.name, _GAMES, players, check=False, **options)
    now, every = vec.reset(seed), max(1, game.facts.typical_length // _MOMENTS)
    samples = []
    for ply in range(game.facts.typical_length):
        if ply % every == 0:
            sample = [backend.zeros(_GAMES, width, dtype=encoder.dtype) for width in encoder.widths]
            encoder.encode(as_tensor(vec.states), step_of_tensors(now), *sample)
            samples.append(sample)
        seeds = random_u64s(seed, STREAM_INPUTS, ply, np.arange(_GAMES))
        now = vec.step(agent.act(Positions(game, vec.states.copy(), seeds)))
    features, hidden = (torch.cat(parts).numpy() for parts in zip(*samples, strict=True))
    return features, hidden
