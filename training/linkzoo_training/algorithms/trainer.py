"""Base class of trainers: a network, optimisers and counters that can be saved and resumed.

All randomness is a function of the seed and of counters, so a resumed run reaches the same weights
as an uninterrupted one.
"""

import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from copy import deepcopy
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from linkzoo import Game, get_game
from linkzoo.core.arguments import check_keys, integer
from linkzoo.engine import threads
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.optimizers import STATES, Optimizers
from linkzoo_training.checkpoints.checkpoint import (
    finite,
    fitting,
    load_card,
    load_tensors,
    load_weights,
    named,
    save_checkpoint,
    save_tensors,
    under,
)
from linkzoo_training.config.config import AnyConfig, flat, read_config
from linkzoo_training.evaluation.match import play_match
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import Network, frozen, make_network
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.networks.transfers import traffic
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.runtime import compile_clock, find_device, use_bf16
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.workers import Games, SelfPlayWorkers

STATE_FILE = "training.safetensors"
_BUDGET = ("max_seconds",)  # fields that a resumed run may change


class Trainer(ABC):
    """One run. `iterate` is the algorithm; a subclass sets `optimizers` and `learned`."""

    optimizers: Optimizers
    play: Games
    behaviour_policy: nn.Module  # inference copy for self-play
    iteration = 0
    seconds = 0.0  # training time, without evaluation and compilation
    least_range: float | None = None  # minimum value range of the searches in training
    growing: tuple[str, ...] = ()  # name prefixes of tensors that grow during a run

    def __init__(self, config: AnyConfig, executor: Executor | None = None) -> None:
        self._config = config
        self._compiling = compile_clock()
        self._timed = False  # whether this process has timed an iteration
        self.workers = 0 if executor is None else executor.workers
        torch.set_flush_denormal(True)  # denormal weights and moments made the CPU 10 times slower
        threads.restart()  # set it in them too: results must not depend on the thread
        self._threads = min(config.num_threads, threads.MAX_THREADS)
        threads.set_num_threads(self._threads)
        self.game: Game = get_game(config.game, config.options)
        self.device = find_device(config.device)
        shards.use(self._threads, 1 if self.device.type == "cpu" else self._threads)
        if self.device.type == "cuda":
            if self.device.index is not None:
                torch.cuda.set_device(self.device)  # for games on the device, too
            torch.backends.cudnn.deterministic = True  # for reproducible weights
        self.bf16 = use_bf16(config.precision, self.device)
        torch.manual_seed(config.seed)
        network = make_network(self.game, config.network, config.width, config.blocks)
        if config.initial_checkpoint is not None:
            load_weights(network, find_checkpoint(config.initial_checkpoint))
        self.network: PolicyValueNet = network.to(self.device)
        self.pool = OpponentPool(config.pool.size, config.seed)
        self.average: AveragedModel | None = None
        if config.average:
            newest = 1 / config.average
            self.average = AveragedModel(
                self.network, multi_avg_fn=get_ema_multi_avg_fn(1 - newest)
            )

    @property
    def steps(self) -> int:
        """Plies played so far, in all games of all processes."""
        return self.iteration * self._plies

    @property
    def _plies(self) -> int:
        """Plies per iteration, in all processes."""
        return self._config.num_envs * self._config.horizon * distributed.size()

    @property
    def progress(self) -> float:
        """Progress of the schedules: 0 at the start, 1 at `total_steps`."""
        return min(1.0, self.steps / self._config.total_steps)

    @property
    def machine(self) -> str:
        """Hardware of the run, for reports."""
        return f"{platform.machine()}, {self._threads} threads, {self.device}"

    @property
    def finished(self) -> bool:
        """Whether the budget of steps or seconds is spent."""
        limit = self._config.max_seconds
        return self.progress >= 1.0 or (limit is not None and self.seconds >= limit)

    @property
    def eta(self) -> float:
        """Seconds left in the budget, at the average speed so far."""
        left = self.seconds * (1 / max(self.progress, 1e-9) - 1)
        limit = self._config.max_seconds
        return left if limit is None else min(left, max(0.0, limit - self.seconds))

    @property
    @abstractmethod
    def score_margin_weight(self) -> float:
        """Score-margin weight of the value targets."""

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""

    def add_opponent(self) -> None:
        """Adds the behaviour policy to the pool every `snapshot_every` iterations."""
        pool = self._config.pool
        if self.iteration % pool.snapshot_every == 0 and pool.share * pool.size:
            self.play.drop_opponent(self.pool.add(self.behaviour_policy), self.progress)

    def learned_once(self) -> None:
        """Counts the iteration and updates the averaged weights."""
        self.iteration += 1
        self.pool.decay()
        if self.average is not None:
            self.average.update_parameters(self.network)

    def progressed(self, spent: float) -> dict[str, float]:
        """Adds an iteration's seconds and returns the metrics common to all trainers.

        Compilation isn't counted, nor the first wait for workers, which start and compile then.
        """
        spent = max(spent - self._compiling.since(time.perf_counter() - spent), 1e-6)
        self.seconds += spent
        if isinstance(self.play, SelfPlayWorkers) and not self._timed:
            self.seconds -= min(self.play.waited, spent)
        self._timed = True
        metrics = {
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "steps/s": self._plies / spent,
        }
        wins, self.play.wins = self.play.wins, np.zeros_like(self.play.wins)
        for seat, role in enumerate(self.game.facts.seat_names):
            if wins.sum() > 0:
                metrics[f"self-play wins/{role}"] = wins[seat] / wins.sum()
        if self.pool.networks:
            metrics["pool win rate"] = float(self.pool.win_rates().mean())
        if isinstance(self.play, SelfPlayWorkers):
            waited, self.play.waited = self.play.waited, 0.0
            metrics["learner idle"] = waited / spent
        if self.device.type == "cuda":
            metrics["bytes/ply"] = traffic.read() / (self._plies / distributed.size())
        return metrics

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Returns what is saved besides network, optimisers and counters, by name."""

    @abstractmethod
    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` returned, after the network and the optimisers."""

    def agent(self, views: int = 1, temperature: float | None = None) -> PolicyAgent:
        """Returns the current policy, or its average over iterations, as an agent."""
        network = deepcopy(self.network)
        if self.average is not None:
            network.load_state_dict(self.average.module.state_dict())
        return PolicyAgent(
            self._config.name,
            self.game,
            network.float().cpu(),
            {},
            views=views,
            temperature=temperature,
        )

    def evaluate(
        self,
        opponents: tuple[str, ...],
        blocks: int,
        seed: int,
        *,
        openings: str | None = None,
        views: int = 1,
        temperature: float | None = None,
    ) -> list[MatchResult]:
        """Plays the agent of `agent` against each opponent, one match per number of players.

        `blocks` counts blocks of games per match; `openings` are as in `play_match`.
        """
        return [
            play_match(
                id_of(self.game),
                self.agent(views, temperature),
                make_agent(opponent, id_of(self.game)),
                blocks=blocks,
                seed=seed,
                openings=openings,
                num_players=players,
                options=self._config.options,
            )
            for opponent in opponents
            for players in self._config.players
        ]

    def save(self, folder: Path) -> None:
        """Saves the state of all processes to one file, for an exact resume."""
        tensors = named("network.", self.network.state_dict())
        tensors |= self.optimizers.tensors()
        if self.average is not None:
            tensors |= named("average.", self.average.state_dict())
        for rank, own in enumerate(distributed.collected(self.tensors())):
            tensors |= named(f"rank{rank}.", own) if rank else own
        meta = {
            "config": self._config.to_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
            **self._shape(),
        }
        if distributed.rank() == 0:
            save_tensors(folder / STATE_FILE, tensors, meta)

    def _shape(self) -> dict[str, int]:
        """Returns the numbers of workers and processes that share the games."""
        return {"workers": self.workers, "processes": distributed.size()}

    def load(self, folder: Path) -> None:
        """Restores the state that `save` wrote.

        Configuration fields that are newer than the file count as defaults there.

        Raises:
            ValueError: The file is damaged, or belongs to another run.
        """
        path = folder / STATE_FILE
        tensors, meta = distributed.dealt(lambda: _shares(path))
        self._check_meta(path, meta)
        self._check_tensors(path, tensors)
        try:
            self.network.load_state_dict(under("network.", tensors))
            self.optimizers.load(tensors)
            if self.average is not None:
                self.average.load_state_dict(under("average.", tensors))
            self.iteration, self.seconds = meta["iteration"], meta["seconds"]
            self.restore(tensors)
        except KeyError as error:
            raise ValueError(f"{path} is damaged: it has no {error}") from error
        except (ValueError, RuntimeError, TypeError, IndexError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error

    def _check_meta(self, path: Path, meta: Mapping[str, Any]) -> None:
        """Raises ValueError unless the saved run is this one and within its budget."""
        check_keys(str(path), meta, ("config", "iteration", "seconds", "workers", "processes"))
        if not isinstance(meta["config"], dict):
            raise ValueError(f"{path}: config: {meta['config']!r} is not a JSON object")
        try:
            saved = read_config(meta["config"])
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        before = flat(saved.to_dict()) | {name: meta[name] for name in self._shape()}
        now = flat(self._config.to_dict()) | self._shape()
        different = [
            name
            for name in sorted(before.keys() | now.keys())
            if name not in _BUDGET and now.get(name) != before.get(name)
        ]
        if different:
            then, new = (
                ", ".join(f"{name}={values.get(name)!r}" for name in different)
                for values in (before, now)
            )
            raise ValueError(f"{path} was trained with {then}, not {new}")
        last = -(-self._config.total_steps // self._plies)
        integer(f"{path}: iteration", meta["iteration"], 0, last)
        seconds = meta["seconds"]
        if isinstance(seconds, bool) or not isinstance(seconds, int | float):
            raise ValueError(f"{path}: seconds: {seconds!r} is no number")
        if not 0 <= seconds < inf:
            raise ValueError(f"{path}: seconds: {seconds} is not 0 or more")

    def _check_tensors(self, path: Path, tensors: Mapping[str, Tensor]) -> None:
        """Raises ValueError unless names, shapes, dtypes and values of the tensors fit the run."""
        finite(path, tensors)
        fitting(path, under("network.", tensors), self.network.state_dict(), "the network")
        average = {} if self.average is None else self.average.state_dict()
        fitting(path, under("average.", tensors), average, "the run")
        self.optimizers.check(path, tensors)
        for name, expected in self.tensors().items():
            if name not in tensors:
                raise ValueError(f"{path} has no tensor {name}, unlike the run")
            first = 1 if name.startswith(self.growing) else 0
            shapes = tensors[name].shape[first:], expected.shape[first:]
            if tensors[name].dtype != expected.dtype or shapes[0] != shapes[1]:
                raise ValueError(
                    f"{path}: {name} is {tensors[name].dtype}{list(tensors[name].shape)}, not "
                    f"{expected.dtype}{list(expected.shape)}"
                )

    def publish(self, folder: Path, strength: list[dict[str, Any]]) -> None:
        """Writes the trained policy's checkpoint, with its measured strength on the card."""
        config = self._config
        trained = {
            "algorithm": config.algorithm,
            "config": config.to_dict(),
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "machine": self.machine,
            **self._shape(),
            "torch": torch.__version__,
        }
        if config.initial_checkpoint is not None:
            trained["initial_checkpoint"] = load_card(find_checkpoint(config.initial_checkpoint))[
                "trained"
            ]
        card = {
            "views": config.views,
            "temperature": config.temperature,
            "score_margin_weight": self.score_margin_weight,
            "least_range": self.least_range,
            "network": {"kind": config.network, "width": config.width, "blocks": config.blocks},
            "trained": trained,
            "strength": strength,
        }
        save_checkpoint(folder, self.agent().network, self.game, card)

    def frozen(self, network: Network) -> Network:
        """Returns a frozen inference copy of a network, in bf16 if the run uses it."""
        return frozen(network, self.bf16)


def _shares(path: Path) -> list[tuple[dict[str, Tensor], dict[str, Any]]]:
    """Returns each process's part of a saved run: common tensors, its own games and samples."""
    tensors, meta = load_tensors(path)
    common = {
        name: tensor
        for name, tensor in tensors.items()
        if name.startswith(("network.", "average.", *STATES))
    }
    others = [common | under(f"rank{rank}.", tensors) for rank in range(1, distributed.size())]
    return [(share, meta) for share in (tensors, *others)]
