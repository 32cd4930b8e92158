"""Self-play workers: a run's games on an executor, one iteration ahead of the learner.

The games are split into equal parts, one for each worker, with seeds of their own. With a task
travel the weights to play with, the pool's results and the games of a part as they stand, and to a
worker that hasn't them the frozen opponents; with its result come the games as they stand then, new
results and what is to be learned from them: tensors, packed as safetensors. So a run's weights are
a function of its seed and of the number of workers, but not of the executor, nor of workers that
died.
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

from linkzoo.engine.rng import STREAM_PART, word
from linkzoo_training.checkpoint import named, pack, under, unpack
from linkzoo_training.config import AlphaZeroConfig, PPOConfig
from linkzoo_training.selfplay.executors import NOTHING, Executor
from linkzoo_training.selfplay.initial_states import ITSELF
from linkzoo_training.selfplay.opponent_pool import OpponentPool, snapshots

Tensors = dict[str, Tensor]


class Games(Protocol):
    """Games that continue from task to task, some of them against the pool."""

    wins: NDArray[np.float64]  # by seat, in self-play games from an initial state, since read

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Leaves the games unfinished whose opponent gave up its slot, and begins others."""

    def tensors(self) -> Tensors:
        """Everything about them, by name."""

    def load(self, saved: Tensors) -> None:
        """Restores what `tensors` gave."""


G = TypeVar("G", bound=Games)
C = TypeVar("C", PPOConfig, AlphaZeroConfig)


def seed_of_part(seed: int, part: int) -> int:
    """The seed of the games of a part of a run."""
    return int(word(np.uint64(seed), STREAM_PART, part))


def part_of(config: C, part: int, parts: int) -> C:
    """The configuration of a part's games; ValueError if they can't be split so."""
    if config.num_envs % parts:
        raise ValueError(f"num_envs: {config.num_envs} can't be split evenly among {parts} workers")
    seed = seed_of_part(config.seed, part)
    return replace(config, num_envs=config.num_envs // parts, seed=seed)


class Task(NamedTuple):
    """What a part is played by, beside weights and pool."""

    progress: float  # of the run, 0..1
    iteration: int
    left: int  # slot of the pool whose opponent gave it up since the task before, or ITSELF


class SelfPlayWorker(ABC, Generic[G]):
    """Plays any part of a run's games with `network`, on the CPU."""

    def __init__(self, network: nn.Module, pool: OpponentPool) -> None:
        torch.set_flush_denormal(True)  # as the learner
        self.network, self.pool = network, pool
        self._games: dict[int, G] = {}

    @abstractmethod
    def begin(self, part: int) -> G:
        """The games of a part at the start of the run."""

    @abstractmethod
    def collect(self, games: G, task: Task, sent: Tensors) -> Tensors:
        """Plays an iteration of some games by what was sent; gives what is to be learned."""

    def play(self, weights: bytes, task: tuple[int, bytes], kept: Mapping[str, bytes]) -> bytes:
        """Plays an iteration of a part from its games as they stand; empty at the start."""
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
    """The learner's side of all parts: sends an iteration's tasks, and receives their results."""

    def __init__(self, executor: Executor, make: Callable[[], Any], num_seats: int) -> None:
        self.executor = executor
        self.wins = np.zeros(num_seats)  # see Games
        self.waited = 0.0  # seconds, for results, since read
        self._left = ITSELF
        self._sent = b""  # with the tasks that are being played
        self._standing = [b""] * executor.workers  # the games of every part when they were sent
        self._results: Iterator[tuple[int, bytes]] | None = None
        executor.start(make)

    def drop_opponent(self, slot: int, progress: float) -> None:  # noqa: ARG002 - see Games
        """Games against the opponent that gave up a slot are left unfinished, by the next tasks."""
        self._left = slot

    def exchange(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        more: Mapping[str, Tensor] = NOTHING,
    ) -> list[Tensors]:
        """What is to be learned from an iteration of every part, in their order.

        The workers play the next one by the network, the pool and `more` while the learner learns.
        """
        if self._results is None:
            self._send(network, pool, progress, iteration, more)
        results = self._receive()
        won, met = torch.stack([result["pool"] for result in results]).sum(0).numpy()
        if self._left != ITSELF:  # these were of the opponent before
            won[self._left] = met[self._left] = 0
        pool.wins += won
        pool.games += met
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
        """Has every part play on; returns at once."""
        task = torch.tensor(Task(progress, iteration, self._left), dtype=torch.float64)
        weights = named("network.", network.state_dict())
        self._begin(pack({"task": task, **weights, **more, **pool.results()}), pool.snapshots())
        self._left = ITSELF

    def _begin(self, sent: bytes, kept: Mapping[str, bytes]) -> None:
        self._sent = sent
        self._results = self.executor.play(sent, list(enumerate(self._standing)), kept)

    def _receive(self) -> list[Tensors]:
        """The results of all parts; waits for them."""
        assert self._results is not None
        started = time.perf_counter()
        found = dict(self._results)
        self.waited += time.perf_counter() - started
        self._results = None
        results = [unpack(found[part]) for part in range(self.executor.workers)]
        self._standing = [pack(under("games.", result)) for result in results]
        return results

    def tensors(self) -> Tensors:
        """Everything to save, by name: the tasks that are being played."""
        saved = named("sent.", unpack(self._sent)) if self._results is not None else {}
        for part, standing in enumerate(self._standing):
            if standing:
                saved |= named(f"part{part}.", unpack(standing))
        return saved

    def load(self, saved: Tensors) -> None:
        """Restores what `tensors` and the trainer's pool gave: the same tasks are played again."""
        parts = [under(f"part{part}.", saved) for part in range(self.executor.workers)]
        self._standing = [pack(part) if part else b"" for part in parts]
        sent = under("sent.", saved)
        if sent:
            self._begin(pack(sent), snapshots(saved))
