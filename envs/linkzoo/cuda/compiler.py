"""Everything that depends on numba-cuda: row functions to machine code, without a GPU.

numba-cuda compiles the rules from their plain functions when it finds them in a kernel, with two
changes: `linkzoo.engine.compiled.local` allocates thread-local memory, and a table of constants is
stored once in global memory. By default numba-cuda copies it into constant memory, limited to 64
kB, for each use.
"""

import hashlib
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numba
import numpy as np
from cuda.core import Linker, LinkerOptions, ObjectCode
from llvmlite import ir
from numba import cuda
from numba.core import event
from numpy.typing import NDArray

from linkzoo.engine.compiled import barrier, local, shared, thread, threads
from linkzoo.engine.threads import RowKernel

SIMULATED = bool(numba.config.ENABLE_CUDASIM)  # type: ignore[attr-defined]  # NUMBA_ENABLE_CUDASIM
ENTRY = "rows"  # the kernel's symbol in machine code
_GLOBAL = 1  # NVVM's number of the global address space
_ALIGNED = 16  # alignment of tables, in bytes
_NUMBERS = {bool: np.dtype(np.bool_), int: np.dtype(np.int64), float: np.dtype(np.float64)}

if not SIMULATED:
    from numba.cuda import cgutils, dispatcher, nvvmutils, types
    from numba.cuda.core.compiler_lock import global_compiler_lock
    from numba.cuda.cudadecl import Cuda_local_array, Cuda_shared_array
    from numba.cuda.cudaimpl import cuda_local_array_integer, cuda_shared_array_integer, lower
    from numba.cuda.descriptor import cuda_target
    from numba.cuda.np.numpy_support import from_dtype
    from numba.cuda.target import CUDATargetContext
    from numba.cuda.typing.templates import ConcreteTemplate, signature

    # Typed and lowered like `cuda.local.array`; an overload couldn't return an array on the device.
    class _Local(Cuda_local_array):  # type: ignore[misc]  # numba-cuda's
        key = local

    class _Shared(Cuda_shared_array):  # type: ignore[misc]  # numba-cuda's
        key = shared

    class _Thread(ConcreteTemplate):  # type: ignore[misc]  # numba-cuda's
        key = thread
        cases = (signature(types.int64),)

    class _Threads(_Thread):
        key = threads

    class _Barrier(ConcreteTemplate):  # type: ignore[misc]  # numba-cuda's
        key = barrier
        cases = (signature(types.none),)

    for _template in (_Local, _Shared, _Thread, _Threads, _Barrier):
        cuda_target.typing_context.insert_global(_template.key, types.Function(_template))
    lower(local, types.IntegerLiteral, types.Any)(cuda_local_array_integer)
    lower(shared, types.IntegerLiteral, types.Any)(cuda_shared_array_integer)

    @lower(thread)  # type: ignore[untyped-decorator]  # numba-cuda's
    def _lower_thread(_: Any, builder: Any, *__: Any) -> Any:
        return builder.zext(nvvmutils.call_sreg(builder, "tid.x"), ir.IntType(64))

    @lower(threads)  # type: ignore[untyped-decorator]  # numba-cuda's
    def _lower_threads(_: Any, builder: Any, *__: Any) -> Any:
        return builder.zext(nvvmutils.call_sreg(builder, "ntid.x"), ir.IntType(64))

    @lower(barrier)  # type: ignore[untyped-decorator]  # numba-cuda's
    def _lower_barrier(context: Any, builder: Any, *_: Any) -> Any:
        kind = ir.FunctionType(ir.VoidType(), ())
        wait = cgutils.get_or_insert_function(builder.module, kind, "llvm.nvvm.barrier0")
        builder.call(wait, ())
        return context.get_dummy_value()


@dataclass(frozen=True, eq=False)  # one object per kind (`kind`)
class Kind:
    """The compiled type of an argument: a number, or an array with `ndim` axes.

    `layout` is "C" for contiguous arrays, "A" for others, and empty for numbers.
    """

    dtype: np.dtype[Any]
    ndim: int
    layout: str


@cache
def kind(dtype: np.dtype[Any], ndim: int = 0, layout: str = "") -> Kind:
    """Returns the only `Kind` with these attributes."""
    return Kind(dtype, ndim, layout)


def kind_of(value: Any) -> Kind:
    """Returns the kind of a NumPy array or a number."""
    if isinstance(value, np.ndarray):
        layout = "A"
        if value.flags.c_contiguous:
            layout = "C"
        return kind(value.dtype, value.ndim, layout)
    return kind(_NUMBERS.get(type(value)) or value.dtype)


def kernel(rows: RowKernel) -> Callable[[Any], None]:
    """Returns `rows.kernel(first, last, *arguments)` as a function of a thread and its arguments.

    The threads take one row after another; all threads of a block take `rows.block` rows together,
    if it isn't 0.
    """
    take = rows.kernel
    block = rows.block

    def each(arguments: Any) -> None:
        i = cuda.grid(1)
        while i < arguments[0].shape[0]:
            take(i, i + 1, *arguments)
            i += cuda.gridsize(1)

    def together(arguments: Any) -> None:
        first = cuda.blockIdx.x * block
        take(first, min(first + block, arguments[0].shape[0]), *arguments)

    if block:
        return together
    return each


def ptx(rows: RowKernel, kinds: tuple[Kind, ...], capability: tuple[int, int]) -> str:
    """Compiles a `kernel` to PTX, for arguments of these kinds."""
    arguments = types.BaseTuple.from_types([_type(kind) for kind in kinds])
    device = SimpleNamespace(compute_capability=capability)
    with (
        global_compiler_lock,
        event.trigger_event("numba:compile"),
        _replaced(dispatcher, "get_current_device", lambda: device),
        _replaced(CUDATargetContext, "make_constant_array", _make_constant_array),
    ):
        text: str = cuda.compile_ptx(kernel(rows), (arguments,), cc=capability)[0]
    (entry,) = re.findall(r"\.entry (\w+)", text)
    return text.replace(entry, ENTRY)


def cubin(rows: RowKernel, kinds: tuple[Kind, ...], capability: tuple[int, int]) -> bytes:
    """Compiles a `kernel` to machine code with the symbol `ENTRY`."""
    code = ObjectCode.from_ptx(ptx(rows, kinds, capability).encode())
    options = LinkerOptions(arch="sm_{}{}".format(*capability))
    with event.trigger_event("numba:compile"):
        return bytes(Linker(code, options=options).link("cubin").code)


def _type(kind: Kind) -> Any:
    element = from_dtype(kind.dtype)
    if not kind.layout:
        return element
    return types.Array(element, kind.ndim, kind.layout)


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
    constant = context.make_array(kind)(context, builder)
    start = builder.addrspacecast(table, ir.PointerType(ir.IntType(8)), "generic")
    context.populate_array(
        constant,
        data=builder.bitcast(start, constant.data.type),
        shape=[context.get_constant(types.intp, extent) for extent in array.shape],
        strides=[context.get_constant(types.intp, stride) for stride in array.strides],
        itemsize=constant.itemsize,
        parent=constant.parent,
        meminfo=None,
    )
    return constant._getvalue()
