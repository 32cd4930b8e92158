"""Self-play workers: a run's games on an executor, one iteration ahead of the learner.

The games are split into equal parts with seeds of their own. A task carries the weights, the pool's
results and the states of a part's games, and frozen opponents that the worker lacks. Its result
carries the new states, new results and training data. All are tensors, packed as safetensors. So a
run's weights depend on its seed and the number of parts, but not on the executor, the number of
workers, or crashed workers.
"""

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo.engine.rng import STREAM_PART, random_u64
from linkzoo_training.checkpoints.checkpoint import add_prefix, pack, strip_prefix, unpack
from linkzoo_training.config.config import AlphaZeroConfig, AnyConfig, PPOConfig
from linkzoo_training.networks.flat import Critic, frozen, make_network
from linkzoo_training.runtime import training_clock, use_bf16
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.dispatch import Results
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.inference import Address, RemoteNetwork
from linkzoo_training.selfplay.opponent_pool import OpponentPool, snapshots
from linkzoo_training.selfplay.opponents import ITSELF
from linkzoo_training.selfplay.replay import ReplayGames, Samples, finish
from linkzoo_training.selfplay.rollout import Batch, RolloutGames

Tensors = dict[str, Tensor]
T = TypeVar("T")
C = TypeVar("C", bound=AnyConfig)


def seed_of_part(seed: int, part: int) -> int:
    """Returns the seed of a part's games."""
    return int(random_u64(np.uint64(seed), STREAM_PART, part))


def part_of(config: C, part: int, parts: int) -> C:
    """Returns the configuration of a part's games; ValueError if they can't be split."""
    if config.num_envs % parts:
        raise ValueError(f"num_envs: {config.num_envs} can't be split into {parts} equal parts")
    seed = seed_of_part(config.seed, part)
    return replace(config, num_envs=config.num_envs // parts, seed=seed)


class SelfPlayWorker:
    """Plays any part of a run's games on the CPU.

    Args:
        config: The run.
        inference: The server that evaluates AlphaZero's leaves; None: this worker does.
    """

    def __init__(self, config: AnyConfig, inference: Address | None = None) -> None:
        torch.set_flush_denormal(True)  # same as in the learner
        self.config = config
        self.device = torch.device("cpu")
        self.game = get_game(config.game, config.options)
        bf16 = use_bf16(config.precision, self.device)
        network = make_network(self.game, config.network, config.width, config.blocks)
        self.network = frozen(network, bf16)
        self.remote_network: RemoteNetwork | None = None
        if inference is not None:
            self.remote_network = RemoteNetwork(inference)
        self.critic: Critic | None = None
        if isinstance(config, PPOConfig) and config.critic == "full":
            self.critic = frozen(Critic(self.game, config.width, config.blocks), bf16)
        self.pool = OpponentPool(config.pool.size, config.seed)
        self._games: dict[int, RolloutGames | ReplayGames] = {}

    def _begin(self, part: int, parts: int) -> RolloutGames | ReplayGames:
        config = part_of(self.config, part, parts)
        if isinstance(config, AlphaZeroConfig):
            return ReplayGames(config, self.game, self.device)
        games = RolloutGames(config, HostBackend(self.device))
        games.begin()
        return games

    def play(self, weights: bytes | None, task: Any, kept: Mapping[str, bytes]) -> Any:
        """Plays an iteration of a part, or calls a function (see `TaskWorker`).

        The task of a part is its number, the number of all parts, and the packed states of the
        part's games, empty at the start.
        """
        if weights is None:
            return task()
        return finish(self.play_in_steps(weights, kept, *task))

    def play_in_steps(
        self, weights: bytes, kept: Mapping[str, bytes], part: int, parts: int, states: bytes
    ) -> Generator[None, None, bytes]:
        """Plays an iteration of a part; AlphaZero's games pause after each ply."""
        if part not in self._games or not states:
            self._games[part] = self._begin(part, parts)
        games = self._games[part]
        pool = self.pool
        sent = unpack(weights)
        if states:
            games.load(unpack(states))
        progress, iteration, *reused_slots = sent["task"].tolist()
        self.network.load_state_dict(strip_prefix("network.", sent))
        if self.critic is not None:
            self.critic.load_state_dict(strip_prefix("critic.", sent))
        pool.receive(sent, kept, self.network)
        for slot in reused_slots:
            games.drop_opponent(int(slot), progress)
        before = np.stack([pool.wins, pool.games])
        games.wins[:] = 0
        batch: Batch | Samples
        if isinstance(games, ReplayGames):
            network: nn.Module = self.network
            if self.remote_network is not None:
                self.remote_network.version = int(iteration)
                network = self.remote_network
            batch = yield from games.play_in_steps(network, pool, progress, int(iteration))
        else:
            batch = games.collect(self.network, pool, progress, int(iteration), self.critic)
        results = {
            "wins": torch.from_numpy(games.wins.copy()),
            "pool": torch.from_numpy(np.stack([pool.wins, pool.games]) - before),
            **add_prefix("batch.", batch.tensors()),
            **add_prefix("games.", games.tensors()),
        }
        return pack(results)


class SelfPlayWorkers(Generic[T]):
    """Drop-in for a run's games on workers: sends tasks and receives results.

    Batches come from the network of the previous iteration. Their log-probabilities come from that
    network too, so PPO's ratios are correct.

    `join` makes the training data of an iteration from the tensors of all parts.

    Attributes:
        parts_per_worker: The number of parts by default.
        executor: The workers.
        parts: The number of parts that the games are split into.
        wins: Wins by seat since last read, as in RolloutGames.
        waited: Seconds waiting for results since last read.
    """

    parts_per_worker = 1

    def __init__(
        self, config: AnyConfig, executor: Executor, join: Callable[[list[Tensors]], T]
    ) -> None:
        self.executor = executor
        self._config = config
        self._join = join
        self.split(config.parts or self.parts_per_worker * executor.workers)
        self.wins = np.zeros(max(config.players))
        self.waited = 0.0
        self._reused_slot = ITSELF  # pool slot reused since the previous task
        self._sent = b""  # weights and tensors of the running tasks
        self._results: Results | None = None
        self._received: dict[int, bytes] = {}  # results of the running tasks, by part
        executor.start(self._make_worker())

    def _make_worker(self) -> Callable[[], SelfPlayWorker]:
        """Returns the function that creates a worker."""
        return partial(SelfPlayWorker, self._config)

    def split(self, parts: int) -> None:
        """Splits the games into parts, before the first iteration; ValueError if they can't be."""
        part_of(self._config, 0, parts)
        self.parts = parts
        self._states = [b""] * parts  # of every part's games

    def drop_opponent(self, slot: int, progress: float) -> None:  # noqa: ARG002 - as in RolloutGames
        """Marks a reused slot: the next tasks replace unfinished games against its old opponent."""
        self._reused_slot = slot

    def begin(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        critic: nn.Module | None = None,
    ) -> None:
        """Starts the first iteration of a run."""
        if self._results is None:
            self._send(networks(network, critic), pool, progress, iteration)

    def ready(self, seconds: float) -> bool:
        """Receives results for some seconds; returns whether those of the iteration are there."""
        started = training_clock()
        end = started + seconds
        while self._results is not None and len(self._received) < self.parts:
            if not self._results.wait(max(0.0, end - training_clock())):
                break
            part, result = next(self._results)
            self._received[part] = result
        self.waited += training_clock() - started
        return len(self._received) == self.parts

    def collect(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        critic: nn.Module | None = None,
    ) -> T:
        """Returns the training data of an iteration, and starts the next iteration.

        The workers play the next one with these networks and the pool while the learner learns.
        """
        self.begin(network, pool, progress, iteration, critic)
        while not self.ready(1):
            pass
        results = [unpack(self._received[part]) for part in range(self.parts)]
        self._states = [pack(strip_prefix("games.", result)) for result in results]
        won, met = torch.stack([result["pool"] for result in results]).sum(0).numpy()
        if self._reused_slot != ITSELF:  # these games met the previous opponent
            won[self._reused_slot] = met[self._reused_slot] = 0
        pool.count(won, met)
        self.wins += torch.stack([result["wins"] for result in results]).sum(0).numpy()
        self._send(networks(network, critic), pool, progress, iteration + 1)
        return self._join([strip_prefix("batch.", result) for result in results])

    def _send(self, sent: Tensors, pool: OpponentPool, progress: float, iteration: int) -> None:
        """Starts an iteration of every part; returns at once."""
        task = torch.tensor([progress, iteration, self._reused_slot], dtype=torch.float64)
        self._start(pack({"task": task, **sent, **pool.results()}), pool.snapshots(), iteration)
        self._reused_slot = ITSELF

    def _start(self, sent: bytes, kept: Mapping[str, bytes], iteration: int) -> None:
        self._sent = sent
        self._received = {}
        tasks = [(part, self.parts, states) for part, states in enumerate(self._states)]
        names = [
            f"iteration {iteration + 1}, part {part} of {self.parts}"
            for part in range(1, self.parts + 1)
        ]
        self._results = self.executor.play(sent, tasks, kept, names)

    def tensors(self) -> Tensors:
        """Returns the running tasks as tensors by name."""
        saved: Tensors = {}
        if self._results is not None:
            saved |= add_prefix("sent.", unpack(self._sent))
        for part, states in enumerate(self._states):
            if states:
                saved |= add_prefix(f"part{part}.", unpack(states))
        return saved

    def load(self, saved: Tensors) -> None:
        """Restores the state from `tensors` and the trainer's pool; reruns the running tasks."""
        self._load_states(saved)
        if sent := strip_prefix("sent.", saved):
            iteration = int(sent["task"][1])
            self._start(pack(sent), snapshots(saved), iteration)

    def _load_states(self, saved: Tensors) -> None:
        parts = [strip_prefix(f"part{part}.", saved) for part in range(self.parts)]
        self._states = [pack(part) if part else b"" for part in parts]


def networks(network: nn.Module, critic: nn.Module | None) -> Tensors:
    """Returns the weights of the networks of an iteration, by name."""
    sent = add_prefix("network.", network.state_dict())
    if critic is not None:
        sent |= add_prefix("critic.", critic.state_dict())
    return sent
