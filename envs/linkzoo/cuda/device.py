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
_loaded: dict[tuple[Callable[..., None], int, tuple[Kind, ...]], Any] = {}  # kernels
_target: tuple[int, int] | None = None  # compute capability, if this process only compiles


class Array(NamedTuple):
    """A tensor's memory as a kernel's argument."""

    kind: Kind
    shape: tuple[int, ...]
    parameters: tuple[int, ...]  # of the kernel: numba-cuda's array structure
    tensor: torch.Tensor  # keeps the memory


def launch(rows: RowKernel, *arguments: Any) -> None:
    """Launches all rows of the first argument on torch's current stream.

    Args:
        rows: The row function `kernel(first, last, *arguments)`: a thread takes rows one by one, or
            all threads of a block `rows.block` rows together.
        arguments: Tensors, results of `view`, NumPy numbers and integers (int64).
    """
    block = rows.block
    viewed = tuple([view(a) if isinstance(a, torch.Tensor) else a for a in arguments])
    count = viewed[0].shape[0]
    if not count:
        return
    blocks = -(-count // (block or _BLOCK))
    if compiler.SIMULATED:
        size = _BLOCK
        if block:
            size = 1  # the simulator's threads share no arrays
        cuda.jit(compiler.kernel(rows))[blocks, size](viewed)
        return
    kinds = tuple([a.kind if type(a) is Array else kind_of(a) for a in viewed])
    if _target is not None:
        cubins.machine_code(rows, kinds, _target)
        rows.serial(*map(_on_host, viewed))
        return
    key = (rows.kernel, block, kinds)
    loaded = _loaded.get(key)
    if loaded is None:
        loaded = _loaded[key] = load(rows, kinds)
    parameters: list[Any] = []
    for argument in viewed:
        if type(argument) is Array:
            parameters += argument.parameters
        else:
            parameters.append(argument)
    if not block:
        blocks = min(blocks, _BLOCKS * _multiprocessors())
    launch_kernel(stream(), _config(blocks, block or _BLOCK), loaded, *parameters)


def view(tensor: torch.Tensor, dtype: DTypeLike | None = None) -> Array:
    """Returns a tensor as a kernel argument; `dtype` reinterprets the last, contiguous axis."""
    stored = _DTYPES[tensor.dtype]
    shape = tuple(tensor.shape)
    strides = tuple([stored.itemsize * stride for stride in tensor.stride()])
    layout = "A"
    if tensor.is_contiguous():
        layout = "C"
    viewed = stored
    if dtype is not None:
        viewed = np.dtype(dtype)
    if viewed.itemsize != stored.itemsize:
        if strides[-1] != stored.itemsize or shape[-1] * stored.itemsize % viewed.itemsize:
            raise ValueError(f"{tensor.dtype}[{shape}]: the last axis can't be viewed as {viewed}")
        shape = (*shape[:-1], shape[-1] * stored.itemsize // viewed.itemsize)
        strides = (*strides[:-1], viewed.itemsize)
    count = tensor.numel() * stored.itemsize // viewed.itemsize
    parameters = (0, 0, count, viewed.itemsize, tensor.data_ptr(), *shape, *strides)
    return Array(kind(viewed, len(shape), layout), shape, parameters, tensor)


def only_compile(capability: tuple[int, int]) -> None:
    """From now on, compiles kernels for such a GPU into the cache, and runs the rows on the CPU.

    All tensors must lie on the CPU.
    """
    global _target  # noqa: PLW0603 - one target for the process
    _target = capability


def _on_host(argument: Any) -> Any:
    if type(argument) is not Array:
        return argument
    return argument.tensor.numpy().view(argument.kind.dtype)


def load(rows: RowKernel, kinds: tuple[Kind, ...]) -> Any:
    """Returns a kernel for arguments of these kinds, ready to be launched."""
    capability = torch.cuda.get_device_capability()
    for again in (False, True):  # a file in the cache may be damaged
        code = ObjectCode.from_cubin(cubins.machine_code(rows, kinds, capability, again=again))
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
