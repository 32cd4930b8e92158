"""Self-play workers without a barrier: no part of a run's games waits for another one.

When a part has played its plies, its samples wait for the learner, and the part plays on with the
newest weights. An iteration of the learner takes the oldest finished parts, as many as the run has.
So the ratio of learning to playing is that of `SelfPlayWorkers`, but the weights depend on the
order in which parts finish.

While there are too few finished parts, the learner's process plays a part itself instead of
waiting, and looks for those of the workers after each ply. If they come before the part is
finished, it is finished for the next iteration.
"""

import weakref
from collections import deque
from collections.abc import Callable, Generator
from functools import cache, partial
from typing import Any, NamedTuple, TypeVar

import torch
from torch import nn

from linkzoo_training.checkpoints.checkpoint import add_prefix, pack, strip_prefix, unpack
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.runtime import find_device, training_clock
from linkzoo_training.selfplay.dispatch import Results
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.inference import InferenceServer
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.workers import (
    SelfPlayWorker,
    SelfPlayWorkers,
    Tensors,
    networks,
)

T = TypeVar("T")
_POLL = 0.02  # seconds between looks at the tasks while the learner waits


class PlayedInSteps(Results):
    """The result of a task that this process plays, a ply per call of `step`."""

    def __init__(self, steps: Generator[None, None, bytes]) -> None:
        self._steps = steps
        self._packed: bytes | None = None

    def step(self) -> None:
        """Plays a ply, or packs the result after the last one."""
        try:
            next(self._steps)
        except StopIteration as end:
            self._packed = end.value

    def wait(self, seconds: float) -> bool:  # noqa: ARG002 - see Results
        """Returns whether the task is finished."""
        return self._packed is not None

    def close(self) -> None:
        """Does nothing."""

    def __next__(self) -> tuple[int, Any]:
        return 0, self._packed


class Task(NamedTuple):
    """The task of a part, played by a worker or by this process, or waiting for a worker."""

    results: Results
    iteration: int  # of the learner when the weights were sent
    reused_slots: int  # how many of the part's reused slots the worker knows


class Finished(NamedTuple):
    """The training data of a finished task."""

    batch: Tensors
    iteration: int  # of the learner when the weights were sent


class AsynchronousWorkers(SelfPlayWorkers[T]):
    """Drop-in for SelfPlayWorkers without a barrier.

    The staleness of training data is the number of iterations between the weights that played it
    and the iteration that learns from it first. Staler data than `max_staleness` is dropped; its
    games go on.

    Attributes:
        staleness: The staleness of each part's data in the last iteration.
        dropped: The number of parts whose data was dropped, since last read.
        played: Seconds in which this process played, since last read.
    """

    parts_per_worker = 2  # one of them is sent ahead, and waits until the worker is idle

    def __init__(
        self, config: AlphaZeroConfig, executor: Executor, join: Callable[[list[Tensors]], T]
    ) -> None:
        self._inference: InferenceServer | None = None
        if config.central_inference:
            self._inference = InferenceServer(find_device(config.device), executor.host)
            weakref.finalize(self, self._inference.stop)
        super().__init__(config, executor, join)
        self.staleness: list[int] = []
        self.dropped = 0
        self.played = 0.0
        self._worker = cache(self._make_worker())  # of this process
        self._max_staleness = config.max_staleness
        self._iteration = -1  # of the learner
        self._progress = 0.0
        self._networks: Tensors = {}
        self._pool: OpponentPool

    def split(self, parts: int) -> None:
        """Splits the games into parts, before the first iteration; ValueError if they can't be."""
        super().split(parts)
        self._idle = deque(range(parts))  # the longest idle part first
        self._tasks: dict[int, Task] = {}  # by part, the oldest first
        self._here: PlayedInSteps | None = None  # the task that this process plays
        self._finished: deque[Finished] = deque()
        # Pool slots that were reused since the last finished task of a part.
        self._reused_slots: list[list[int]] = [[] for _ in range(parts)]

    def _make_worker(self) -> Callable[[], SelfPlayWorker]:
        """Returns the function that creates a worker, which uses the server if there is one."""
        address = None
        if self._inference is not None:
            address = self._inference.address
        return partial(SelfPlayWorker, self._config, address)

    def drop_opponent(self, slot: int, progress: float) -> None:  # noqa: ARG002 - as in RolloutGames
        """Marks a reused slot: next tasks replace unfinished games against its old opponent."""
        for slots in self._reused_slots:
            slots.append(slot)

    def begin(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        critic: nn.Module | None = None,
    ) -> None:
        """Begins an iteration, with new weights for the tasks that follow."""
        if iteration != self._iteration:
            self._iteration = iteration
            self._progress = progress
            self._networks = networks(network, critic)
            self._pool = pool
            if self._inference is not None:
                self._inference.add(iteration, network)
                used = [task.iteration for task in self._tasks.values()]
                self._inference.drop_before(min(used, default=iteration))
        self.refresh()

    def refresh(self) -> None:
        """Receives what is finished, and lets idle parts play on; returns at once.

        While the learner learns, the workers play what its next iteration needs and then pause, so
        that this data is no staler than in `SelfPlayWorkers`. While it waits, they never pause.
        """
        self._receive_finished()
        self._send_idle(self.parts)

    def _receive_finished(self) -> None:
        for part, task in list(self._tasks.items()):
            if task.results.wait(0):
                _, packed = next(task.results)
                self._receive(part, unpack(packed))
        self._drop_stale()

    def _send_idle(self, wanted: int) -> None:
        """Lets idle parts play on until so many are played or finished.

        If there are more parts than workers, one of them is left for this process.
        """
        workers = self.executor.workers
        for_workers = min(self.parts_per_worker * workers, max(workers, self.parts - 1))
        sent = sum(task.results is not self._here for task in self._tasks.values())
        missing = wanted - len(self._finished) - len(self._tasks)
        for _ in range(min(for_workers - sent, missing, len(self._idle))):
            self._send_part(self._idle.popleft())

    def ready(self, seconds: float) -> bool:
        """Receives results for some seconds; returns whether an iteration has enough of them."""
        started = now = training_clock()
        self.refresh()
        while self._lacks_data() and now < started + seconds:
            self._send_idle(2 * self.parts)
            if self._here is None and self._idle:
                self._play_part(self._idle.popleft())
            if self._here is not None:
                self._here.step()
                self.played += training_clock() - now
            else:
                oldest = next(iter(self._tasks.values()))
                oldest.results.wait(min(_POLL, seconds))
                self.waited += training_clock() - now
            self._receive_finished()
            now = training_clock()
        return not self._lacks_data()

    def _lacks_data(self) -> bool:
        """Returns whether parts are missing, or this process plays one with earlier weights."""
        old = any(
            task.results is self._here and task.iteration < self._iteration
            for task in self._tasks.values()
        )
        return old or len(self._finished) < self.parts

    def collect(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        critic: nn.Module | None = None,
    ) -> T:
        """Returns the training data of an iteration, from the oldest finished parts."""
        self.begin(network, pool, progress, iteration, critic)
        while not self.ready(1):
            pass
        taken = [self._finished.popleft() for _ in range(self.parts)]
        self.staleness = [iteration - finished.iteration for finished in taken]
        self.refresh()
        return self._join([finished.batch for finished in taken])

    def _send_part(self, part: int) -> None:
        """Lets a worker play the next task of a part."""
        name = f"iteration {self._iteration + 1}, part {part + 1} of {self.parts}"
        tasks = [(part, self.parts, self._states[part])]
        results = self.executor.play(self._weights_for(part), tasks, self._pool.snapshots(), [name])
        self._add_task(part, results)

    def _play_part(self, part: int) -> None:
        """Begins to play the next task of a part in this process."""
        task = (part, self.parts, self._states[part])
        weights = self._weights_for(part)
        self._here = PlayedInSteps(
            self._worker().play_in_steps(weights, self._pool.snapshots(), *task)
        )
        self._add_task(part, self._here)

    def _weights_for(self, part: int) -> bytes:
        """Returns the weights, the pool's results and the reused slots for a part's next task."""
        reused = self._reused_slots[part]
        task = torch.tensor([self._progress, self._iteration, *reused], dtype=torch.float64)
        return pack({"task": task, **self._networks, **self._pool.results()})

    def _add_task(self, part: int, results: Results) -> None:
        self._tasks[part] = Task(results, self._iteration, len(self._reused_slots[part]))

    def _receive(self, part: int, result: Tensors) -> None:
        """Takes the result of a part's task."""
        task = self._tasks.pop(part)
        if task.results is self._here:
            self._here = None
        self._idle.append(part)
        self._states[part] = pack(strip_prefix("games.", result))
        won, met = result["pool"].numpy().copy()
        reused = self._reused_slots[part][task.reused_slots :]
        won[reused] = met[reused] = 0  # these games met the previous opponents
        self._reused_slots[part] = reused
        self._pool.count(won, met)
        self.wins += result["wins"].numpy()
        self._finished.append(Finished(strip_prefix("batch.", result), task.iteration))

    def _drop_stale(self) -> None:
        oldest = self._iteration - self._max_staleness
        fresh = [finished for finished in self._finished if finished.iteration >= oldest]
        self.dropped += len(self._finished) - len(fresh)
        self._finished = deque(fresh)

    def tensors(self) -> Tensors:
        """Returns the games and the data that the learner hasn't taken, as tensors by name.

        The plies of running tasks are not there: they are played again.
        """
        saved = super().tensors()
        for part, reused in enumerate(self._reused_slots):
            if reused:
                saved[f"reused{part}"] = torch.tensor(reused)
        for number, finished in enumerate(self._finished):
            iteration = torch.tensor(finished.iteration)
            data = {"iteration": iteration, **finished.batch}
            saved |= add_prefix(f"finished{number}.", data)
        return saved

    def load(self, saved: Tensors) -> None:
        """Restores the state from `tensors`, of either kind of workers."""
        self._load_states(saved)
        for part in range(self.parts):
            self._reused_slots[part] = saved.get(f"reused{part}", torch.empty(0)).tolist()
        while data := strip_prefix(f"finished{len(self._finished)}.", saved):
            iteration = int(data.pop("iteration"))
            self._join([data])  # raises if it is damaged
            self._finished.append(Finished(data, iteration))
