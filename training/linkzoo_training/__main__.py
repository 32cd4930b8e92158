"""Entry point of the `linkzoo` command; Ctrl-C is quiet even while modules are imported."""

import atexit
import io
import os
import signal
import sys
from contextlib import suppress
from types import FrameType
from typing import NoReturn


def run() -> NoReturn:
    """Runs the command and ends the process with its exit code.

    Once torch is loaded, Python takes up to a second of CPU time to free all objects at the end, so
    the process ends without. Functions of `atexit` run before.
    """
    exit_codes: list[int] = []
    atexit.register(_end, exit_codes)  # the first one runs last
    exit_codes.append(main())
    sys.exit(exit_codes[0])


def _end(exit_codes: list[int]) -> None:
    """Ends the process if the command has an exit code and its output arrives."""
    with suppress(OSError):  # a closed pipe, which Python reports
        sys.stdout.flush()
        sys.stderr.flush()
        if exit_codes:
            os._exit(exit_codes[0])


def main() -> int:
    """Runs the command and returns its exit code, see `cli.main`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a console that isn't UTF-8 has no ∞
    from linkzoo_training.commands import cli

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return cli.main()


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Ends the process at once: an exception in the midst of imports prints a traceback."""
    os._exit(130)


if __name__ == "__main__":
    run()
