"""Executors: run workers in this process, in local processes, or on Ray.

A worker is any object with `play(weights, task, kept)`. Results depend only on its settings and
these arguments, so any worker can play any task, and the task of a worker that died is repeated
with the same result. Large shared arguments, such as frozen opponents, go into `kept` and are sent
to each worker once per name.
"""

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from typing import Any, Self

from linkzoo.core.installing import install_command
from linkzoo_training.selfplay.dispatch import (
    NOTHING,
    Dispatcher,
    Fleet,
    Kept,
    PlayedWhenRead,
    Results,
    Worker,
)
from linkzoo_training.selfplay.processes import ProcessFleet


class Executor(ABC):
    """A set of workers behind `start`, `play` and `stop`; as a context manager it stops on exit."""

    def __init__(self, workers: int = 1) -> None:
        if workers < 1:
            raise ValueError(f"workers: {workers} is not 1 or more")
        self.workers = workers

    @property
    def live(self) -> int:
        """The number of workers that can play now."""
        return self.workers

    @property
    def host(self) -> str:
        """The address of this machine, as workers reach it."""
        return "127.0.0.1"

    @abstractmethod
    def start(self, make: Callable[[], Worker]) -> None:
        """Starts the workers; `make` creates each of them."""

    @abstractmethod
    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING, names: Sequence[str] = ()
    ) -> Results:
        """Plays all tasks; yields their results in order of completion.

        Work begins at the call, not when the first result is read, and errors of workers are raised
        where it is read. Several calls share the workers.

        Workers cache the values in `kept` by name until a call omits the name, so a name must
        always have the same value.

        `names` name the tasks in errors and on Ray's dashboard; without names they are numbered.
        """

    @contextmanager
    def play_in_order(self, tasks: Sequence[Any], names: Sequence[str]) -> Iterator[Iterator[Any]]:
        """Plays named tasks without weights, and yields their results in the order of the tasks.

        At the end it closes the results, so that waiting tasks are dropped.
        """
        results = self.play(None, tasks, names=names)
        try:
            yield _in_order(results)
        finally:
            results.close()

    @abstractmethod
    def stop(self) -> None:
        """Stops the workers, even in the middle of a task."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.stop()


def _in_order(results: Results) -> Iterator[Any]:
    """Yields results in the order of the tasks."""
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

    def play(
        self,
        weights: Any,
        tasks: Sequence[Any],
        kept: Kept = NOTHING,
        names: Sequence[str] = (),  # noqa: ARG002 - see Executor
    ) -> Results:
        """Plays all tasks; yields their results in order."""
        results = (
            (index, self._worker().play(weights, task, kept)) for index, task in enumerate(tasks)
        )
        return PlayedWhenRead(results)

    def stop(self) -> None:
        """Does nothing."""


class _FleetExecutor(Executor):
    """Workers of a fleet, which a dispatcher keeps busy."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        self._dispatcher: Dispatcher | None = None

    @abstractmethod
    def _fleet(self, make: Callable[[], Worker]) -> Fleet:
        """Returns a fleet without workers."""

    @property
    def live(self) -> int:
        """The number of workers that have started and not died."""
        if self._dispatcher is None:
            return 0
        return self._dispatcher.live

    def start(self, make: Callable[[], Worker]) -> None:
        """Prepares the workers, which start with the first call of `play`; ends earlier ones."""
        if self._dispatcher is not None:
            self._dispatcher.stop()
        self._dispatcher = Dispatcher(self._fleet(make), self.workers)

    def play(
        self, weights: Any, tasks: Sequence[Any], kept: Kept = NOTHING, names: Sequence[str] = ()
    ) -> Results:
        """Plays all tasks; yields (index of the task, result) in order of completion."""
        assert self._dispatcher is not None, "start comes first"
        names = names or [f"task {number} of {len(tasks)}" for number in range(1, len(tasks) + 1)]
        return self._dispatcher.play(weights, tasks, kept, names)

    def stop(self) -> None:
        """Kills the workers."""
        if self._dispatcher is not None:
            self._dispatcher.stop()
            self._dispatcher = None


class ProcessExecutor(_FleetExecutor):
    """Spawned processes on this machine, with one thread each.

    Scripts that use it must guard their entry point with `if __name__ == "__main__":`.
    """

    def _fleet(self, make: Callable[[], Worker]) -> Fleet:
        return ProcessFleet(make)


class RayExecutor(_FleetExecutor):
    """Ray actors, on this machine or on the cluster that Ray finds (`RAY_ADDRESS`)."""

    def __init__(self, workers: int) -> None:
        super().__init__(workers)
        if find_spec("ray") is None:
            raise ValueError(f"--executor ray: Ray is not installed: {install_command('ray')}")
        self._initialized = False  # by this executor

    @property
    def host(self) -> str:
        """The address of this machine in its cluster."""
        import ray

        address: str = ray.util.get_node_ip_address()
        return address

    def _fleet(self, make: Callable[[], Worker]) -> Fleet:
        import ray

        from linkzoo_training.selfplay.ray_actors import RayFleet  # the extra `ray`

        if not ray.is_initialized():
            # At low priority, busy machines would keep the learner waiting.
            os.environ.setdefault("RAY_worker_niceness", "0")
            ray.init(log_to_driver=False)
            self._initialized = True
        return RayFleet(make)

    def stop(self) -> None:
        """Kills the actors; shuts Ray down if this executor started it."""
        super().stop()
        if self._initialized:
            import ray
            from ray._private import worker  # TERM to its autoscaler's monitor would take a second

            if hasattr(worker._global_node, "kill_monitor"):
                worker._global_node.kill_monitor(check_alive=False)
            ray.shutdown()


EXECUTORS: dict[str, type[Executor]] = {
    "local": LocalExecutor,
    "processes": ProcessExecutor,
    "ray": RayExecutor,
}
