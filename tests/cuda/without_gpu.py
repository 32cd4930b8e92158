"""`CudaVecEnv` where there is no GPU: its tensors lie on the CPU, and a fake driver runs the rows.

The arguments of a launch are decoded from its raw parameters: addresses, shapes, strides and
numbers.
"""

import ctypes
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from linkzoo import VecEnv
from linkzoo.cuda import device, vector
from linkzoo.cuda.compiler import Kind, kind_of
from linkzoo.engine.threads import RowKernel
from tests.common.variants import Variant

_THREADS = 1024  # in a block, at most


class Loaded(NamedTuple):
    """A kernel in the driver."""

    rows: RowKernel
    kinds: tuple[Kind, ...]


class Launch(NamedTuple):
    """A launch that reached the driver."""

    name: str
    stream: int
    grid: int
    block: int


class Driver:
    """Runs kernels on the CPU, the threads one after the other.

    Attributes:
        loaded: All kernels so far.
        launches: All launches so far.
        stream: The handle of torch's current stream.
    """

    def __init__(self) -> None:
        self.loaded: list[Loaded] = []
        self.launches: list[Launch] = []
        self.stream = 0

    def load(self, rows: RowKernel, kinds: tuple[Kind, ...]) -> Loaded:
        """Like `linkzoo.cuda.device.load`."""
        self.loaded.append(Loaded(rows, kinds))
        return self.loaded[-1]

    def launch(self, stream: int, config: Any, loaded: Loaded, *raw: Any) -> None:
        """Like `cuda.core.launch`."""
        (grid, *_), (block, *_) = config.grid, config.block
        assert grid > 0
        assert 0 < block <= _THREADS
        rows, together = loaded.rows.kernel, loaded.rows.block
        self.launches.append(Launch(rows.__name__, stream, grid, block))
        given = iter(raw)
        arguments = [_decode(kind, given) for kind in loaded.kinds]
        assert not list(given)
        count = len(arguments[0])
        if together:
            for first in range(0, grid * together, together):
                rows(first, min(first + together, count), *arguments)
        else:
            for i in range(count):
                rows(i, i + 1, *arguments)

    def current_stream(self) -> Any:
        """Like torch's."""
        return SimpleNamespace(cuda_stream=self.stream, device_index=0)


def _decode(kind: Kind, given: Iterator[Any]) -> Any:
    """Takes an argument's parameters and returns the kernel's argument."""
    if not kind.layout:
        number = next(given)
        assert kind_of(number) is kind
        return number
    meminfo, parent, count, itemsize, address = (next(given) for _ in range(5))
    shape = tuple(next(given) for _ in range(kind.ndim))
    strides = tuple(next(given) for _ in range(kind.ndim))
    assert (meminfo, parent, count, itemsize) == (0, 0, np.prod(shape), kind.dtype.itemsize)
    last = sum((n - 1) * stride for n, stride in zip(shape, strides, strict=True))
    memory = (ctypes.c_char * (last + itemsize if count else 0)).from_address(address)
    array = np.ndarray(shape, kind.dtype, memory, strides=strides)  # type: ignore[arg-type]  # ctypes
    assert kind_of(array).layout == kind.layout or not count
    return array


def _view(tensor: Any, dtype: Any = None) -> NDArray[Any]:
    array: NDArray[Any] = tensor.numpy()
    return array if dtype is None else array.view(dtype)


@contextmanager
def without_gpu(*, simulated: bool = False) -> Iterator[Driver]:
    """Rows are run by a fake driver, or by numba-cuda's simulator (NUMBA_ENABLE_CUDASIM)."""
    driver = Driver()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(vector, "DEVICE", "cpu")
        if simulated:
            patch.setattr(device, "view", _view)
        else:
            patch.setattr(device, "_loaded", {})  # none that others loaded
            patch.setattr(device, "load", driver.load)
            patch.setattr(device, "launch_kernel", driver.launch)
            patch.setattr(device, "_stream", lambda handle: handle)
            patch.setattr(device._thread, "device", None, raising=False)
            patch.setattr(device, "_multiprocessors", lambda: 132)
            patch.setattr(torch.cuda, "current_stream", driver.current_stream)
        yield driver


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
            numbers = tensor.cpu().numpy()
            assert numbers.dtype == array.dtype, name
            assert np.array_equal(numbers, array), name
        assert other.states.cpu().numpy().tobytes() == cpu.states.tobytes()
        assert np.array_equal(other.episodes.cpu().numpy(), cpu.episodes)
        actions = cpu.random_actions(step)
        assert np.array_equal(other.random_actions(step).cpu().numpy(), actions)
        if step < steps:
            now, then = cpu.step(actions), other.step(actions)
            ended += int(now.done.sum())
    return ended
