"""Runtime support of a run: the device, a locked folder, interruption and compile time."""

import os
import signal
import threading
import time
import timeit
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any

import torch
from filelock import FileLock, Timeout
from numba.core import event

from linkzoo.core.files import write_atomically


class StopSignal:
    """Records Ctrl-C or TERM instead of interrupting; a second one interrupts at once.

    `exit_code` is that of a stopped command by the shell's convention, 0 before any signal.
    """

    def __init__(self) -> None:
        self.exit_code = 0
        self._interrupts = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopSignal":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    @contextmanager
    def ending(self) -> Iterator[None]:
        """Ends the block at once when a signal comes."""
        self._interrupts = True
        try:
            yield
        except KeyboardInterrupt:
            if not self.exit_code:
                raise
        finally:
            self._interrupts = False

    def _note(self, number: int, _frame: FrameType | None) -> None:
        is_first = not self.exit_code
        self.exit_code = self.exit_code or 128 + number
        if self._interrupts or not is_first:
            raise KeyboardInterrupt


@cache
def _compiling() -> event.TimingListener:
    """Returns the listener that times this process's compilation, from the first call on."""
    listener = event.TimingListener()
    event.register("numba:compile", listener)
    return listener


def training_clock() -> float:
    """Returns the seconds of a clock that stands still while this process compiles."""
    listener = _compiling()
    now = time.perf_counter()
    if listener.done:
        now -= listener.duration
    return now


@contextmanager
def alone_in(folder: Path) -> Iterator[None]:
    """Locks a run's folder and creates it if missing.

    The operating system releases the lock when the process ends, however it ends. Files and folders
    created here are removed on exit, except folders that aren't empty.

    Raises:
        ValueError: Another process holds the folder.
    """
    holder = folder / "run.pid"
    path = folder / "run.lock"
    created = [new for new in (folder, *folder.parents) if not new.exists()]
    while True:
        with suppress(FileExistsError, FileNotFoundError):  # another process removes it meanwhile
            folder.mkdir(parents=True, exist_ok=True)
        with suppress(FileNotFoundError), path.open("ab") as file:
            try:
                lock = FileLock(path).acquire(blocking=False)
            except Timeout as error:
                pid = "unknown"
                if holder.is_file():
                    pid = holder.read_text(encoding="utf-8")
                raise ValueError(
                    f"{folder} is in use by another run, process {pid}: wait for it, or choose "
                    "another name or folder"
                ) from error
            if os.fstat(file.fileno()).st_nlink:
                break
            lock.lock.release()  # its holder removed the file: lock the new one
    with lock:
        try:
            write_atomically(holder, str(os.getpid()).encode())
            yield
        finally:
            holder.unlink(missing_ok=True)
            with suppress(OSError):
                path.unlink()
                for new in created:
                    new.rmdir()


def find_device(name: str) -> torch.device:
    """Returns the device that a configuration names; raises ValueError if it isn't available."""
    has_gpu = torch.cuda.is_available()
    if name == "auto":
        return torch.device("cuda" if has_gpu else "cpu")
    if name != "cpu" and not has_gpu:
        raise ValueError("device: cuda, but torch finds no GPU")
    return torch.device(name)


def use_bf16(precision: str, device: torch.device) -> bool:
    """Returns whether to compute in bfloat16; `auto` does if the GPU can or the CPU gains by it."""
    if precision != "auto":
        return precision == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported()) and _is_bf16_faster()


@cache
def _is_bf16_faster() -> bool:
    """Returns whether this CPU multiplies matrices faster in bfloat16 than in float32.

    An Intel Xeon without AMX has bfloat16 instructions, but takes twice as long with them.
    """
    return _seconds_of_product(torch.bfloat16) < _seconds_of_product(torch.float32)


def _seconds_of_product(dtype: torch.dtype) -> float:
    matrix = torch.ones(256, 256, dtype=dtype)
    return min(timeit.repeat(lambda: matrix @ matrix, number=1, repeat=5))
