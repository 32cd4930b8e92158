"""Everything that depends on numba-cuda: kernels, their arguments, streams and PTX.

numba-cuda compiles the rules from their plain functions when it finds them in a kernel, with two
changes: `linkzoo.engine.compiled.local` allocates thread-local memory, and a table of constants is
stored once in global memory. By default numba-cuda copies it into constant memory, limited to 64
kB, for each use.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
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
from linkzoo.engine.threads import RowKernel

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # type: ignore[attr-defined]  # NUMBA_ENABLE_CUDASIM
_BLOCK = 128  # threads per block
_GLOBAL = 1  # NVVM's number of the global address space
_ALIGNED = 16  # alignment of tables, in bytes
_external_stream = cache(cuda.external_stream)  # kernels look launches up by the stream object

if not SIMULATED:
    from numba.cuda import cgutils, dispatcher, types
    from numba.cuda.core import config
    from numba.cuda.core.compiler_lock import global_compiler_lock
    from numba.cuda.cudadecl import Cuda_local_array
    from numba.cuda.cudaimpl import cuda_local_array_integer, lower
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.target import CUDATargetContext
    from numba.cuda.typing.typeof import typeof

    # Typed and lowered like `cuda.local.array`; an overload couldn't return an array on the device.
    class _Local(Cuda_local_array):  # type: ignore[misc]  # numba-cuda's
        key = local

    cuda_target.typing_context.insert_global(local, types.Function(_Local))
    lower(local, types.IntegerLiteral, types.Any)(cuda_local_array_integer)


class Kernel:
    """A row function `rows(first, last, *arrays)` as a CUDA kernel, one thread per row."""

    def __init__(self, rows: Callable[..., None]) -> None:
        def each(arrays: Any) -> None:
            i = cuda.grid(1)
            if i < arrays[0].shape[0]:
                rows(i, i + 1, *arrays)

        self.each = each
        self._launched: Any = cuda.jit(each)
        if not SIMULATED:
            compile_for = self._launched.compile

            def compile_with_tables(signature: Any) -> Any:  # for each new signature
                with _tables(), event.trigger_event("numba:compile"):
                    return compile_for(signature)

            self._launched.compile = compile_with_tables

    def __call__(self, *arrays: Any) -> None:
        """Launches all rows on torch's current stream; `arrays` are results of `view`."""
        blocks = -(-arrays[0].shape[0] // _BLOCK)
        if not blocks:
            return
        # Avoids numba-cuda's warning about low occupancy.
        warns: Any = None if SIMULATED else _replaced(config, "CUDA_LOW_OCCUPANCY_WARNINGS", 0)
        with warns or nullcontext():
            launch = self._launched[blocks, _BLOCK, stream()]
        launch(arrays)


@cache
def kernel(rows: Callable[..., None]) -> Kernel:
    """Returns the cached CUDA kernel of a compiled row function."""
    return Kernel(rows)


def launch(rows: RowKernel, *arguments: Any) -> None:
    """Runs all rows; arguments are contiguous tensors, results of `view`, and numbers."""
    kernel(rows.kernel)(*(view(a) if hasattr(a, "data_ptr") else a for a in arguments))


def view(tensor: Any, dtype: DTypeLike | None = None) -> Any:
    """Returns a contiguous tensor as a kernel argument; `dtype` reinterprets its last axis."""
    array = cuda.as_cuda_array(tensor, sync=False)
    return array if dtype is None else array.view(dtype)


def stream() -> Any:
    """Returns torch's current stream."""
    import torch

    return _external_stream(torch.cuda.current_stream().cuda_stream)


def ptx(
    rows: Callable[..., None], arrays: tuple[NDArray[Any], ...], capability: tuple[int, int]
) -> str:
    """Compiles the kernel for these array types to PTX; needs NVVM but no GPU."""
    device = SimpleNamespace(compute_capability=capability)
    with _tables(), _replaced(dispatcher, "get_current_device", lambda: device):
        text: str = cuda.compile_ptx(Kernel(rows).each, (typeof(arrays),), cc=capability)[0]
    return text


@contextmanager
def _tables() -> Iterator[None]:
    """Places tables of constants in global memory while this thread compiles."""
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
    """Like `CUDATargetContext`'s method, but equal tables are shared and named by content."""
    array = np.ascontiguousarray(array)
    data = array.tobytes()
    name = f"linkzoo_{hashlib.sha256(data).hexdigest()[:32]}"
    table = builder.module.globals.get(name)
    if table is None:
        content = ir.Constant(ir.ArrayType(ir.IntType(8), len(data)), bytearray(data))
        table = cgutils.add_global_variable(builder.module, content.type, name, addrspace=_GLOBAL)
        table.linkage = "linkonce_odr"  # the linker merges duplicates
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
