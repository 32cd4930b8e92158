"""Rounds of examples, with limits of time and memory, for `make fuzz`.

A round is one run of a property as hypothesis knows it, with the number of examples that its
`settings` name. Without options each property has one round, always the same one.

    pytest tests/fuzz --minutes 10 --hypothesis-seed 1      # rounds with seeds 1, 2, ...
    pytest tests/fuzz/test_records.py --hypothesis-seed 17  # the round with seed 17
"""

import faulthandler
import functools
import itertools
import os
import resource
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest.mock import patch

import hypothesis
import pytest
from _pytest.faulthandler import fault_handler_stderr_fd_key
from hypothesis import HealthCheck, settings
from numba.core import event

from linkzoo.engine.cache import Lock

settings.register_profile(
    "fuzz", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("fuzz")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the options of `make fuzz`."""
    group = parser.getgroup("fuzz")
    group.addoption("--minutes", type=float, help="repeat the properties for this long")
    text = "end the process in an example that takes longer, compiling apart, with --minutes "
    text += "(default: %(default)s)"
    group.addoption("--example-seconds", type=float, default=100.0, help=text)
    text = "memory of a process, with --minutes (default: %(default)s)"
    group.addoption("--gib", type=float, default=8.0, help=text)


def _minutes(config: pytest.Config) -> float:
    """Returns the time to spend; 0 in the normal suite, which doesn't know the option."""
    return float(config.getoption("--minutes", default=None) or 0.0)


def pytest_configure(config: pytest.Config) -> None:
    """Limits the memory of a process that repeats rounds."""
    if _minutes(config):
        most = int(config.getoption("--gib") * 2**30)
        resource.setrlimit(resource.RLIMIT_AS, (most, resource.RLIM_INFINITY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))


@pytest.fixture(autouse=True, scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The current folder of the properties, in which nothing may be left behind."""
    folder = tmp_path_factory.mktemp("desk")
    before = Path.cwd()
    os.chdir(folder)
    yield folder
    os.chdir(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder for files that examples write."""
    return tmp_path_factory.mktemp("files")


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Gives a property its rounds and its limits; pytest then calls it."""
    test = pyfuncitem.obj
    if not hypothesis.is_hypothesis_test(test):
        return
    inner_test = test.hypothesis.inner_test
    if not hasattr(inner_test, "watched"):
        test.hypothesis.inner_test = _watched(inner_test, pyfuncitem.config)
    seed = pyfuncitem.config.getoption("--hypothesis-seed")
    minutes = _minutes(pyfuncitem.config)
    if seed is not None or minutes:
        processes = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
        seconds = 60 * minutes * processes / pyfuncitem.session.testscollected
        pyfuncitem.obj = functools.partial(
            _repeat, test, int(seed or 0), seconds, pyfuncitem.nodeid
        )


def _repeat(
    test: Callable[..., None], first_seed: int, seconds: float, node: str, /, **fixtures: Any
) -> None:
    """Runs rounds until the time is over, at least one; a failure names the seed of its round."""
    end = time.monotonic() + seconds
    for seed in itertools.count(first_seed):
        try:
            hypothesis.seed(seed)(test)(**fixtures)
        except BaseException as error:
            error.add_note(f"repeat it: python -m pytest '{node}' --hypothesis-seed {seed}")
            raise
        if time.monotonic() >= end:
            return


class _Compilation(event.Listener):
    """Calls `stop` before the first and `start` after the last of nested compilations."""

    def __init__(self, start: Callable[[], None], stop: Callable[[], None]) -> None:
        self._start = start
        self._stop = stop
        self._depth = 0

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002 - as Listener
        """Called when Numba begins to compile a function."""
        self._depth += 1
        self._stop()

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002 - as Listener
        """Called when Numba has compiled a function."""
        self._depth -= 1
        if self._depth == 0:
            self._start()


@contextmanager
def time_limit(seconds: float, file: int) -> Iterator[None]:
    """Ends the process if the block takes longer; the clock begins anew after each compilation.

    Compiling the rules of a game takes minutes on a busy machine, once, in one of the processes;
    the others wait for it.
    """
    acquire = Lock.acquire

    def wait(lock: Lock, title: str, seconds: float | None = None) -> bool:
        with event.trigger_event("numba:compile"):
            return acquire(lock, title, seconds)

    def start() -> None:
        faulthandler.dump_traceback_later(seconds, exit=True, file=file)

    stop = faulthandler.cancel_dump_traceback_later
    with (
        event.install_listener("numba:compile", _Compilation(start, stop)),
        patch.object(Lock, "acquire", wait),
    ):
        start()
        try:
            yield
        finally:
            stop()


def _watched(test: Callable[..., None], config: pytest.Config) -> Callable[..., None]:
    """Returns the property with checks around each example: of its time, of files left behind."""
    seconds = config.getoption("--example-seconds") if _minutes(config) else None

    @functools.wraps(test)
    def watched(*arguments: Any, **drawn: Any) -> None:
        with ExitStack() as stack:
            if seconds is not None:
                stderr = config.stash[fault_handler_stderr_fd_key]
                stack.enter_context(time_limit(seconds, stderr))
            try:
                test(*arguments, **drawn)
            except MemoryError as error:
                # The error is kept for the report, and its frames would keep the memory.
                traceback.clear_frames(error.__traceback__)
                raise
        left_behind = [path.name for path in Path().iterdir()]
        for name in left_behind:
            Path(name).unlink()
        assert not left_behind, f"files left behind: {left_behind}"

    watched.watched = True  # type: ignore[attr-defined]
    return watched
