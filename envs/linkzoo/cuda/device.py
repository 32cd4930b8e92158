"""All that depends on numba-cuda: rows as kernels, tensors as their arguments, streams, PTX.

numba-cuda compiles the rules from their plain functions, as it meets them in a kernel. Two things
are done in another way than its own: `linkzoo.engine.compiled.local` is memory of the thread, and a table
of constants lies once in global memory, for numba-cuda writes a copy of it into constant memory,
which ends at 64 kB, wherever it is used.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import cuda
from numba.core import event
from numpy.typing import DTypeLike, NDArray

from linkzoo.engine.compiled import local
from linkzoo.engine.threads import Rows

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # type: ignore[attr-defined]  # NUMBA_ENABLE_CUDASIM
_BLOCK = 128  # threads that are launched together
_GLOBAL = 1  # NVVM's number of the address space
_ALIGNED = 16  # bytes: where a table begins

if not SIMULATED:
    from numba.cuda import cgutils, dispatcher, types
    from numba.cuda.core import config
    from numba.cuda.core.compiler_lock import global_compiler_lock
    from numba.cuda.cudadecl import Cuda_local_array
    from numba.cuda.cudaimpl import cuda_local_array_integer, lower
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.target import CUDATargetContext
    from numba.cuda.typing.typeof import typeof

    # Typed and made as `cuda.local.array`; an overload couldn't return an array on the device.
    class _Local(Cuda_local_array):  # type: ignore[misc]  # numba-cuda's
        key = local

    cuda_target.typing_context.insert_global(local, types.Function(_Local))
    lower(local, types.IntegerLiteral, types.Any)(cuda_local_array_integer)


class Kernel:
    """A function over rows, `rows(first, last, *arrays)`, on the device: a thread does a row."""

    def __init__(self, rows: Callable[..., None]) -> None:
        def each(arrays: Any) -> None:
            i = cuda.grid(1)
            if i < arrays[0].shape[0]:
                rows(i, i + 1, *arrays)

        self.each = each
        self._launched: Any = cuda.jit(each)
        if not SIMULATED:
            self._launched.compile = _with_tables(self._launched.compile)

    def __call__(self, *arrays: Any) -> None:
        """Launches all rows on torch's current stream; `arrays` are what `view` gives."""
        blocks = -(-arrays[0].shape[0] // _BLOCK)
        if not blocks:
            return
        with _few_blocks_are_welcome():
            launch = self._launched[blocks, _BLOCK, stream()]
        launch(arrays)


@cache
def kernel(rows: Callable[..., None]) -> Kernel:
    """The kernel of a compiled function over rows: the same one each time."""
    return Kernel(rows)


def launch(rows: Rows, *arguments: Any) -> None:
    """Runs all rows over contiguous tensors, what `view` gives, and numbers."""
    kernel(rows.kernel)(*(view(a) if hasattr(a, "data_ptr") else a for a in arguments))


def view(tensor: Any, dtype: DTypeLike | None = None) -> Any:
    """The memory of a contiguous tensor as a kernel takes it; its last axis of another type."""
    array = cuda.as_cuda_array(tensor, sync=False)
    return array if dtype is None else array.view(dtype)


def stream() -> Any:
    """Torch's current stream."""
    import torch

    return _stream(torch.cuda.current_stream().cuda_stream)


@cache
def _stream(handle: int) -> Any:
    """A stream as numba-cuda takes it: one object for each, by which it finds a launch again."""
    return cuda.external_stream(handle)


def ptx(
    rows: Callable[..., None], arrays: tuple[NDArray[Any], ...], capability: tuple[int, int]
) -> str:
    """The kernel for arrays of these types as PTX; needs NVVM but no GPU."""
    standing_in = SimpleNamespace(compute_capability=capability)
    with _tables(), _replaced(dispatcher, "get_current_device", lambda: standing_in):
        text: str = cuda.compile_ptx(Kernel(rows).each, (typeof(arrays),), cc=capability)[0]
    return text


def _few_blocks_are_welcome() -> AbstractContextManager[None]:
    """While a launch is prepared, numba-cuda doesn't warn of fewer blocks than a GPU holds."""
    if SIMULATED:
        return nullcontext()
    return _replaced(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)


def _with_tables(compile_for: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What compiles a kernel, whenever arguments of other types come, with `_tables`."""

    def run(signature: Any) -> Any:
        with _tables(), event.trigger_event("numba:compile"):
            return compile_for(signature)

    return run


@contextmanager
def _tables() -> Iterator[None]:
    """While this thread compiles, tables of constants lie in global memory."""
    with (
        global_compiler_lock,
        _replaced(CUDATargetContext, "make_constant_array", _make_constant_array),
    ):
        yield


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    before = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, before)


def _make_constant_array(context: Any, builder: Any, kind: Any, array: NDArray[Any]) -> Any:
    """As `CUDATargetContext` has it, but that equal tables are one, named by what they hold."""
    array = np.ascontiguousarray(array)
    data = array.tobytes()
    name = f"linkzoo_{hashlib.sha256(data).hexdigest()[:32]}"
    table = builder.module.globals.get(name)
    if table is None:
        content = ir.Constant(ir.ArrayType(ir.IntType(8), len(data)), bytearray(data))
        table = cgutils.add_global_variable(builder.module, content.type, name, addrspace=_GLOBAL)
        table.linkage = "linkonce_odr"  # the linker keeps one
        table.global_constant = True
        table.initializer = content
        table.align = _ALIGNED
    made = context.make_array(kind)(context, builder)
    start = builder.addrspacecast(table, ir.PointerType(ir.IntType(8)), "generic")
    context.populate_array(
        made,
        data=builder.bitcast(start, made.data.type),
        shape=[context.get_constant(types.intp, extent) for extent in array.shape],
        strides=[context.get_constant(types.intp, stride) for stride in array.strides],
        itemsize=made.itemsize,
        parent=made.parent,
        meminfo=None,
    )
    return made._getvalue()
