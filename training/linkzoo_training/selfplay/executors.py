"""Executors: run workers in this process, in local processes, or on Ray.

A worker is any object with `play(weights, task, kept)`. Results depend only on its settings and
these arguments, so any worker can play any task, and the task of a worker that died is repeated
with the same result. Large shared arguments, such as frozen opponents, go into `kept` and are sent
to each worker once per name.
"""

import os
import signal
import traceback
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import MappingProxyType
from typing import Any, Protocol, Self

Kept = Mapping[str, Any]  # large shared arguments by name
Results = Iterator[tuple[int, Any]]  # (index of the task, result)
NOTHING: Kept = MappingProxyType({})
_MAX_DEATHS = 3  # crashes at one task before the run fails


class Worker(Protocol):
    """Protocol of workers; arguments and results must be picklable."""

    def play(self, weights: Any, task: Any, kept: Kept) -> Any:
        """Returns the result of a task; `weights` and `kept` are shared by all tasks of a call."""


class TaskWorker:
    """A worker whose tasks need neither weights nor `kept`: functions without arguments."""

    def play(self, weights: None, task: Callable[[], Any], kept: Kept) -> Any:  # noqa: ARG002 - see Worker
        """Returns the result of a task."""
        return task()


class Executor(ABC):
    """A set of workers behind `start`, `play` and `stop`; as a context manager it stops on exit."""

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers: {workers} is not 1 or more")
        self.workers = workers

    @abstractmethod
    def start(self, make: Callable[[], Worker]) -> None:
        """Starts the workers; `make` creates each of them."""

    @abstractmethod
    def play(self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING) -> Results:
        """Plays all tasks; yields their results in order of completion.

        Work begins at the call, not when the first result is read. Errors of workers are raised
        here. Read all results before the next call, except of `stop`.

        Workers cache the values in `kept` by name until a call omits the name, so a name must
        always have the same value.
        """

    @abstractmethod
    def stop(self) -> None:
        """Stops the workers, even in the middle of a task."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def in_order(results: Results) -> Iterator[Any]:
    """Yields the results of `Executor.play` in the order of the tasks."""
    waiting: dict[int, Any] = {}
    following = 0
    for index, result in results:
        waiting[index] = result
        while following in waiting:
            yield waiting.pop(following)
            following += 1


class LocalExecutor(Executor):
    """Plays tasks in this process, each when its result is read."""

    def start(self, make: Callable[[], Worker]) -> None:
        """Defers the creation of the worker to the first task."""
        self._worker = cache(make)

    def play(self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING) -> Results:
        """Plays all tasks; yields their results in order."""
        for index, task in enumerate(tasks):
            yield index, self._worker().play(weights, task, kept)

    def stop(self) -> None:
        """Does nothing."""


class ProcessExecutor(Executor):
    """Spawned processes on this machine, with one thread each.

    Scripts that use it must guard their entry point with `if __name__ == "__main__":`.
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._running: dict[Connection, BaseProcess] = {}
        self._cached: dict[Connection, set[str]] = {}  # names of `kept`

    def start(self, make: Callable[[], Worker]) -> None:
        """Starts the processes."""
        self._make = make
        for _ in range(self.workers):
            self._start_worker()

    def play(self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING) -> Results:
        """Plays all tasks; yields (index of the task, result) in order of completion."""
        names = list(kept)
        waiting = list(reversed(range(len(tasks))))
        running: dict[Connection, int] = {}  # tasks
        deaths = [0] * len(tasks)

        def give(worker: Connection) -> None:
            if waiting:
                running[worker] = waiting.pop()
                new = {name: kept[name] for name in names if name not in self._cached[worker]}
                self._cached[worker] = set(names)
                try:
                    worker.send((weights, tasks[running[worker]], names, new))
                except OSError:
                    replace(worker)

        def replace(dead: Connection) -> None:
            index = running.pop(dead)
            self._kill(dead)
            deaths[index] += 1
            if deaths[index] == _MAX_DEATHS:
                raise RuntimeError(f"{_MAX_DEATHS} workers died at the same task")
            waiting.append(index)
            give(self._start_worker())

        def results() -> Results:
            while running:
                for ready in wait(list(running)):
                    assert isinstance(ready, Connection)
                    try:
                        result, error = ready.recv()
                    except (EOFError, OSError):
                        replace(ready)
                        continue
                    index = running.pop(ready)
                    give(ready)
                    if error is not None:
                        raise error
                    yield index, result

        for worker in list(self._running):
            give(worker)
        return results()

    def stop(self) -> None:
        """Kills the processes."""
        for connection in list(self._running):
            self._kill(connection)

    def _start_worker(self) -> Connection:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._make), daemon=True)
        with _interrupts_held():
            process.start()
        theirs.close()  # so that the pipe closes when the worker dies
        self._running[ours] = process
        self._cached[ours] = set()
        return ours

    def _kill(self, connection: Connection) -> None:
        process = self._running.pop(connection)
        del self._cached[connection]
        connection.close()
        process.kill()
        process.join()


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
    worker = cache(partial(_single_threaded, make))
    kept: dict[str, Any] = {}
    try:
        while True:
            weights, task, names, new = connection.recv()
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


def _single_threaded(make: Callable[[], Worker]) -> Worker:
    from linkzoo.engine.threads import set_num_threads
    from linkzoo_training.agents.trained_on import UntrainedWarning
    from linkzoo_training.networks import shards

    set_num_threads(1)
    shards.use(1)
    warnings.simplefilter("ignore", UntrainedWarning)  # see `note_untrained`
    return make()


class RayExecutor(Executor):
    """Ray actors, on this machine or on the cluster that Ray finds (`RAY_ADDRESS`)."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        if find_spec("ray") is None:
            raise ValueError(
                "--executor ray: Ray is not installed: in a clone of linkzoo, pip install '.[ray]'"
            )
        self._started = False
        self._actors: list[Any] = []
        self._stored: dict[str, Any] = {}  # Ray references to cached values

    def start(self, make: Callable[[], Worker]) -> None:
        """Starts the actors."""
        import ray
        from ray.util import ActorPool

        if not ray.is_initialized():
            # At low priority, busy machines would keep the learner waiting.
            os.environ.setdefault("RAY_worker_niceness", "0")
            ray.init(log_to_driver=False)
            self._started = True
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Actor)
        self._actors = [actor.remote(make) for _ in range(self.workers)]
        self._pool = ActorPool(self._actors)

    def play(self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING) -> Results:
        """Plays all tasks; yields (index of the task, result) in order of completion."""
        import ray

        # Each machine fetches a stored object once.
        weights = ray.put(weights)
        new = {name: ray.put(value) for name, value in kept.items() if name not in self._stored}
        known = {**self._stored, **new}
        self._stored = {name: known[name] for name in kept}
        names = list(self._stored)
        values = list(self._stored.values())

        def submit(actor: Any, task: tuple[int, Any]) -> Any:
            return actor.play.remote(weights, *task, names, *values)

        for task in enumerate(tasks):
            self._pool.submit(submit, task)
        return self._results()

    def _results(self) -> Results:
        from ray.exceptions import RayTaskError

        while self._pool.has_next():
            try:
                result = self._pool.get_next_unordered()
            except RayTaskError as error:
                raise error.cause from error
            yield result

    def stop(self) -> None:
        """Kills the actors; shuts Ray down if this executor started it."""
        import ray

        if self._started:
            ray.shutdown()
        else:
            for actor in self._actors:
                ray.kill(actor)


class _Actor:
    """A worker as a Ray actor, created at its first task so that errors are raised there."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._worker = cache(partial(_single_threaded, make))

    def play(
        self, weights: Any, index: int, task: Any, names: Sequence[str], *values: Any
    ) -> tuple[int, Any]:
        kept = dict(zip(names, values, strict=True))
        return index, self._worker().play(weights, task, kept)


EXECUTORS: dict[str, type[Executor]] = {
    "local": LocalExecutor,
    "processes": ProcessExecutor,
    "ray": RayExecutor,
}
