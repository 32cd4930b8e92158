"""Self-play workers: a run's games on an executor, one iteration ahead of the learner.

The games are split into equal parts, one per worker, with seeds of their own. A task carries the
weights, the pool's results and the states of a part's games, and frozen opponents that the worker
lacks. Its result carries the new states, new results and training data. All are tensors, packed as
safetensors. So a run's weights depend on its seed and the number of workers, but not on the
executor or on crashed workers.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.engine.rng import STREAM_PART, random_u64
from linkzoo_training.checkpoints.checkpoint import named, pack, under, unpack
from linkzoo_training.config.config import AlphaZeroConfig, PPOConfig
from linkzoo_training.selfplay.executors import NOTHING, Executor
from linkzoo_training.selfplay.opponent_pool import OpponentPool, snapshots
from linkzoo_training.selfplay.opponents import ITSELF

Tensors = dict[str, Tensor]


class Games(Protocol):
    """Games that continue across tasks, some of them against the pool."""

    wins: NDArray[np.float64]  # by seat since last read, in self-play games from an initial state

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Replaces unfinished games against the opponent of a slot that was reused."""

    def tensors(self) -> Tensors:
        """Returns the state as tensors by name."""

    def load(self, saved: Tensors) -> None:
        """Restores the state from `tensors`."""


G = TypeVar("G", bound=Games)
C = TypeVar("C", PPOConfig, AlphaZeroConfig)


def seed_of_part(seed: int, part: int) -> int:
    """Returns the seed of a part's games."""
    return int(random_u64(np.uint64(seed), STREAM_PART, part))


def part_of(config: C, part: int, parts: int) -> C:
    """Returns the configuration of a part's games; ValueError if they can't be split."""
    if config.num_envs % parts:
        raise ValueError(f"num_envs: {config.num_envs} can't be split evenly among {parts} workers")
    seed = seed_of_part(config.seed, part)
    return replace(config, num_envs=config.num_envs // parts, seed=seed)


class Task(NamedTuple):
    """Settings of a part's iteration, besides weights and pool."""

    progress: float  # progress of the run, 0..1
    iteration: int
    left: int  # pool slot reused since the previous task, or ITSELF


class SelfPlayWorker(ABC, Generic[G]):
    """Plays any part of a run's games with `network` on the CPU."""

    def __init__(self, network: nn.Module, pool: OpponentPool) -> None:
        torch.set_flush_denormal(True)  # same as in the learner
        self.network, self.pool = network, pool
        self._games: dict[int, G] = {}

    @abstractmethod
    def begin(self, part: int) -> G:
        """Returns the games of a part at the start of the run."""

    @abstractmethod
    def collect(self, games: G, task: Task, sent: Tensors) -> Tensors:
        """Plays an iteration of some games; returns its training data."""

    def play(self, weights: bytes, task: tuple[int, bytes], kept: Mapping[str, bytes]) -> bytes:
        """Plays an iteration of a part from the packed states of its games (empty at the start)."""
        part, standing = task
        if part not in self._games or not standing:
            self._games[part] = self.begin(part)
        games, pool, sent = self._games[part], self.pool, unpack(weights)
        if standing:
            games.load(unpack(standing))
        progress, *counts = sent["task"].tolist()
        found = Task(progress, *map(int, counts))
        self.network.load_state_dict(under("network.", sent))
        pool.receive(sent, kept, self.network)
        games.drop_opponent(found.left, found.progress)
        before = pool.wins.copy(), pool.games.copy()
        games.wins[:] = 0
        learned = self.collect(games, found, sent)
        results = {
            "wins": torch.from_numpy(games.wins.copy()),
            "pool": torch.from_numpy(np.stack([pool.wins - before[0], pool.games - before[1]])),
        }
        return pack({**named("learned.", learned), **results, **named("games.", games.tensors())})


class SelfPlayWorkers:
    """The learner's side of all parts: sends tasks and receives results."""

    def __init__(self, executor: Executor, make: Callable[[], Any], num_seats: int) -> None:
        self.executor = executor
        self.wins = np.zeros(num_seats)  # see Games
        self.waited = 0.0  # seconds waiting for results since last read
        self._left = ITSELF
        self._sent = b""  # weights and tensors of the running tasks
        self._standing = [b""] * executor.workers  # sent states of every part's games
        self._results: Iterator[tuple[int, bytes]] | None = None
        executor.start(make)

    def drop_opponent(self, slot: int, progress: float) -> None:  # noqa: ARG002 - see Games
        """Marks a reused slot: the next tasks replace unfinished games against its old opponent."""
        self._left = slot

    def exchange(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        more: Mapping[str, Tensor] = NOTHING,
    ) -> list[Tensors]:
        """Returns the training data of an iteration by part, and starts the next iteration.

        The workers play the next one with the network, the pool and `more` while the learner
        learns.
        """
        if self._results is None:
            self._send(network, pool, progress, iteration, more)
        results = self._receive()
        won, met = torch.stack([result["pool"] for result in results]).sum(0).numpy()
        if self._left != ITSELF:  # these games met the previous opponent
            won[self._left] = met[self._left] = 0
        pool.count(won, met)
        self.wins += torch.stack([result["wins"] for result in results]).sum(0).numpy()
        self._send(network, pool, progress, iteration + 1, more)
        return [under("learned.", result) for result in results]

    def _send(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        more: Mapping[str, Tensor],
    ) -> None:
        """Starts the next iteration of every part; returns at once."""
        task = torch.tensor(Task(progress, iteration, self._left), dtype=torch.float64)
        weights = named("network.", network.state_dict())
        self._begin(pack({"task": task, **weights, **more, **pool.results()}), pool.snapshots())
        self._left = ITSELF

    def _begin(self, sent: bytes, kept: Mapping[str, bytes]) -> None:
        self._sent = sent
        self._results = self.executor.play(sent, list(enumerate(self._standing)), kept)

    def _receive(self) -> list[Tensors]:
        """Waits for the results of all parts."""
        assert self._results is not None
        started = time.perf_counter()
        found = dict(self._results)
        self.waited += time.perf_counter() - started
        self._results = None
        results = [unpack(found[part]) for part in range(self.executor.workers)]
        self._standing = [pack(under("games.", result)) for result in results]
        return results

    def tensors(self) -> Tensors:
        """Returns the running tasks as tensors by name."""
        saved = named("sent.", unpack(self._sent)) if self._results is not None else {}
        for part, standing in enumerate(self._standing):
            if standing:
                saved |= named(f"part{part}.", unpack(standing))
        return saved

    def load(self, saved: Tensors) -> None:
        """Restores the state from `tensors` and the trainer's pool; reruns the running tasks."""
        parts = [under(f"part{part}.", saved) for part in range(self.executor.workers)]
        self._standing = [pack(part) if part else b"" for part in parts]
        sent = under("sent.", saved)
        if sent:
            self._begin(pack(sent), snapshots(saved))
