"""Runs compiled functions over the rows of an array on several threads.

A kernel `kernel(first, last, *arrays)` processes rows `first`..`last - 1` independently.
`RowKernel` calls it on whole arrays: few rows run on the calling thread, many are shared with
helper threads. Helpers take chunks from a shared counter in compiled code, without the GIL. They
spin for some tens of microseconds, then sleep, so they cost nothing on a busy machine, and a step
doesn't wait for threads that wake late.

Every process starts its own helpers on first use, also after a fork. They serve one caller at a
time; concurrent calls from other Python threads run on these threads alone.

A `ThreadPoolExecutor` of the same kernels takes 1.5 to 2.6 times as long for 256 games
(docs/benchmarks.md, `python -m lab.engine threads`).
"""

import atexit
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVarTuple, Unpack

import numba
import numpy as np
from numpy.typing import NDArray

from linkzoo.engine import atomics
from linkzoo.engine.compiled import compiled, entry_point, overload_of

Words = NDArray[np.int64]  # [_WORDS]

# Available cores, or the user's NUMBA_NUM_THREADS.
MAX_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]
_INTERPRETED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

_PARTS = 3  # chunks per thread
_LOOKS = 1000  # spin iterations before sleeping, 20 to 50 nanoseconds each
_NAP = 50e-6  # seconds between later polls for completion
_YIELD: Callable[[], None] = getattr(os, "sched_yield", partial(time.sleep, 0))

# Shared words of a pool; words that are written and read together share a cache line.
_LINE = 8
_JOINED = 0 * _LINE  # active helpers, less _CLOSED while none may start
_NEXT = 1 * _LINE  # chunks taken
_BACK = 2 * _LINE  # chunks taken by helpers, from the back
_COUNT = 3 * _LINE  # rows
_PART = _COUNT + 1  # rows per chunk
_ALL = _COUNT + 2  # number of chunks
_HELPERS = _COUNT + 3  # helpers allowed to join
_BODY = _COUNT + 4  # address of the chunk function
_DATA = _COUNT + 5  # address of its arguments
_FAILED = _COUNT + 6  # 1 + first row of a failed chunk; 0 for none
_WORDS = 4 * _LINE
_CLOSED = 2**40


@compiled
def _take(words: Words, helps: bool) -> None:
    """Processes chunks until none is left: the caller from the front, helpers from the back.

    So a thread's rows stay in its cache. The ends never overlap.
    """
    count = atomics.load(words, _COUNT)
    part = atomics.load(words, _PART)
    parts = atomics.load(words, _ALL)
    body = atomics.load(words, _BODY)
    data = atomics.load(words, _DATA)
    front = 0
    while atomics.add(words, _NEXT, 1) < parts:
        chunk = front
        if helps:
            chunk = parts - 1 - atomics.add(words, _BACK, 1)
        front += 1
        first = part * chunk
        if atomics.call_packed(body, data, first, min(first + part, count)):
            atomics.store(words, _FAILED, first + 1)
            atomics.store(words, _NEXT, parts)


@compiled
def _serve(words: Words, looks: int) -> None:
    """Helper loop: processes rows when available; returns after spinning too long."""
    idle = 0
    while idle < looks:
        idle += 1
        joined = atomics.load(words, _JOINED)
        may_join = 0 <= joined < atomics.load(words, _HELPERS)
        if may_join and atomics.load(words, _NEXT) < atomics.load(words, _ALL):
            joined = atomics.add(words, _JOINED, 1)
            if 0 <= joined < atomics.load(words, _HELPERS):
                _take(words, True)
                idle = 0
            atomics.add(words, _JOINED, -1)
        else:
            atomics.pause()


@compiled
def _ended(words: Words, looks: int) -> int:
    """Returns -1 while helpers are active, then the word _FAILED."""
    for _ in range(looks):
        if atomics.load(words, _JOINED) == -_CLOSED:
            return atomics.load(words, _FAILED)  # type: ignore[no-any-return]  # int64
        atomics.pause()
    return np.int64(-1)  # type: ignore[return-value]  # int64


@compiled
def _prepare(buffer: NDArray[np.int64], kernel: int, *arrays: Any) -> int:
    """Packs a call (`pack_call`); the only function compiled for each argument type."""
    return atomics.pack_call(buffer, kernel, arrays)  # type: ignore[no-any-return]  # int64


@compiled
def _call(body: int, data: int, count: int) -> int:
    """Runs a packed call on all rows on this thread; returns nonzero if it raised."""
    return atomics.call_packed(body, data, 0, count)  # type: ignore[no-any-return]  # int64


@compiled
def _share(words: Words, body: int, data: int, helpers: int, grain: int, count: int) -> int:
    """Caller's side: opens the rows to helpers, processes chunks, closes; returns `_ended`."""
    part = max(grain, -(-count // (_PARTS * (helpers + 1))))
    atomics.store(words, _BODY, body)
    atomics.store(words, _DATA, data)
    atomics.store(words, _COUNT, count)
    atomics.store(words, _PART, part)
    atomics.store(words, _HELPERS, helpers)
    atomics.store(words, _FAILED, 0)
    atomics.store(words, _ALL, (count + part - 1) // part)
    atomics.store(words, _BACK, 0)
    atomics.store(words, _NEXT, 0)
    atomics.add(words, _JOINED, _CLOSED)
    _take(words, False)
    atomics.add(words, _JOINED, -_CLOSED)
    return _ended(words, _LOOKS)


class _Pool:
    def __init__(self) -> None:
        self.mine = threading.Lock()  # held by the current caller
        self.words = np.zeros(_WORDS, np.int64)
        self.words[_JOINED] = -_CLOSED
        self._held: tuple[Any, ...] = ()  # arrays that helpers may still use; keeps them alive
        self._asleep: list[threading.Lock] = []
        self._threads: list[threading.Thread] = []
        self._stopped = False

    def share(
        self, helpers: int, grain: int, body: int, data: int, count: int, held: tuple[Any, ...]
    ) -> int:
        """Runs a packed call with up to `helpers` helpers, under `mine`; returns word _FAILED."""
        if self._asleep or self._held or len(self._threads) < helpers:
            self._get_ready(helpers)
        self._held = held
        failed = -1
        try:
            failed = self._share(self.words, body, data, helpers, grain, count)
        finally:
            if failed < 0:
                failed = self._wait()  # also after Ctrl-C
            self._held = ()
        return failed

    def _get_ready(self, helpers: int) -> None:
        if self._held:
            self._wait()  # an earlier call was interrupted by Ctrl-C, twice
        self._start(helpers)
        self._wake(helpers)

    @cached_property
    def _share(self) -> Callable[..., int]:
        return entry_point(_share, self.words, 0, 0, 0, 0, 0)

    @cached_property
    def _ended(self) -> Callable[..., int]:
        return entry_point(_ended, self.words, 0)

    def _wait(self) -> int:
        """Waits until no helper is active; returns the result of `share`."""
        while (failed := self._ended(self.words, 1)) < 0:
            time.sleep(_NAP)
        return failed

    def _start(self, helpers: int) -> None:
        """Starts helpers, fewer if the system allows no more threads."""
        while len(self._threads) < helpers:
            _serve(self.words, 0)  # compiles it, so that no helper has to
            thread = threading.Thread(target=self._help, name="linkzoo", daemon=True)
            try:
                thread.start()
            except RuntimeError:
                return
            self._threads.append(thread)

    def stop(self) -> None:
        """Stops the threads."""
        self._stopped = True
        for thread in self._threads:
            while thread.is_alive():
                self._wake(len(self._threads))
                thread.join(0.01)

    def _wake(self, helpers: int) -> None:
        for bed in self._asleep[:helpers]:
            with suppress(RuntimeError):  # it wakes already
                bed.release()

    def _help(self) -> None:
        bed = threading.Lock()
        bed.acquire()
        while not self._stopped:
            _serve(self.words, _LOOKS)
            _YIELD()  # the helper may occupy the caller's core
            _serve(self.words, _LOOKS)
            self._asleep.append(bed)
            bed.acquire()
            self._asleep.remove(bed)


_pool = _Pool()
_default_threads = MAX_THREADS


def set_num_threads(number: int) -> None:
    """Sets the default number of threads of this process, 1..MAX_THREADS."""
    global _default_threads  # noqa: PLW0603 - one number for the process
    if not 1 <= number <= MAX_THREADS:
        raise ValueError(f"{number} threads: not in 1..{MAX_THREADS}")
    _default_threads = number


def get_num_threads() -> int:
    """Returns the default number of threads, initially MAX_THREADS."""
    return _default_threads


def restart() -> None:
    """Stops the helpers; new ones inherit the calling thread's floating-point mode."""
    with _pool.mine:
        _pool.stop()
        _begin_anew()


def _begin_anew() -> None:  # after a fork: its threads are gone and its words are undefined
    global _pool  # noqa: PLW0603 - one pool for the process
    _pool = _Pool()


atexit.register(lambda: _pool.stop())  # noqa: PLW0108  # whichever pool it is by then
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)


# The arguments of a kernel behind `first` and `last`; any, where RowKernel stands alone.
if TYPE_CHECKING:
    from typing_extensions import TypeVarTuple as WithDefault

    Arrays = WithDefault("Arrays", default=Unpack[tuple[Any, ...]])
else:
    Arrays = TypeVarTuple("Arrays")


class RowKernel(Generic[*Arrays]):
    """A compiled function over rows: `kernel(*arrays)` processes all of them, on several threads.

    Args:
        kernel: `kernel(first, last, *arrays)`; the first array determines the number of rows.
        grain: Number of rows worth a thread of their own: some microseconds.
        block: On a GPU, number of rows that a block of threads takes together; 0: a thread
            takes rows one by one.
    """

    def __init__(
        self, kernel: Callable[[int, int, *Arrays], None], grain: int, block: int = 0
    ) -> None:
        self.kernel = kernel
        self.grain = grain
        self.block = block
        self._addresses: dict[Any, int] = {}  # of the machine code, by the arguments' types

    def __call__(self, *arrays: *Arrays) -> None:
        """Runs all rows on the default number of threads."""
        self.on(_default_threads, *arrays)

    def serial(self, *arrays: *Arrays) -> None:
        """Runs all rows on the calling thread."""
        self.kernel(0, _count(arrays), *arrays)

    def on(self, threads: int, *arrays: *Arrays) -> None:
        """Runs all rows on up to `threads` threads."""
        if self._are_few(threads, _count(arrays)):
            self.kernel(0, _count(arrays), *arrays)
        else:
            self.bind(*arrays)(threads)

    def bind(self, *arrays: *Arrays) -> Callable[[int], None]:
        """Returns `on` bound to these arrays: they are converted once, not in every call."""
        if _INTERPRETED:
            return lambda threads: self.on(threads, *arrays)
        count = _count(arrays)
        buffer = np.empty(atomics.BUFFER_BYTES // 8, np.int64)
        body = _prepare(buffer, self._address(arrays), *arrays)
        data = buffer.ctypes.data
        held = (*arrays, buffer)
        serial = entry_point(_call, 0, 0, 0)
        few = self._are_few(2, count)
        most_threads = -(-count // self.grain)

        def run(threads: int) -> None:
            pool = _pool
            if threads == 1 or few or pool.mine.locked():
                if serial(body, data, count):
                    self._raise_again(0, count, arrays)
                return
            with pool.mine:  # no Ctrl-C between its lock and its release; `acquire` lets one in
                helpers = min(threads, most_threads) - 1
                failed = pool.share(helpers, self.grain, body, data, count, held)
                if failed:
                    last = min(failed - 1 + int(pool.words[_PART]), count)
                    self._raise_again(failed - 1, last, arrays)

        return run

    def _are_few(self, threads: int, count: int) -> bool:
        return threads == 1 or count < 2 * self.grain or _INTERPRETED

    def _raise_again(self, first: int, last: int, arrays: tuple[Any, ...]) -> NoReturn:
        """Raises the error of a packed call, by calling the kernel from Python."""
        self.kernel(first, last, *arrays)
        raise RuntimeError(f"rows {first}..{last - 1} raised an error, but not again")

    def _address(self, arrays: tuple[Any, ...]) -> int:
        """Compiles the kernel for the types of these arrays; returns its address."""
        key = tuple(map(_kind, arrays))
        if key not in self._addresses:
            overload = overload_of(self.kernel, 0, 0, *arrays)
            name = overload.fndesc.llvm_func_name
            self._addresses[key] = overload.library.get_pointer_to_function(name)
        return self._addresses[key]


def _count(arrays: tuple[Any, ...]) -> int:
    """Returns the number of rows."""
    return len(arrays[0])


def _kind(value: Any) -> Any:
    """Returns a key that is equal for values of the same Numba type."""
    if isinstance(value, np.ndarray):
        array: NDArray[Any] = value
        return array.dtype, array.ndim, array.flags.num
    if isinstance(value, tuple):
        return tuple(map(_kind, value))
    return type(value)
