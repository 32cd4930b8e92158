"""Compiled functions in the interpreter, which reports indices out of bounds and endless loops."""

import ctypes
import threading
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
from numba.core.registry import CPUDispatcher

LIMIT = 10.0  # seconds of one call from Python


class EndlessLoopError(Exception):
    """Raised in a compiled function that doesn't return in time."""


def interpreted(check: Callable[..., Any]) -> Callable[..., Any]:
    """Returns a check that runs compiled functions in the interpreter, on this thread alone.

    An error that one of them raises becomes an AssertionError that names the function and the line.
    """

    @wraps(check)
    def run(*arguments: Any) -> Any:
        compiled_call = CPUDispatcher.__call__
        thread = threading.get_ident()
        timers: list[threading.Timer] = []  # of the outermost call

        def call(function: Any, *args: Any) -> Any:
            if threading.get_ident() != thread:
                return compiled_call(function, *args)
            if timers:
                return function.py_func(*args)
            timers.append(threading.Timer(LIMIT, _interrupt, [thread]))
            timers[0].start()
            try:
                return function.py_func(*args)
            finally:
                timers.pop().cancel()

        try:  # compiled code doesn't warn of overflow either
            with patch.object(CPUDispatcher, "__call__", call), np.errstate(all="ignore"):
                return check(*arguments)
        except Exception as error:
            function = _last_called(error, call.__code__)
            if function is None:
                raise
            text = f"{type(error).__name__}: {error}"
            if isinstance(error, EndlessLoopError):
                text = f"doesn't return within {LIMIT:g} seconds (an endless loop?)"
            raise AssertionError(f"{function}: {text}") from error

    return run


def _interrupt(thread: int) -> None:
    error = ctypes.py_object(EndlessLoopError)
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), error)


def _last_called(error: Exception, caller: Any) -> str | None:
    """Returns the compiled function, its file and its line where an error was raised."""
    called = None
    previous = None
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if previous is caller:
            called = f"{code.co_name} ({Path(code.co_filename).name}:{trace.tb_lineno})"
        previous = code
        trace = trace.tb_next
    return called
