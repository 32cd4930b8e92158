"""Atomic words shared by threads, and calls of compiled kernels by address, as LLVM code.

Contains everything that depends on Numba's untyped CPU code generation; `threads` builds on it.
"""

import platform
from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.core.typing.templates import Signature
from numba.np.arrayobj import make_array

BUFFER_BYTES = 16384  # buffer size for a kernel's arguments
_WORD = ir.IntType(64)
_CODE = ir.IntType(32)  # return codes of Numba: 0, -2 (returned None) or an error
_NONE = -2

intrinsic: Any = extending.intrinsic  # decorated functions are called without typing context
Generator = tuple[Signature, Callable[..., Any]]  # an intrinsic's types and code


def _address_of(context: Any, builder: Any, signature: Any, array: Any, index: Any) -> Any:
    words = make_array(signature.args[0])(context, builder, array)
    return builder.gep(words.data, [index])


@intrinsic
def load(_typing: types.Type, array: types.Type, index: types.Type) -> Generator:
    """Returns `array[index]` with an atomic load."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(_address_of(context, builder, signature, *values), "seq_cst", 8)

    return types.int64(array, index), generate


def _read_modify_write(operation: str) -> Any:
    """Returns a function that changes `array[index]` by `value` and returns the old value."""

    @intrinsic
    def change(
        _typing: types.Type, array: types.Type, index: types.Type, value: types.Type
    ) -> Generator:
        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            word = _address_of(context, builder, signature, *values[:2])
            value = context.cast(builder, values[2], signature.args[2], types.int64)
            return builder.atomic_rmw(operation, word, value, "seq_cst")

        return types.int64(array, index, value), generate

    return change


add = _read_modify_write("add")
store = _read_modify_write("xchg")  # on x86-64 the instruction of an atomic store, too


@intrinsic
def pause(_typing: types.Type) -> Generator:
    """Emits a spin-wait hint for the processor."""

    def generate(context: Any, builder: Any, _signature: Any, _values: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), nothing), [])
        return context.get_dummy_value()

    return types.void(), generate


def _borrowed(context: Any, builder: Any, kind: types.Type, value: Any) -> Any:
    """Returns a value whose arrays have no owner, so callees don't count references.

    A call may return before helpers finish, which ends the caller's references: counting them would
    write to freed memory.
    """
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: tuple[Any, ...] = tuple(kind)  # type: ignore[arg-type]  # element types
        parts = cgutils.unpack_tuple(builder, value, len(kinds))
        borrowed = [_borrowed(context, builder, *part) for part in zip(kinds, parts, strict=True)]
        return context.make_tuple(builder, kind, borrowed)
    return value


@intrinsic
def pack_call(
    _typing: types.Type, buffer: types.Type, kernel: types.Type, arrays: Any
) -> Generator:
    """Writes the kernel's address and its borrowed arrays into `buffer`.

    Returns the address of a function `body(data, first, last)` that calls the kernel with the
    arguments at `data`.
    """
    arguments = (types.int64, types.int64, *arrays.types)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        kinds = [_WORD, *(context.get_value_type(kind) for kind in arrays.types)]
        layout = ir.LiteralStructType(kinds)
        if context.get_abi_sizeof(layout) > BUFFER_BYTES:
            raise ValueError(f"{len(kinds)} arguments are more than {BUFFER_BYTES} bytes")
        packed = builder.bitcast(
            make_array(signature.args[0])(context, builder, values[0]).data, layout.as_pointer()
        )
        borrowed = _borrowed(context, builder, arrays, values[2])
        arguments_given = cgutils.unpack_tuple(builder, borrowed, len(arrays.types))
        for index, value in enumerate([values[1], *arguments_given]):
            builder.store(value, cgutils.gep_inbounds(builder, packed, 0, index))
        body = ir.Function(
            builder.module,
            ir.FunctionType(_CODE, [_WORD, _WORD, _WORD]),
            f"{builder.function.name}.body",
        )
        body.linkage = "internal"
        inside = ir.IRBuilder(body.append_basic_block())
        data, first, last = body.args
        packed = inside.inttoptr(data, layout.as_pointer())
        address, *unpacked = (
            inside.load(cgutils.gep_inbounds(inside, packed, 0, index))
            for index in range(len(kinds))
        )
        called = convention.get_function_type(types.none, arguments)
        result, raised = (inside.alloca(pointer.pointee) for pointer in called.args[:2])
        flat = convention._get_arg_packer(arguments).as_arguments(inside, [first, last, *unpacked])
        code = inside.call(inside.inttoptr(address, called.as_pointer()), [result, raised, *flat])
        inside.ret(inside.select(inside.icmp_signed("==", code, _CODE(_NONE)), _CODE(0), code))
        return builder.ptrtoint(body, _WORD)

    return types.int64(buffer, kernel, arrays), generate


@intrinsic
def call_packed(
    _typing: types.Type, body: types.Type, data: types.Type, first: types.Type, last: types.Type
) -> Generator:
    """Calls the function at address `body`; returns nonzero if it raised."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        called = ir.FunctionType(_CODE, [_WORD, _WORD, _WORD])
        code = builder.call(builder.inttoptr(values[0], called.as_pointer()), values[1:])
        return builder.sext(code, _WORD)

    return types.int64(body, data, first, last), generate
