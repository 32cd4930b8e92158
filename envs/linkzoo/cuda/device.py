"""Kernels of row functions on torch's current stream, and their arguments.

A kernel is loaded once for each combination of argument kinds, from the disk cache (`cubins`).
"""

import threading
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import torch
from cuda.core import Device, LaunchConfig, ObjectCode, Stream
from cuda.core import launch as launch_kernel
from numba import cuda
from numpy.typing import DTypeLike

from linkzoo.cuda import compiler, cubins
from linkzoo.cuda.compiler import Kind, kind, kind_of
from linkzoo.engine.threads import RowKernel

_BLOCK = 64  # threads per block
_BLOCKS = 4  # blocks per multiprocessor: the rows of more threads don't fit in its cache
_names = "bool uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 float32 float64".split()
_DTYPES = {getattr(torch, name): np.dtype(name) for name in _names if hasattr(torch, name)}
_thread = threading.local()
_target: tuple[int, int] | None = None  # compute capability, if this process only compiles


class Array(NamedTuple):
    """A tensor's memory as a kernel's argument."""

    kind: Kind
    shape: tuple[int, ...]
    parameters: tuple[int, ...]  # of the kernel: numba-cuda's array structure
    tensor: torch.Tensor  # keeps the memory


class Kernel:
    """A row function `rows(first, last, *arguments)` as a CUDA kernel.

    A thread takes rows one by one, or all threads of a block `block` rows together.
    """

    def __init__(self, rows: Callable[..., None], block: int = 0) -> None:
        self.rows, self.block = rows, block
        self._loaded: dict[tuple[Kind, ...], Any] = {}

    def __call__(self, *arguments: Any) -> None:
        """Launches all rows of the first argument on torch's current stream.

        Args:
            arguments: Results of `view`, NumPy numbers and integers (int64).
        """
        count = arguments[0].shape[0]
        if not count:
            return
        blocks = -(-count // (self.block or _BLOCK))
        if compiler.SIMULATED:
            block = 1 if self.block else _BLOCK  # its threads share no arrays
            cuda.jit(compiler.kernel(self.rows, self.block))[blocks, block](arguments)
            return
        kinds = tuple([a.kind if type(a) is Array else kind_of(a) for a in arguments])
        if _target is not None:
            cubins.machine_code(self.rows, kinds, _target, self.block)
            self.rows(0, count, *map(_on_host, arguments))
            return
        loaded = self._loaded.get(kinds)
        if loaded is None:
            loaded = self._loaded[kinds] = load(self.rows, kinds, self.block)
        parameters: list[Any] = []
        for argument in arguments:
            if type(argument) is Array:
                parameters += argument.parameters
            else:
                parameters.append(argument)
        if not self.block:
            blocks = min(blocks, _BLOCKS * _multiprocessors())
        config = _config(blocks, self.block or _BLOCK)
        launch_kernel(stream(), config, loaded, *parameters)


@cache
def kernel(rows: Callable[..., None], block: int = 0) -> Kernel:
    """Returns the cached CUDA kernel of a compiled row function."""
    return Kernel(rows, block)


def launch(rows: RowKernel, *arguments: Any) -> None:
    """Runs all rows; arguments are tensors, results of `view`, and numbers."""
    made = [view(a) if isinstance(a, torch.Tensor) else a for a in arguments]
    kernel(rows.kernel, rows.block)(*made)


def view(tensor: torch.Tensor, dtype: DTypeLike | None = None) -> Array:
    """Returns a tensor as a kernel argument; `dtype` reinterprets the last, contiguous axis."""
    own = _DTYPES[tensor.dtype]
    shape, layout = tuple(tensor.shape), "C" if tensor.is_contiguous() else "A"
    strides = tuple([own.itemsize * stride for stride in tensor.stride()])
    made = own if dtype is None else np.dtype(dtype)
    if made.itemsize != own.itemsize:
        if strides[-1] != own.itemsize or shape[-1] * own.itemsize % made.itemsize:
            raise ValueError(f"{tensor.dtype}[{shape}]: the last axis can't be viewed as {made}")
        shape = (*shape[:-1], shape[-1] * own.itemsize // made.itemsize)
        strides = (*strides[:-1], made.itemsize)
    count = tensor.numel() * own.itemsize // made.itemsize
    parameters = (0, 0, count, made.itemsize, tensor.data_ptr(), *shape, *strides)
    return Array(kind(made, len(shape), layout), shape, parameters, tensor)


def only_compile(capability: tuple[int, int]) -> None:
    """From now on, compiles kernels for such a GPU into the cache, and runs the rows on the CPU.

    All tensors must lie there.
    """
    global _target  # noqa: PLW0603 - one target for the process
    _target = capability


def _on_host(argument: Any) -> Any:
    if type(argument) is not Array:
        return argument
    return argument.tensor.numpy().view(argument.kind.dtype)


def load(rows: Callable[..., None], kinds: tuple[Kind, ...], block: int = 0) -> Any:
    """Returns a kernel for arguments of these kinds, ready to be launched."""
    capability = torch.cuda.get_device_capability()
    for again in (False, True):  # a file in the cache may be damaged
        made = cubins.machine_code(rows, kinds, capability, block, again=again)
        code = ObjectCode.from_cubin(made)
        try:
            return code.get_kernel(compiler.ENTRY)
        except Exception:  # the driver's
            if again:
                raise
    raise AssertionError


@cache
def _stream(handle: int) -> Stream:
    return Stream.from_handle(handle)


def stream() -> Any:
    """Returns torch's current stream."""
    current = torch.cuda.current_stream()
    if not hasattr(_thread, "device"):  # torch makes it current on a thread's first use
        _thread.device = Device(current.device_index)
        _thread.device.set_current()
    return _stream(current.cuda_stream)


@cache
def _multiprocessors() -> int:
    return torch.cuda.get_device_properties().multi_processor_count


@cache
def _config(blocks: int, block: int) -> LaunchConfig:
    return LaunchConfig(grid=blocks, block=block)
