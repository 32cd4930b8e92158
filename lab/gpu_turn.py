"""Turns for measuring: a task of `make gpu` waits until no other task runs."""

import os
import sys

WAITING = "ready to measure"  # last line of the output of a task that waits
TURNS = "LINKZOO_TURNS"  # environment variable that `lab.gpu` sets for such tasks


def wait_for_turn() -> None:
    """Waits until `lab.gpu` says that nothing else runs; returns at once without it."""
    if TURNS not in os.environ:
        return
    print(WAITING, flush=True)
    if not sys.stdin.readline():
        raise SystemExit("lab.gpu has ended")
