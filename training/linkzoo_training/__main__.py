"""Entry point of the `linkzoo` command; Ctrl-C is quiet even while modules are imported."""

import io
import os
import signal
import sys
from types import FrameType


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
    sys.exit(main())
