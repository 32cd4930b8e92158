"""The `linkzoo` command, interrupted quietly even while its modules are imported."""

import os
import signal
import sys
from types import FrameType


def main() -> int:
    """Runs the command; see `cli.main`."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    from linkzoo_training.commands import cli

    try:
        if signal.getsignal(signal.SIGINT) is _leave:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return cli.main()
    except KeyboardInterrupt:  # while it read its arguments
        return 130


def _leave(_number: int, _frame: FrameType | None) -> None:
    """Ends the process at once: an exception in the midst of imports prints a traceback."""
    os._exit(130)


if __name__ == "__main__":
    sys.exit(main())
