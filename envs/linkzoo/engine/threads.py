"""Threads that share the rows of an array: one compiled function, called on parts of its rows.

A function `kernel(first, last, *arrays)` does the rows `first`..`last - 1`, each on its own. `Rows`
makes it callable on whole arrays: few rows are done by the calling thread, many by several threads
together, the calling one among them. Helping threads take their parts from a shared counter, in
compiled code and without Python's lock. They look for work for some tens of microseconds, then
sleep: they cost a busy machine nothing, and one that comes too late is not waited for.

Every process has helpers of its own, started when they are first needed, also after a fork. They
serve one caller at a time; what other Python threads call meanwhile runs on these threads alone.
"""

import atexit
import os
import platform
import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.np.arrayobj import make_array
from numpy.typing import NDArray

from linkzoo.engine.compiled import compiled

# The cores that the process may use, or the user's NUMBA_NUM_THREADS.
MAX_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
intrinsic: Any = extending.intrinsic  # what it makes is called without the typing context
_INTERPRETED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

_PARTS = 8  # of the rows, for each thread
_LOOKS = 1000  # for work or for the others' end, some 20 to 50 nanoseconds each, before sleeping
_NAP = 50e-6  # seconds between later looks for the others' end
_YIELD: Callable[[], None] = getattr(os, "sched_yield", partial(time.sleep, 0))
_ROOM = 16384  # bytes of arguments that a kernel may have

# Words that the threads of a pool share, each in a cache line of its own.
_LINE = 8
_JOINED = 0 * _LINE  # helpers at work, less _CLOSED when they are not to begin
_NEXT = 1 * _LINE  # parts that were taken
_COUNT = 2 * _LINE  # rows
_PART = 3 * _LINE  # rows to take at once
_HELPERS = 4 * _LINE  # that may join
_BODY = 5 * _LINE  # the address of the function that does a part
_DATA = 6 * _LINE  # the address of its arguments
_FAILED = 7 * _LINE  # 1 + the first row of a part that raised; 0: none
_ALL = 8 * _LINE  # parts there are
_FRONT = 9 * _LINE  # parts that the caller took, from the first on
_BACK = 10 * _LINE  # parts that helpers took, from the last on
_WORDS = 11 * _LINE
_CLOSED = 2**40


def _word(context: Any, builder: Any, signature: Any, array: Any, index: Any) -> Any:
    words = make_array(signature.args[0])(context, builder, array)
    return builder.gep(words.data, [index])


@intrinsic
def _load(_typing: Any, array: Any, index: Any) -> Any:
    """`array[index]`, as the other threads left it."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return builder.load_atomic(_word(context, builder, signature, *values), "seq_cst", 8)

    return types.int64(array, index), generate


@intrinsic
def _store(_typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Sets `array[index]` for all threads."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = _word(context, builder, signature, *values[:2])
        builder.store_atomic(
            context.cast(builder, values[2], signature.args[2], types.int64), word, "seq_cst", 8
        )
        return context.get_dummy_value()

    return types.void(array, index, value), generate


@intrinsic
def _add(_typing: Any, array: Any, index: Any, value: Any) -> Any:
    """Adds to `array[index]` in one go; what it was before."""

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        word = _word(context, builder, signature, *values[:2])
        value = context.cast(builder, values[2], signature.args[2], types.int64)
        return builder.atomic_rmw("add", word, value, "seq_cst")

    return types.int64(array, index, value), generate


@intrinsic
def _pause(_typing: Any) -> Any:
    """Tells the processor that this thread looks again and again."""

    def generate(context: Any, builder: Any, _signature: Any, _values: Any) -> Any:
        if platform.machine() in ("x86_64", "AMD64"):
            nothing = ir.FunctionType(ir.VoidType(), [])
            builder.call(builder.module.declare_intrinsic("llvm.x86.sse2.pause", (), nothing), [])
        return context.get_dummy_value()

    return types.void(), generate


_WORD = ir.IntType(64)
_CODE = ir.IntType(32)  # of Numba's calling convention: 0, -2 (returned None) or an error
_NONE = -2


def _lent(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """A value whose arrays name no owner: whoever uses it counts no references.

    The caller's own references end with a call that doesn't wait for the rows: who counted would
    write in memory that was given back.
    """
    if isinstance(kind, types.Array):
        array = make_array(kind)(context, builder, value)
        array.meminfo = ir.Constant(array.meminfo.type, None)
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        kinds: tuple[Any, ...] = tuple(kind)  # type: ignore[arg-type]  # of what it holds
        parts = cgutils.unpack_tuple(builder, value, len(kinds))
        lent = [_lent(context, builder, *part) for part in zip(kinds, parts, strict=True)]
        return context.make_tuple(builder, kind, lent)
    return value


@intrinsic
def _pack(_typing: Any, room: Any, kernel: Any, arrays: Any) -> Any:
    """Puts the kernel's address and its arrays, lent, into `room`.

    Returns the address of a function `body(data, first, last)` that calls the kernel with what lies
    at `data`.
    """
    arguments = (types.int64, types.int64, *arrays.types)

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        convention = context.call_conv
        kinds = [_WORD, *(context.get_value_type(kind) for kind in arrays.types)]
        layout = ir.LiteralStructType(kinds)
        if context.get_abi_sizeof(layout) > _ROOM:
            raise ValueError(f"{len(kinds)} arguments are more than {_ROOM} bytes")
        held = builder.bitcast(
            make_array(signature.args[0])(context, builder, values[0]).data, layout.as_pointer()
        )
        lent = _lent(context, builder, arrays, values[2])
        given = cgutils.unpack_tuple(builder, lent, len(arrays.types))
        for place, value in enumerate([values[1], *given]):
            builder.store(value, cgutils.gep_inbounds(builder, held, 0, place))
        body = ir.Function(
            builder.module,
            ir.FunctionType(_CODE, [_WORD, _WORD, _WORD]),
            f"{builder.function.name}.body",
        )
        body.linkage = "internal"
        inside = ir.IRBuilder(body.append_basic_block())
        data, first, last = body.args
        held = inside.inttoptr(data, layout.as_pointer())
        address, *taken = (
            inside.load(cgutils.gep_inbounds(inside, held, 0, place)) for place in range(len(kinds))
        )
        called = convention.get_function_type(types.none, arguments)
        result, raised = (inside.alloca(pointer.pointee) for pointer in called.args[:2])
        flat = convention._get_arg_packer(arguments).as_arguments(inside, [first, last, *taken])
        code = inside.call(inside.inttoptr(address, called.as_pointer()), [result, raised, *flat])
        inside.ret(inside.select(inside.icmp_signed("==", code, _CODE(_NONE)), _CODE(0), code))
        return builder.ptrtoint(body, _WORD)

    return types.int64(room, kernel, arrays), generate


@intrinsic
def _call(_typing: Any, body: Any, data: Any, first: Any, last: Any) -> Any:
    """Calls the function at address `body`; not 0 if it raised."""

    def generate(_context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        called = ir.FunctionType(_CODE, [_WORD, _WORD, _WORD])
        code = builder.call(builder.inttoptr(values[0], called.as_pointer()), values[1:])
        return builder.sext(code, _WORD)

    return types.int64(body, data, first, last), generate


@compiled
def _take(words: Any, end: Any) -> None:
    """Does parts of the rows until none is left, from one end: it finds its own rows in its cache.

    Whoever may take a part takes the next of its end: the two never meet.
    """
    count, part, parts = _load(words, _COUNT), _load(words, _PART), _load(words, _ALL)
    body, data = _load(words, _BODY), _load(words, _DATA)
    while _add(words, _NEXT, 1) < parts:
        place = _add(words, end, 1)
        first = part * (place if end == _FRONT else parts - 1 - place)
        if _call(body, data, first, min(first + part, count)):
            _store(words, _FAILED, first + 1)
            _store(words, _NEXT, parts)


@compiled
def _serve(words: Any, looks: Any) -> None:
    """A helper's part: takes rows whenever there are some, until it looked in vain for too long."""
    idle = 0
    while idle < looks:
        idle += 1
        joined = _load(words, _JOINED)
        if 0 <= joined < _load(words, _HELPERS) and _load(words, _NEXT) < _load(words, _ALL):
            joined = _add(words, _JOINED, 1)
            if 0 <= joined < _load(words, _HELPERS):
                _take(words, _BACK)
                idle = 0
            _add(words, _JOINED, -1)
        else:
            _pause()


@compiled
def _ended(words: Any, looks: Any) -> Any:
    """-1 while helpers are at work, then the word _FAILED."""
    for _ in range(looks):
        if _load(words, _JOINED) == -_CLOSED:
            return _load(words, _FAILED)
        _pause()
    return np.int64(-1)


@compiled
def _prepare(room: Any, kernel: Any, *arrays: Any) -> Any:
    """See `_pack`: all that has to be compiled for arguments of other types."""
    return _pack(room, kernel, arrays)


@compiled
def _share(words: Any, body: Any, data: Any, helpers: Any, part: Any, count: Any) -> None:
    """The caller's part: opens the rows to helpers, does what it can, closes, waits a little."""
    _store(words, _BODY, body)
    _store(words, _DATA, data)
    _store(words, _COUNT, count)
    _store(words, _PART, part)
    _store(words, _HELPERS, helpers)
    _store(words, _FAILED, 0)
    _store(words, _ALL, (count + part - 1) // part)
    _store(words, _FRONT, 0)
    _store(words, _BACK, 0)
    _store(words, _NEXT, 0)
    _add(words, _JOINED, _CLOSED)
    _take(words, _FRONT)
    _add(words, _JOINED, -_CLOSED)
    _ended(words, _LOOKS)


class _Pool:
    """The helping threads of a process."""

    def __init__(self) -> None:
        self.mine = threading.Lock()  # held by the caller whom the helpers serve
        self._words = np.zeros(_WORDS, np.int64)
        self._words[_JOINED] = -_CLOSED
        self._room = np.zeros(_ROOM // 8, np.int64)
        self._data = self._room.ctypes.data
        self._held: tuple[Any, ...] = ()  # arrays that helpers may still use
        self._asleep: list[threading.Lock] = []
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def share(self, helpers: int, part: int, kernel: int, arrays: tuple[Any, ...]) -> int:
        """Calls the kernel at this address, with as many helpers; for the holder of `mine`.

        Returns 0, or 1 + the first row of a part that raised.
        """
        self._wait()  # should Ctrl-C have ended an earlier call too soon
        self._start(helpers)
        self._wake(helpers)
        self._held = arrays
        try:
            body = _prepare(self._room, kernel, *arrays)
            _share(self._words, body, self._data, helpers, part, len(arrays[0]))
        finally:
            failed = self._wait()  # after Ctrl-C too
            self._held = ()
        return failed

    def _wait(self) -> int:
        """Waits until no helper is at work; returns what `share` does."""
        while (failed := int(_ended(self._words, 1))) < 0:
            time.sleep(_NAP)
        return failed

    def _start(self, helpers: int) -> None:
        """Starts as many helpers, or fewer where the system allows no more threads."""
        while len(self._threads) < helpers:
            _serve(self._words, 0)  # so that no helper has to compile it
            thread = threading.Thread(target=self._help, name="linkzoo", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return
            self._threads.append(thread)

    def stop(self) -> None:
        """Ends the threads."""
        self._stopped = True
        for thread in self._threads:
            while thread.is_alive():
                self._wake(len(self._threads))
                thread.join(0.01)

    def _wake(self, helpers: int) -> None:
        for _ in range(min(helpers, len(self._asleep))):
            self._asleep.pop().release()

    def _help(self) -> None:
        bed = threading.Lock()
        bed.acquire()
        while not self._stopped:
            _serve(self._words, _LOOKS)
            _YIELD()  # it may have taken the core of the caller, who opens the rows
            _serve(self._words, _LOOKS)
            self._asleep.append(bed)
            bed.acquire()


_pool = _Pool()
_usual = MAX_THREADS


def set_num_threads(number: int) -> None:
    """How many threads share rows in this process, where a call doesn't say it: 1..MAX_THREADS."""
    global _usual  # noqa: PLW0603 - one number for the process
    if not 1 <= number <= MAX_THREADS:
        raise ValueError(f"{number} threads: not in 1..{MAX_THREADS}")
    _usual = number


def get_num_threads() -> int:
    """What `set_num_threads` set; at first MAX_THREADS."""
    return _usual


def restart() -> None:
    """Ends the helpers; those to come inherit the calling thread's floating-point mode."""
    global _pool  # noqa: PLW0603 - one pool for the process
    with _pool.mine:
        _pool.stop()
        _pool = _Pool()


def _begin_anew() -> None:
    """After a fork: the parent's threads are not here, and its words may be in any state."""
    global _pool  # noqa: PLW0603 - one pool for the process
    _pool = _Pool()


@atexit.register
def _stop() -> None:
    _pool.stop()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


class Rows:
    """A compiled function over rows: `rows(*arrays)` does all of them, on several threads.

    The kernel is `kernel(first, last, *arrays)`; there are as many rows as the first array has.
    `least` rows are worth a thread of their own: some tens of microseconds.
    """

    def __init__(self, kernel: Callable[..., None], least: int) -> None:
        self.kernel, self.least = kernel, least
        self._found: dict[Any, tuple[Callable[..., None], int]] = {}

    def __call__(self, *arrays: Any) -> None:
        """All rows, on as many threads as is usual in this process."""
        if len(arrays[0]) < 2 * self.least:
            self.kernel(0, len(arrays[0]), *arrays)
        else:
            self.on(_usual, *arrays)

    def alone(self, *arrays: Any) -> None:
        """All rows, on the calling thread."""
        self.kernel(0, len(arrays[0]), *arrays)

    def on(self, threads: int, *arrays: Any) -> None:
        """All rows, on up to so many threads."""
        if self._are_few(threads, len(arrays[0])):
            self.kernel(0, len(arrays[0]), *arrays)
        else:
            self._share(threads, self._compiled(arrays)[1], arrays)

    def bind(self, *arrays: Any) -> Callable[[int], None]:
        """`on` for these very arrays, whose types are looked up now and not in each call."""
        count = len(arrays[0])
        alone, address = self._compiled(arrays)

        def run(threads: int) -> None:
            if self._are_few(threads, count):
                alone(0, count, *arrays)
            else:
                self._share(threads, address, arrays)

        return run

    def _are_few(self, threads: int, count: int) -> bool:
        return threads == 1 or count < 2 * self.least or _INTERPRETED

    def _share(self, threads: int, kernel: int, arrays: tuple[Any, ...]) -> None:
        count = len(arrays[0])
        part = max(self.least, -(-count // (_PARTS * threads)))
        helpers = min(threads, -(-count // part)) - 1
        pool = _pool
        if not pool.mine.acquire(blocking=False):
            self.kernel(0, count, *arrays)
            return
        try:
            failed = pool.share(helpers, part, kernel, arrays)
        finally:
            pool.mine.release()
        if failed:
            last = min(failed - 1 + part, count)
            self.kernel(failed - 1, last, *arrays)  # raises what it raised there
            raise RuntimeError(f"rows {failed - 1}..{last - 1} raised in a thread, but not again")

    def _compiled(self, arrays: tuple[Any, ...]) -> tuple[Callable[..., None], int]:
        """The kernel for arrays of these types, compiled, and its address."""
        if _INTERPRETED:
            return self.kernel, 0
        key = tuple(map(_kind, arrays))
        if key not in self._found:
            kernel: Any = self.kernel
            signature = (types.int64, types.int64, *map(numba.typeof, arrays))
            kernel.compile(signature)
            found = kernel.overloads[signature]
            name = found.fndesc.llvm_func_name
            address: int = found.library.get_pointer_to_function(name)
            self._found[key] = found.entry_point, address
        return self._found[key]


def _kind(value: Any) -> Any:
    """Values of one kind are of one type for Numba."""
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = value
        return array.dtype, array.ndim, array.flags.num
    return tuple(map(_kind, value)) if isinstance(value, tuple) else type(value)
