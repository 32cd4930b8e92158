"""`CudaVecEnv` where there is no GPU: its tensors lie on the CPU, and other code runs the rows."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import VecEnv
from linkzoo.cuda import device, vector
from tests.common.variants import Variant


def _view(tensor: Any, dtype: Any = None) -> NDArray[Any]:
    array: NDArray[Any] = tensor.numpy()
    return array if dtype is None else array.view(dtype)


def _loop(rows: Callable[..., None]) -> Callable[..., None]:
    """A thread for each row, as a loop."""

    def run(*arrays: NDArray[Any]) -> None:
        for i in range(len(arrays[0])):
            rows(i, i + 1, *arrays)

    return run


@contextmanager
def without_gpu(*, simulated: bool = False) -> Iterator[None]:
    """Rows are run by a loop, or by numba-cuda's simulator (NUMBA_ENABLE_CUDASIM)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector, "DEVICE", "cpu")
        patch.setattr(device, "view", _view)
        if simulated:
            patch.setattr(device, "stream", lambda: 0)
        else:
            patch.setattr(device, "kernel", _loop)
        yield


def build(variant: Variant, num_envs: int, **kwargs: Any) -> vector.CudaVecEnv:
    """The games of a variant on "the device"."""
    return vector.CudaVecEnv(
        variant.name, num_envs, variant.num_players, **kwargs, **variant.options
    )


def assert_same_games(cpu: VecEnv, other: vector.CudaVecEnv, steps: int, seed: int) -> int:
    """Plays the same random actions in both; everything is the same, to the byte.

    Returns how many games ended.
    """
    now, then = cpu.reset(seed), other.reset(seed)
    ended = 0
    for step in range(steps + 1):
        for name, array in vars(now).items():
            tensor = getattr(then, name)
            assert tensor.is_contiguous(), name
            found = tensor.cpu().numpy()
            assert found.dtype == array.dtype, name
            assert np.array_equal(found, array), name
        assert other.states.cpu().numpy().tobytes() == cpu.states.tobytes()
        assert np.array_equal(other.episodes.cpu().numpy(), cpu.episodes)
        actions = cpu.random_actions(step)
        assert np.array_equal(other.random_actions(step).cpu().numpy(), actions)
        if step < steps:
            now, then = cpu.step(actions), other.step(actions)
            ended += int(now.done.sum())
    return ended
