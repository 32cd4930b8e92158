"""Self-play workers: a run's games on an executor, one iteration ahead of the learner.

The games are split into equal parts, one for each worker, with seeds of their own. With a task
travel the weights to play with and the games of a part as they stand, and to a worker that hasn't
them the frozen opponents; with its result come the games as they stand then and what is to be
learned from them: tensors, packed as safetensors. So a run's weights are a function of its seed and
of the number of workers, but not of the executor, nor of workers that died.
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import torch
from torch import Tensor

from linkzoo.chance import STREAM_PART, word
from linkzoo_training.checkpoint import named, pack, under, unpack
from linkzoo_training.config import AlphaZeroConfig, PPOConfig
from linkzoo_training.selfplay.executors import NOTHING, Executor

Tensors = dict[str, Tensor]


class Games(Protocol):
    """Games that continue from task to task."""

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


class SelfPlayWorker(ABC, Generic[G]):
    """Plays any part of a run's games, on the CPU."""

    def __init__(self) -> None:
        torch.set_flush_denormal(True)  # as the learner
        self._games: dict[int, G] = {}

    @abstractmethod
    def begin(self, part: int) -> G:
        """The games of a part at the start of the run."""

    @abstractmethod
    def collect(self, games: G, sent: Tensors, kept: Mapping[str, bytes]) -> Tensors:
        """Plays an iteration of some games by what was sent; gives what is to be learned."""

    def play(self, weights: bytes, task: tuple[int, bytes], kept: Mapping[str, bytes]) -> bytes:
        """Plays an iteration of a part from its games as they stand; empty at the start."""
        part, standing = task
        if part not in self._games or not standing:
            self._games[part] = self.begin(part)
        games = self._games[part]
        if standing:
            games.load(unpack(standing))
        found = self.collect(games, unpack(weights), kept)
        return pack({**found, **named("games.", games.tensors())})


class SelfPlayWorkers:
    """The learner's side of all parts: sends an iteration's tasks, and receives their results."""

    def __init__(self, executor: Executor, make: Callable[[], Any]) -> None:
        self.executor = executor
        self.waited = 0.0  # seconds, for results, since read
        self._sent = b""  # with the tasks that are being played
        self._standing = [b""] * executor.workers  # the games of every part when they were sent
        self._results: Iterator[tuple[int, bytes]] | None = None
        executor.start(make)

    @property
    def playing(self) -> bool:
        """Whether tasks were sent whose results weren't received."""
        return self._results is not None

    def send(self, weights: Tensors, kept: Mapping[str, bytes] = NOTHING) -> None:
        """Has every part play on by `weights`, and by what workers keep; returns at once."""
        self._sent = pack(weights)
        self._results = self.executor.play(self._sent, list(enumerate(self._standing)), kept)

    def receive(self) -> list[Tensors]:
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
        saved = named("sent.", unpack(self._sent)) if self.playing else {}
        for part, standing in enumerate(self._standing):
            if standing:
                saved |= named(f"part{part}.", unpack(standing))
        return saved

    def load(self, saved: Tensors, kept: Mapping[str, bytes] = NOTHING) -> None:
        """Restores what `tensors` gave: the same tasks are played again, by what was kept then."""
        parts = [under(f"part{part}.", saved) for part in range(self.executor.workers)]
        self._standing = [pack(part) if part else b"" for part in parts]
        sent = under("sent.", saved)
        if sent:
            self.send(sent, kept)
