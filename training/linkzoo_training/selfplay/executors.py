"""Where workers run: in this process, in processes of this machine, or on Ray.

A worker is any object with `play(weights, task)`. What it needs beside its settings comes with the
call, and what it gives depends on nothing else, so any worker can play any task, and one that died
is started again and given its task again: the results are the same. Things that calls have in
common, such as frozen opponents, are sent to a worker once: those to keep, by their names.
"""

import os
import signal
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache, partial
from importlib.util import find_spec
from multiprocessing import get_context, resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from types import MappingProxyType, TracebackType
from typing import Any, Protocol, Self

_MOST_DEATHS = 3  # of workers at one task, before it is given up
NOTHING: Mapping[str, Any] = MappingProxyType({})


class Worker(Protocol):
    """What an executor runs; arguments and results must survive the way to another process."""

    def play(self, weights: Any, task: Any, kept: Mapping[str, Any]) -> Any:
        """The result of a task; `weights` and `kept` are the same for all tasks of a call."""


class Executor(ABC):
    """Some workers behind `start`, `play` and `stop`; a context manager that stops at its end."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ValueError(f"workers: {workers} is not 1 or more")
        self.workers = workers

    @abstractmethod
    def start(self, make: Callable[[], Worker]) -> None:
        """Starts the workers, each of them made by `make`."""

    @abstractmethod
    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Mapping[str, Any] = NOTHING
    ) -> Iterator[tuple[int, Any]]:
        """Has all tasks played; yields (index of the task, result) in the order they finish.

        Workers begin when this is called, not when the first result is asked for. An error of a
        worker's is raised here. Until all results were taken, nothing but `stop` may follow.

        A worker that was sent something of a name in `kept` has it until a call leaves that name
        out, and isn't sent it again: a name stands for the same thing always.
        """

    @abstractmethod
    def stop(self) -> None:
        """Ends the workers, whatever they are doing."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()


class LocalExecutor(Executor):
    """This process plays all tasks, each when its result is asked for."""

    def __init__(self, workers: int = 1) -> None:
        super().__init__(workers)

    def start(self, make: Callable[[], Worker]) -> None:
        """See Executor."""
        self._worker = cache(make)

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Mapping[str, Any] = NOTHING
    ) -> Iterator[tuple[int, Any]]:
        """See Executor."""
        return (
            (index, self._worker().play(weights, task, kept)) for index, task in enumerate(tasks)
        )

    def stop(self) -> None:
        """See Executor."""


class ProcessExecutor(Executor):
    """Processes of this machine, each with one thread.

    They are spawned, so a script of your own must not do its work when it is imported
    (`if __name__ == "__main__":`).
    """

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._running: dict[Connection, BaseProcess] = {}
        self._having: dict[Connection, set[str]] = {}  # the names of what each has kept

    def start(self, make: Callable[[], Worker]) -> None:
        """See Executor."""
        self._make = make
        for _ in range(self.workers):
            self._begin()

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Mapping[str, Any] = NOTHING
    ) -> Iterator[tuple[int, Any]]:
        """See Executor."""
        names = list(kept)
        waiting = list(reversed(range(len(tasks))))
        given: dict[Connection, int] = {}
        deaths = [0] * len(tasks)

        def give(worker: Connection) -> None:
            if waiting:
                given[worker] = waiting.pop()
                new = {name: kept[name] for name in names if name not in self._having[worker]}
                self._having[worker] = set(names)
                try:
                    worker.send((weights, tasks[given[worker]], names, new))
                except OSError:
                    replace(worker)

        def replace(dead: Connection) -> None:
            index = given.pop(dead)
            self._end(dead)
            deaths[index] += 1
            if deaths[index] == _MOST_DEATHS:
                raise RuntimeError(f"{_MOST_DEATHS} workers died at the same task")
            waiting.append(index)
            give(self._begin())

        def results() -> Iterator[tuple[int, Any]]:
            while given:
                for ready in wait(list(given)):
                    assert isinstance(ready, Connection)
                    try:
                        result, error = ready.recv()
                    except (EOFError, OSError):
                        replace(ready)
                        continue
                    index = given.pop(ready)
                    give(ready)
                    if error is not None:
                        raise error
                    yield index, result

        for worker in list(self._running):
            give(worker)
        return results()

    def stop(self) -> None:
        """See Executor."""
        for connection in list(self._running):
            self._end(connection)

    def _begin(self) -> Connection:
        context = get_context("spawn")
        ours, theirs = context.Pipe()
        process = context.Process(target=_serve, args=(theirs, self._make), daemon=True)
        with _interrupts_held():
            process.start()
        theirs.close()  # so that its death closes the pipe
        self._running[ours], self._having[ours] = process, set()
        return ours

    def _end(self, connection: Connection) -> None:
        process = self._running.pop(connection)
        del self._having[connection]
        connection.close()
        process.kill()
        process.join()


@contextmanager
def _interrupts_held() -> Iterator[None]:
    """Holds Ctrl-C back, for good in the processes that are started meanwhile."""
    if not hasattr(signal, "pthread_sigmask"):  # not on Windows
        yield
        return
    resource_tracker.ensure_running()  # its start, with that of the first, would let Ctrl-C through
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _serve(connection: Connection, make: Callable[[], Worker]) -> None:
    """A worker's process: plays what comes until the other end is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the learner's affair
    worker = cache(partial(_alone, make))
    kept: dict[str, Any] = {}
    try:
        while True:
            weights, task, names, new = connection.recv()
            kept = {name: new[name] if name in new else kept[name] for name in names}
            answer: tuple[Any, Exception | None]
            try:
                answer = worker().play(weights, task, kept), None
            except Exception as error:  # noqa: BLE001 - raised again where the result is read
                error.add_note("".join(traceback.format_exception(error)))
                answer = None, error
            connection.send(answer)
    except (EOFError, OSError):  # the learner has ended or was killed
        return


def _alone(make: Callable[[], Worker]) -> Worker:
    """A worker with one thread: more cores are for more workers."""
    from linkzoo.engine.threads import set_num_threads
    from linkzoo_training import shards

    set_num_threads(1)
    shards.use(1)
    return make()


class RayExecutor(Executor):
    """Ray actors, on this machine or on the cluster that Ray finds (`RAY_ADDRESS`)."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        if find_spec("ray") is None:
            raise ValueError("--executor ray: Ray is not installed: pip install 'linkzoo[ray]'")
        self._started = False
        self._actors: list[Any] = []
        self._stored: dict[str, Any] = {}  # references to what is kept

    def start(self, make: Callable[[], Worker]) -> None:
        """See Executor."""
        import ray
        from ray.util import ActorPool

        if not ray.is_initialized():
            # Workers that yield to everything else would keep the learner waiting.
            os.environ.setdefault("RAY_worker_niceness", "0")
            ray.init(log_to_driver=False)
            self._started = True
        actor = ray.remote(num_cpus=1, max_restarts=-1, max_task_retries=-1)(_Actor)
        self._actors = [actor.remote(make) for _ in range(self.workers)]
        self._pool = ActorPool(self._actors)

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Mapping[str, Any] = NOTHING
    ) -> Iterator[tuple[int, Any]]:
        """See Executor."""
        import ray

        # Every machine fetches once what was put.
        weights, before = ray.put(weights), self._stored
        self._stored = {
            name: before[name] if name in before else ray.put(value) for name, value in kept.items()
        }
        names, values = list(self._stored), list(self._stored.values())
        for index, task in enumerate(tasks):
            self._pool.submit(
                lambda actor, given: actor.play.remote(weights, *given, names, *values),
                (index, task),
            )
        return self._results()

    def _results(self) -> Iterator[tuple[int, Any]]:
        from ray.exceptions import RayTaskError

        while self._pool.has_next():
            try:
                result = self._pool.get_next_unordered()
            except RayTaskError as error:
                raise error.cause from error
            yield result

    def stop(self) -> None:
        """See Executor."""
        import ray

        if self._started:
            ray.shutdown()
        else:
            for actor in self._actors:
                ray.kill(actor)


class _Actor:
    """A worker as a Ray actor; it is made at the first task, so that its errors are that task's."""

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._worker = cache(partial(_alone, make))

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
