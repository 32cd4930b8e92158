"""Runs compiled functions over the rows of an array on several threads.

A kernel `kernel(first, last, *arrays)` processes rows `first`..`last - 1` independently, without
the GIL. `RowKernel` calls it on whole arrays: few rows run on the calling thread, many are split
into chunks, which this thread and helper threads take until none is left. So a step never waits for
a thread that wakes late.
"""

import os
import threading
import time
from collections.abc import Callable
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any, Generic, TypeVarTuple, Unpack

import numba

from linkzoo.engine.compiled import entry_point

# Available cores, or the user's NUMBA_NUM_THREADS.
MAX_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]

_INTERPRETED = bool(numba.config.DISABLE_JIT)  # type: ignore[attr-defined]

_CHUNKS = 3  # per thread
_NAP = 50e-6  # seconds between looks whether helpers have ended
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


class _Helpers:
    """Threads that run tasks; all callers share them."""

    def __init__(self) -> None:
        self.tasks: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self.threads: list[threading.Thread] = []

    def ask(self, task: Callable[[], None], times: int) -> None:
        """Lets up to `times` helpers run a task when they are free.

        Its queue can't be left locked by Ctrl-C, as that of a ThreadPoolExecutor can.
        """
        while len(self.threads) < min(times, MAX_THREADS - 1):
            thread = threading.Thread(target=self._work, name="linkzoo", daemon=True)
            try:
                thread.start()
            except RuntimeError:  # the system allows no more threads
                break
            self.threads.append(thread)
        for _ in self.threads[:times]:
            self.tasks.put(task)

    def _work(self) -> None:
        while (task := self.tasks.get()) is not None:
            task()

    def stop(self) -> None:
        """Ends the threads after the tasks that they have."""
        for _ in self.threads:
            self.tasks.put(None)
        for thread in self.threads:
            thread.join()


_helpers = _Helpers()


def restart() -> None:
    """Ends the helper threads; new ones inherit the calling thread's floating-point mode."""
    _helpers.stop()
    _begin_anew()


def _begin_anew() -> None:
    global _helpers  # noqa: PLW0603 - one set of helpers for the process
    _helpers = _Helpers()


if hasattr(os, "register_at_fork"):  # a child has none of its parent's threads
    os.register_at_fork(after_in_child=_begin_anew)


def _share(kernel: Callable[[int, int], None], count: int, grain: int, threads: int) -> None:
    """Runs a kernel on all rows, in chunks, on up to `threads` threads."""
    size = max(1, grain // 8, -(-count // (_CHUNKS * threads)))
    starts = iter(range(0, count, size))  # `next` of it is atomic
    begun: list[int] = []  # helpers, by their threads
    ended: list[int] = []
    errors: list[BaseException] = []

    def help_out() -> None:
        begun.append(threading.get_ident())
        try:
            for first in starts:
                kernel(first, min(first + size, count))
        except BaseException as error:  # noqa: BLE001 - the caller raises it
            errors.append(error)
        finally:
            ended.append(threading.get_ident())

    _helpers.ask(help_out, min(threads, -(-count // size)) - 1)
    try:
        for first in starts:
            kernel(first, min(first + size, count))
    finally:
        for _ in starts:  # after an error or Ctrl-C: helpers take no more
            pass
        while len(ended) < len(begun):
            time.sleep(_NAP)
    if errors:
        raise errors[0]


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
        grain: Number of rows worth a thread of their own: some tenths of a millisecond. A helper
            that slept takes as long to wake.
        block: On a GPU, number of rows that a block of threads takes together; 0: a thread
            takes rows one by one.
    """

    def __init__(
        self, kernel: Callable[[int, int, *Arrays], None], grain: int, block: int = 0
    ) -> None:
        self.kernel = kernel
        self.grain = grain
        self.block = block

    def __call__(self, *arrays: *Arrays) -> None:
        """Runs all rows on the default number of threads."""
        self.on(_default_threads, *arrays)

    def serial(self, *arrays: *Arrays) -> None:
        """Runs all rows on the calling thread."""
        self.kernel(0, _count(arrays), *arrays)

    def on(self, threads: int, *arrays: *Arrays) -> None:
        """Runs all rows on up to `threads` threads."""
        self._run(self.kernel, threads, arrays)

    def bind(self, *arrays: *Arrays) -> Callable[[int], None]:
        """Returns `on` bound to these arrays: their types are looked up once, not in each call."""
        kernel = entry_point(self.kernel, 0, 0, *arrays)
        return lambda threads: self._run(kernel, threads, arrays)

    def _run(
        self, kernel: Callable[[int, int, *Arrays], None], threads: int, arrays: tuple[*Arrays]
    ) -> None:
        count = _count(arrays)
        if threads == 1 or count < 2 * self.grain or _INTERPRETED:
            kernel(0, count, *arrays)
        else:
            _share(lambda first, last: kernel(first, last, *arrays), count, self.grain, threads)


def _count(arrays: tuple[Any, ...]) -> int:
    """Returns the number of rows."""
    return len(arrays[0])
