"""Dispatch: gives tasks to workers that may die, join and leave at any time.

Results depend on the tasks alone, so any worker can play any task. The rules:

- A worker plays one task at a time. Whichever is idle takes the next one.
- A worker that died is replaced, and its task goes to another worker. The run ends with an error
  that names the task when `MAX_DEATHS` workers have died at the same one.
- An error that a task raises is raised where its result is read.

A thread of the learner's process does this, so that workers get new tasks while the learner learns,
and the learner can be stopped while it waits. A `Fleet` knows how to start workers and to talk to
them: local processes (`processes.py`) or Ray actors (`ray_actors.py`).
"""

import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from queue import SimpleQueue
from types import MappingProxyType
from typing import Any, NamedTuple, Protocol

Kept = Mapping[str, Any]  # large shared arguments by name
Handle = Hashable  # a worker, as its fleet knows it
NOTHING: Kept = MappingProxyType({})
MAX_DEATHS = 3  # of workers at one task before the run fails
_POLL = 0.1  # seconds until new tasks are noticed while workers are busy
_MAX_STOP = 1  # seconds to kill the workers, before the process ends without


class Results(Iterator[tuple[int, Any]]):
    """The results of tasks in order of completion: (index of the task, result)."""

    @abstractmethod
    def wait(self, seconds: float) -> bool:
        """Waits until `next` doesn't block, at most some seconds; returns whether it doesn't."""

    @abstractmethod
    def close(self) -> None:
        """Drops the tasks that no worker has begun."""


class PlayedWhenRead(Results):
    """Results of tasks that are played in this process, each when its result is read."""

    def __init__(self, results: Iterator[tuple[int, Any]]) -> None:
        self._results = results

    def wait(self, seconds: float) -> bool:  # noqa: ARG002 - see Results
        """Returns True."""
        return True

    def close(self) -> None:
        """Does nothing."""

    def __next__(self) -> tuple[int, Any]:
        return next(self._results)


class Worker(Protocol):
    """Protocol of workers; arguments and results must be picklable."""

    def play(self, weights: Any, task: Any, kept: Kept) -> Any:
        """Returns the result of a task; `weights` and `kept` are shared by all tasks of a call."""


class TaskWorker:
    """A worker whose tasks need neither weights nor `kept`: functions without arguments."""

    def play(self, weights: None, task: Callable[[], Any], kept: Kept) -> Any:  # noqa: ARG002 - see Worker
        """Returns the result of a task."""
        return task()


class WorkerDiedError(Exception):
    """A worker died or can't be reached; the text is the cause."""


class Answer(NamedTuple):
    """A message of a worker: a task's result or its error; neither if the worker is ready."""

    result: Any = None
    error: Exception | None = None


class Fleet(ABC):
    """The workers of one kind; used by the thread of a `Dispatcher` alone."""

    @abstractmethod
    def start_worker(self) -> Handle:
        """Begins to start a worker, which first answers that it is ready; returns at once."""

    @abstractmethod
    def share(self, weights: Any, kept: Kept) -> Any:
        """Returns the shared arguments of a call in the form in which `send` takes them."""

    @abstractmethod
    def send(self, worker: Handle, shared: Any, task: Any, name: str) -> None:
        """Sends a task to a ready worker; raises WorkerDiedError."""

    @abstractmethod
    def ping(self, worker: Handle) -> None:
        """Asks an idle worker to answer that it is ready; raises WorkerDiedError."""

    @abstractmethod
    def wait(self, workers: Collection[Handle], seconds: float) -> Collection[Handle]:
        """Waits until some of the workers answer or die, at most some seconds; returns these."""

    @abstractmethod
    def receive(self, worker: Handle) -> Answer:
        """Returns the answer of a worker that `wait` has returned; raises WorkerDiedError."""

    @abstractmethod
    def kill(self, worker: Handle) -> None:
        """Ends a worker, dead or alive, even in the middle of a task."""

    def unblock(self) -> None:  # noqa: B027 - most fleets never block
        """Makes a blocked `send` return; other threads may call it."""


class Call(Results):
    """The tasks of one call of `Dispatcher.play`, and their results."""

    def __init__(
        self, weights: Any, tasks: Sequence[Any], kept: Kept, names: Sequence[str]
    ) -> None:
        self.weights = weights
        self.tasks = tasks
        self.kept = kept
        self.names = names
        self.shared: Any = None  # what the fleet makes of `weights` and `kept`
        self.waiting = deque(range(len(tasks)))
        self.deaths = [0] * len(tasks)
        self._unfinished = len(tasks)
        self._unread = len(tasks)
        self._ready: deque[tuple[int, Any]] = deque()
        self._error: BaseException | None = None
        self._closed = False
        self._changed = threading.Condition()

    @property
    def is_open(self) -> bool:
        """Whether some of its tasks are to be played, or played again."""
        return self._unfinished > 0 and self._error is None and not self._closed

    def finish(self, index: int, result: Any) -> None:
        """Adds the result of a task."""
        with self._changed:
            self._unfinished -= 1
            self._ready.append((index, result))
            self._changed.notify()

    def fail(self, error: BaseException) -> None:
        """Gives up the call: the error is raised after the results that are there."""
        with self._changed:
            self._error = self._error or error
            self._changed.notify()

    def wait(self, seconds: float) -> bool:
        """Waits until `next` doesn't block, at most some seconds; returns whether it doesn't."""
        with self._changed:
            return self._changed.wait_for(self._readable, seconds)

    def close(self) -> None:
        """Drops the tasks that no worker has begun."""
        self._closed = True

    def _readable(self) -> bool:
        return bool(self._ready) or self._error is not None or self._unread == 0

    def __next__(self) -> tuple[int, Any]:
        while not self.wait(1):  # a short wait, so that Ctrl-C is heard
            pass
        if self._ready:
            self._unread -= 1
            return self._ready.popleft()
        if self._error is not None:
            raise self._error
        raise StopIteration


class Dispatcher:
    """Plays calls on a fleet of up to `workers` workers, which start with the first call.

    Attributes:
        live: The number of workers that are ready or busy.
    """

    def __init__(self, fleet: Fleet, workers: int) -> None:
        self.live = 0
        self._fleet = fleet
        self._workers = workers
        self._starting: set[Handle] = set()
        self._idle: list[Handle] = []
        self._busy: dict[Handle, tuple[Call, int]] = {}
        self._failed_starts = 0  # since a worker was last ready
        self._new: SimpleQueue[Call] = SimpleQueue()
        self._calls: list[Call] = []  # the open ones, which share the workers; the oldest first
        self._begun = False  # there was a call
        self._changed = threading.Event()  # there is a new call, or an end
        self._stopping = False
        self._error: BaseException | None = None  # that ended the thread
        self._thread = threading.Thread(target=self._run, name="dispatcher", daemon=True)
        self._thread.start()

    def play(self, weights: Any, tasks: Sequence[Any], kept: Kept, names: Sequence[str]) -> Call:
        """Starts a call and returns its results; earlier calls go on, and their tasks go first."""
        call = Call(weights, tasks, kept, names)
        self._new.put(call)
        self._changed.set()
        if not self._thread.is_alive():
            call.fail(self._error or RuntimeError("the workers were stopped"))
        return call

    def stop(self) -> None:
        """Kills the workers."""
        self._stopping = True
        self._changed.set()
        self._fleet.unblock()
        self._thread.join(_MAX_STOP)

    def _run(self) -> None:
        """The loop of the thread."""
        try:
            while not self._stopping:
                self._take_new_calls()
                self._start_missing_workers()
                self._give_tasks()
                self._receive_answers()
        except BaseException as error:  # noqa: BLE001 - raised where results are read
            self._error = error
            self._take_new_calls()
            for call in self._calls:
                call.fail(error)
        finally:
            for worker in (*self._starting, *self._idle, *self._busy):
                self._fleet.kill(worker)

    def _take_new_calls(self) -> None:
        self._calls = [call for call in self._calls if call.is_open]
        while not self._new.empty():
            self._calls.append(self._new.get())
            self._begun = True

    def _start_missing_workers(self) -> None:
        if not self._begun:  # workers may need what comes before the first call
            return
        while self._starting_or_live() < self._workers:
            self._starting.add(self._fleet.start_worker())

    def _starting_or_live(self) -> int:
        self.live = len(self._idle) + len(self._busy)
        return self.live + len(self._starting)

    def _give_tasks(self) -> None:
        for call in self._calls:
            if call.waiting and call.shared is None:
                call.shared = self._fleet.share(call.weights, call.kept)
            while self._idle and call.waiting:
                self._give(self._idle.pop(), call, call.waiting.popleft())

    def _give(self, worker: Handle, call: Call, index: int) -> None:
        self._busy[worker] = (call, index)
        try:
            self._fleet.send(worker, call.shared, call.tasks[index], call.names[index])
        except WorkerDiedError as error:
            self._bury(worker, error)

    def _receive_answers(self) -> None:
        expected = {*self._starting, *self._busy}
        if not expected:
            self._changed.wait()
        self._changed.clear()
        for worker in self._fleet.wait(expected, _POLL):
            try:
                answer = self._fleet.receive(worker)
            except WorkerDiedError as error:
                self._bury(worker, error)
            else:
                self._accept(worker, answer)

    def _accept(self, worker: Handle, answer: Answer) -> None:
        """Takes the answer of a worker, which is idle from then on."""
        if worker in self._starting:
            self._starting.remove(worker)
            self._failed_starts = 0
        else:
            call, index = self._busy.pop(worker)
            if answer.error is None:
                call.finish(index, answer.result)
            else:
                call.fail(answer.error)
        self._idle.append(worker)

    def _bury(self, worker: Handle, cause: WorkerDiedError) -> None:
        """Forgets a dead worker; its task is played again, by another one."""
        self._fleet.kill(worker)
        if worker in self._starting:
            self._starting.remove(worker)
            self._failed_starts += 1
            if self._failed_starts == MAX_DEATHS * self._workers:
                raise RuntimeError(f"workers die as they start: {cause}")
            return
        call, index = self._busy.pop(worker)
        call.deaths[index] += 1
        if call.deaths[index] < MAX_DEATHS:
            call.waiting.appendleft(index)
        else:
            name = call.names[index]
            call.fail(RuntimeError(f"{name}: {MAX_DEATHS} workers died at this task: {cause}"))
        self._ping_idle_workers()

    def _ping_idle_workers(self) -> None:
        """Finds those that were lost with the same machine, before they get tasks."""
        idle = self._idle
        self._idle = []
        for worker in idle:
            self._starting.add(worker)
            try:
                self._fleet.ping(worker)
            except WorkerDiedError as error:
                self._bury(worker, error)
