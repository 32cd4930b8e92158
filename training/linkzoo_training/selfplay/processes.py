"""Workers as spawned processes on this machine, with one thread each."""

import signal
import traceback
import warnings
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import cache, partial
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from linkzoo_training.selfplay.dispatch import Answer, Fleet, Handle, Kept, Worker, WorkerDiedError


class ProcessFleet(Fleet):
    """Worker processes; a worker's handle is the connection to it."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._make = make
        self._processes: dict[Connection, BaseProcess] = {}
        self._cached: dict[Connection, set[str]] = {}  # names of `kept`

    def start_worker(self) -> Handle:
        """Spawns a process."""
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._make), daemon=True)
        with _interrupts_held():
            process.start()
        theirs.close()  # so that the pipe closes when the worker dies
        self._processes[ours] = process
        self._cached[ours] = set()
        return ours

    def share(self, weights: Any, kept: Kept) -> tuple[Any, Kept]:
        """Returns the arguments."""
        return weights, kept

    def send(self, worker: Handle, shared: tuple[Any, Kept], task: Any, name: str) -> None:  # noqa: ARG002 - see Fleet
        """Sends a task, and what the worker lacks of `kept`."""
        connection = cast(Connection, worker)
        weights, kept = shared
        cached = self._cached[connection]
        new = {name: value for name, value in kept.items() if name not in cached}
        self._cached[connection] = set(kept)
        try:
            connection.send((weights, task, list(kept), new))
        except OSError as error:
            raise self._died(connection) from error

    def ping(self, worker: Handle) -> None:
        """Sends an empty message."""
        connection = cast(Connection, worker)
        try:
            connection.send(None)
        except OSError as error:
            raise self._died(connection) from error

    def wait(self, workers: Collection[Handle], seconds: float) -> Collection[Handle]:
        """Waits for data, or the end of a pipe."""
        return cast(list[Connection], wait(cast(list[Connection], list(workers)), seconds))

    def receive(self, worker: Handle) -> Answer:
        """Reads an answer."""
        connection = cast(Connection, worker)
        try:
            return Answer(*connection.recv())
        except (EOFError, OSError) as error:
            raise self._died(connection) from error

    def kill(self, worker: Handle) -> None:
        """Kills the process."""
        connection = cast(Connection, worker)
        process = self._processes.pop(connection)
        del self._cached[connection]
        connection.close()
        process.kill()
        process.join()

    def unblock(self) -> None:
        """Kills the processes: one that hangs in a task reads nothing."""
        for process in list(self._processes.values()):
            process.kill()

    def _died(self, connection: Connection) -> WorkerDiedError:
        process = self._processes[connection]
        process.join(1)
        return WorkerDiedError(f"the process ended with exit code {process.exitcode}")


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Blocks Ctrl-C, permanently in processes that are started inside the block."""
    if not hasattr(signal, "pthread_sigmask"):  # Windows
        yield
        return
    resource_tracker.ensure_running()  # starting it later would unblock Ctrl-C
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, make: Callable[[], Worker]) -> None:
    """Main loop of a worker process: plays tasks until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the learner handles Ctrl-C
    worker = cache(partial(single_threaded, make))
    kept: dict[str, Any] = {}
    try:
        connection.send((None, None))  # ready
        while True:
            message = connection.recv()
            if message is None:
                connection.send((None, None))
                continue
            weights, task, names, new = message
            known = {**kept, **new}
            kept = {name: known[name] for name in names}
            result = None
            failure: Exception | None = None
            try:
                result = worker().play(weights, task, kept)
            except Exception as error:  # noqa: BLE001 - raised again where the result is read
                error.add_note("".join(traceback.format_exception(error)))
                failure = error
            connection.send((result, failure))
    except (EOFError, OSError):  # the learner has ended or was killed
        return


def single_threaded(make: Callable[[], Worker]) -> Worker:
    """Makes a worker in a process of its own, which uses one thread."""
    from linkzoo.engine.threads import set_num_threads
    from linkzoo_training.agents.trained_on import UntrainedWarning
    from linkzoo_training.networks import shards

    set_num_threads(1)
    shards.use(1)
    warnings.simplefilter("ignore", UntrainedWarning)  # see `note_untrained`
    return make()
