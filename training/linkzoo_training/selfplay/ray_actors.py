"""Workers as Ray actors, on this machine or on a cluster. Ray is an extra: see `RayExecutor`."""

import socket
import time
from collections.abc import Callable, Collection, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import RayError, RayTaskError

from linkzoo.core import user_files
from linkzoo_training.selfplay.dispatch import Answer, Fleet, Handle, Kept, Worker, WorkerDiedError
from linkzoo_training.selfplay.processes import single_threaded

_LOOK = 1  # seconds between looks at Ray's servers, and at most until they answer
# Seconds without a server until a run ends. Ray would kill the process after 60 and 15 seconds.
_HEAD_PATIENCE = 30
_RAYLET_PATIENCE = 3


class RayFleet(Fleet):
    """Ray actors of one CPU each; one that finds no CPU joins when there is one.

    Ray neither restarts actors nor repeats tasks: the dispatcher does, for processes and Ray alike.

    Files that the user has named, such as agents and checkpoints, are sent to each actor once, with
    the content that they had when they were first needed.
    """

    def __init__(self, make: Callable[[], Worker]) -> None:
        self._make = make
        self._actor = ray.remote(num_cpus=1, max_restarts=0, max_task_retries=0)(_Actor)
        self._learner = user_files.this_process()
        self._expected: dict[Handle, Any] = {}  # references to the next answers
        self._stored: dict[str, Any] = {}  # references to the values of `kept`
        self._files: dict[str, Any] = {}  # references to the contents of files
        self._sent: dict[Handle, set[str]] = {}  # files
        self._servers = (
            _Server("Ray's head", _head(), _HEAD_PATIENCE),
            _Server("Ray on this machine", _raylet(), _RAYLET_PATIENCE),
        )

    def start_worker(self) -> Any:
        """Asks for an actor, which Ray starts where and when a CPU is free."""
        actor = self._actor.remote(self._make, self._learner)
        self._sent[actor] = set()
        self.ping(actor)
        return actor

    def share(self, weights: Any, kept: Kept) -> tuple[Any, dict[str, Any]]:
        """Stores the arguments; each machine fetches a stored object once."""
        new = {name: ray.put(value) for name, value in kept.items() if name not in self._stored}
        known = {**self._stored, **new}
        self._stored = {name: known[name] for name in kept}
        for file in user_files.named_files():
            if file not in self._files:
                self._files[file] = ray.put(Path(file).read_bytes())
        return ray.put(weights), self._stored

    def send(self, worker: Any, shared: tuple[Any, dict[str, Any]], task: Any, name: str) -> None:
        """Calls the actor; Ray's dashboard shows the task by its name."""
        weights, kept = shared
        files = {file: data for file, data in self._files.items() if file not in self._sent[worker]}
        if files:
            self._sent[worker] |= files.keys()
            worker.receive.remote(list(files), *files.values())
        play = worker.play.options(name=name)
        self._expected[worker] = play.remote(weights, task, list(kept), *kept.values())

    def ping(self, worker: Any) -> None:
        """Calls the actor."""
        self._expected[worker] = worker.ready.remote()

    def wait(self, workers: Collection[Handle], seconds: float) -> Collection[Handle]:
        """Waits for the answer of one of the actors; ConnectionError if Ray itself is lost."""
        for server in self._servers:
            server.check()
        by_reference = {self._expected[worker]: worker for worker in workers}
        answered, _ = ray.wait(list(by_reference), num_returns=1, timeout=seconds)
        return [by_reference[reference] for reference in answered]

    def receive(self, worker: Handle) -> Answer:
        """Returns the answer of an actor; a result that was lost with its machine is a death."""
        try:
            return Answer(ray.get(self._expected.pop(worker)))
        except RayTaskError as error:
            if isinstance(error.cause, Exception):
                return Answer(error=error.cause)
            return Answer(error=error)
        except RayError as error:
            raise WorkerDiedError(str(error)) from error

    def kill(self, worker: Any) -> None:
        """Kills the actor, and waits for nothing."""
        self._expected.pop(worker, None)
        self._sent.pop(worker, None)
        ray.kill(worker)


class _Server:
    """A server of Ray that every actor needs; `patience` is in seconds."""

    def __init__(self, name: str, address: tuple[str, int], patience: float) -> None:
        self._name = name
        self._address = address
        self._patience = patience
        self._last_seen = time.monotonic()  # when it last accepted a connection
        self._next_look = self._last_seen

    def check(self) -> None:
        """Looks at the server once a second; ConnectionError if it has been away for too long."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK
        try:
            socket.create_connection(self._address, _LOOK).close()
        except OSError as error:
            if now - self._last_seen > self._patience:
                host, port = self._address
                raise ConnectionError(
                    f"{self._name} ({host}:{port}) is lost: {error}; --resume goes on from the "
                    "last save on another cluster"
                ) from error
        else:
            self._last_seen = now


def _head() -> tuple[str, int]:
    """Returns the address of the server of the cluster's head."""
    host, _, port = ray.get_runtime_context().gcs_address.rpartition(":")
    return host, int(port)


def _raylet() -> tuple[str, int]:
    """Returns the address of the server of this machine."""
    node_id = ray.get_runtime_context().get_node_id()
    (node,) = (node for node in ray.nodes() if node["NodeID"] == node_id)
    return node["NodeManagerAddress"], node["NodeManagerPort"]


class _Actor:
    """A worker as a Ray actor, created at its first task so that errors are raised there."""

    def __init__(self, make: Callable[[], Worker], learner: user_files.Sender) -> None:
        self._worker = cache(partial(single_threaded, make))
        self._learner = learner
        user_files.receive(learner, {})

    def receive(self, files: list[str], *contents: bytes) -> None:
        """Receives copies of files, for the tasks that follow."""
        user_files.receive(self._learner, dict(zip(files, contents, strict=True)))

    def ready(self) -> None:
        """Returns when the actor runs."""

    def play(self, weights: Any, task: Any, names: Sequence[str], *values: Any) -> Any:
        """Plays a task."""
        return self._worker().play(weights, task, dict(zip(names, values, strict=True)))
