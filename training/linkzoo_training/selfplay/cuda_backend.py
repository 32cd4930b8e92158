"""GPU backend: states, features, networks, actions and advantages stay on the device."""

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import DTypeLike
from torch import Tensor

from linkzoo.core.features import FeatureMap
from linkzoo.cuda import device as gpu
from linkzoo.cuda.vector import CudaVecEnv
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.categorical import draw
from linkzoo_training.networks.flat import select
from linkzoo_training.selfplay.backend import (
    DIVERGED,
    Group,
    HostBackend,
    KernelArgument,
    TensorStep,
    field_bytes,
)
from linkzoo_training.selfplay.sampling import UNIFORMS


class CudaBackend(HostBackend):
    """Games on the GPU that evaluates the networks; needs the extra `cuda`.

    A ply copies nothing to the host, except with opponents: the number of rows of each one, and the
    positions for agents, which run on the CPU.
    """

    def __init__(self, device: torch.device) -> None:
        super().__init__(device)
        self.home = device
        self._diverged = self.zeros(1, dtype=torch.bool)

    def make_games(self, config: PPOConfig) -> tuple[Tensor, list[Group]]:
        """Returns the blank records and a single group."""
        vec = CudaVecEnv(
            config.game, config.num_envs, config.players, check=False, **config.options
        )
        blank = vec.states.clone()
        now = TensorStep(**vars(vec.reset()))
        vec.states.copy_(blank)
        return vec.states, [Group(slice(0, config.num_envs), vec, vec.states, now)]

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Returns a tensor of zeros on the GPU."""
        return torch.zeros(shape, dtype=dtype, device=self.home)

    def run(self, kernel: RowKernel, *arguments: KernelArgument) -> None:
        """Launches a kernel over tensors, records and numbers."""
        gpu.launch(kernel, *arguments)

    def view(self, tensor: Tensor, dtype: DTypeLike) -> KernelArgument:
        """Returns a contiguous tensor as a kernel argument [N] of another dtype."""
        return gpu.view(tensor.view(-1), dtype)

    def column(self, states: Tensor, state: np.dtype[Any], field: str) -> KernelArgument:
        """Returns a field of records, uint8 [N, record size], as a kernel argument [N, 1]."""
        return gpu.view(field_bytes(states, state, field), state[field])

    def features(self, spec: FeatureMap) -> Callable[[Tensor, Tensor], None]:
        """Returns a function that fills features [N, F] from flat observations [N, size]."""
        columns = self.tensor(spec.columns)
        levels = self.tensor(spec.levels.astype(np.int16))

        def fill(observations: Tensor, features: Tensor) -> None:
            features.copy_(select(observations, columns, levels))

        return fill

    def permute(self, rows: Tensor, symmetry: Tensor, sources: Tensor) -> None:
        """Permutes the first K numbers of each row by its symmetry, in place."""
        rows[:, : sources.shape[1]] = rows.gather(1, sources[symmetry])

    def sample(
        self, probabilities: Tensor, seed: np.uint64, ply: int, game: int
    ) -> tuple[Tensor, Tensor]:
        """Draws actions and their log-probabilities."""
        uniform = self.zeros(len(probabilities))
        self.run(UNIFORMS, uniform, seed, ply, game)
        return draw(probabilities, uniform)

    def receive(self, *tensors: Tensor) -> Callable[[], list[Tensor]]:
        """Returns a function that returns the tensors, which are already at `home`."""
        return lambda: list(tensors)

    def check_actions(self, actions: Tensor, mask: Tensor) -> Tensor:
        """Replaces negative actions by legal ones; `check_finite` raises the error later."""
        self._diverged |= (actions < 0).any()
        return torch.where(actions < 0, mask.argmax(-1), actions)

    def check_finite(self) -> None:
        """Raises the ValueError that `check_actions` has deferred, if any."""
        if self._diverged.any():
            raise ValueError(DIVERGED)

    def changed(self, done: Tensor) -> Array | Tensor:
        """Returns `done` [N], as reading the rows would wait for the GPU."""
        return done
