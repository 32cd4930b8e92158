"""Device backends for rollouts: where game states are stored and how kernels run on them (host)."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import DTypeLike
from torch import Tensor

from linkzoo import VecStep, make_vec
from linkzoo.core.features import FeatureMap
from linkzoo.engine.threads import RowKernel
from linkzoo_training.arrays import Array
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.symmetries import PERMUTE
from linkzoo_training.networks.transfers import ToHost
from linkzoo_training.selfplay.sampling import sample

DIVERGED = "the policy that plays isn't finite: learning has diverged, or its weights are damaged"

KernelArgument = Any  # of a kernel: a NumPy array, or a `linkzoo.cuda.device.Array`


class VectorGames(Protocol):
    """The part of a VecEnv, or of a CudaVecEnv, that a rollout uses."""

    def step(self, actions: Any) -> object:
        """Plays actions int64 [n]; finished games restart. Overwrites `Group.now`."""

    def refresh(self, rows: Any = None) -> object:
        """Fills masks, observations and seats after records were changed.

        Args:
            rows: The changed games, as `HostBackend.changed` returns them; None for all.
        """


@dataclass(frozen=True)
class TensorStep:
    """A VecStep of tensors, on the games' device; the next step overwrites them."""

    observation: Tensor  # [n, *spec.shape], of the seat to act
    action_mask: Tensor  # int8 [n, A]
    seat: Tensor  # int8 [n], the seat to act
    reward: Tensor  # float32 [n, P], payoffs where done, else 0
    done: Tensor  # bool [n]
    episode_length: Tensor  # int32 [n], plies
    score: Tensor  # float32 [n, P], score margins where done, else 0


@dataclass(frozen=True)
class Group:
    """Games that are stepped together."""

    games: slice  # slice of the run's games
    vec: VectorGames  # plays them
    states: Tensor  # uint8 [n, record size], stepped by `vec`
    now: TensorStep  # overwritten by `vec`


class HostBackend:
    """Games on CPU threads; the networks are evaluated on `device`.

    Games are played in groups: while a GPU evaluates the networks for one group, the host plays the
    others. Grouping doesn't change any game.

    Args:
        device: The device of the networks.
        num_groups: The number of groups.

    Attributes:
        home: The device of the games and the rollout buffers.
    """

    def __init__(self, device: torch.device, num_groups: int = 1) -> None:
        self.device = device
        self.num_groups = num_groups
        self.home = torch.device("cpu")

    def make_games(self, config: PPOConfig) -> tuple[Tensor, list[Group]]:
        """Returns blank records of all games, uint8 [N, record size], and the groups over them."""
        whole = make_vec(config.game, config.num_envs, config.players, **config.options)
        ends = np.linspace(0, config.num_envs, min(self.num_groups, config.num_envs) + 1)
        groups = []
        for first, last in pairwise(ends.astype(int).tolist()):
            vec = make_vec(config.game, last - first, config.players, check=False, **config.options)
            now = step_of_tensors(vec.reset())
            vec.states = whole.states[first:last]
            groups.append(Group(slice(first, last), vec, as_tensor(vec.states), now))
        return as_tensor(whole.states), groups

    def zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        """Returns a tensor of zeros, in pinned memory if it is copied to a GPU."""
        return torch.zeros(shape, dtype=dtype, pin_memory=self.device.type == "cuda")

    def tensor(self, array: Array) -> Tensor:
        """Returns an array as a tensor on the games' device."""
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.home)

    def run(self, kernel: RowKernel, *arguments: KernelArgument) -> None:
        """Runs a kernel over tensors, records and numbers."""
        kernel(*(_as_array(argument) for argument in arguments))

    def view(self, tensor: Tensor, dtype: DTypeLike) -> KernelArgument:
        """Returns a contiguous tensor as a kernel argument [N] of another dtype."""
        return tensor.numpy().reshape(-1).view(dtype)

    def column(self, states: Tensor, state: np.dtype[Any], field: str) -> KernelArgument:
        """Returns a field of records, uint8 [N, record size], as a kernel argument [N, 1]."""
        return field_bytes(states, state, field).numpy().view(state[field])

    def features(self, spec: FeatureMap) -> Callable[[Tensor, Tensor], None]:
        """Returns a function that fills features [N, F] from flat observations [N, size]."""
        return lambda observations, features: spec.fill(observations.numpy(), features.numpy())

    def permute(self, rows: Tensor, symmetry: Tensor, sources: Tensor) -> None:
        """Permutes the first K numbers of each row by its symmetry, in place.

        Args:
            rows: [N, K or more].
            symmetry: int64 [N].
            sources: int64 [S, K], the source of each number under each symmetry.
        """
        self.run(PERMUTE, rows, symmetry, sources)

    def sample(
        self, probabilities: Tensor, seed: np.uint64, ply: int, game: int
    ) -> tuple[Tensor, Tensor]:
        """Draws actions and their log-probabilities; see `sampling.sample`."""
        return sample(probabilities, seed, ply, game)

    def receive(self, *tensors: Tensor) -> Callable[[], list[Tensor]]:
        """Starts copying tensors from `device` to `home`; call the result to wait."""
        sent = ToHost(*tensors)
        return lambda: [torch.from_numpy(array) for array in sent.arrays()]

    def check_actions(self, actions: Tensor, mask: Tensor) -> Tensor:  # noqa: ARG002 - used by CudaBackend
        """Returns the actions [N] to play.

        Raises:
            ValueError: An action is negative because the policy isn't finite.
        """
        if actions.min() < 0:
            raise ValueError(DIVERGED)
        return actions

    def check_finite(self) -> None:
        """Raises the ValueError that `check_actions` has deferred, if any."""

    def changed(self, done: Tensor) -> Array | Tensor:
        """Returns the games where `done`, as an argument of `refresh`; empty for none."""
        return np.flatnonzero(done.numpy())


def _as_array(argument: KernelArgument) -> KernelArgument:
    if isinstance(argument, Tensor):
        return argument.numpy()
    return argument


def field_bytes(states: Tensor, state: np.dtype[Any], field: str) -> Tensor:
    """Returns the bytes of a field of records, uint8 [N, size], sharing memory."""
    assert state.fields is not None
    dtype, offset = state.fields[field][:2]
    return states[:, offset : offset + dtype.itemsize]


def as_tensor(states: Array) -> Tensor:
    """Returns records [N] as uint8 [N, record size], sharing memory."""
    return torch.from_numpy(states.view(np.uint8).reshape(len(states), -1))


def step_of_tensors(now: VecStep) -> TensorStep:
    """Returns a step as tensors that share memory with its arrays."""
    return TensorStep(**{name: torch.from_numpy(array) for name, array in vars(now).items()})
