"""Base class of trainers: a network, optimisers and counters that can be saved and resumed.

All randomness is a function of the seed and of counters, so a resumed run reaches the same weights
as an uninterrupted one.
"""

import platform
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from linkzoo import Agent, Game, get_game
from linkzoo.core.arguments import check_keys, integer, mapping, real, sequence
from linkzoo.engine import threads
from linkzoo.registry import id_of
from linkzoo_training.agents.linear import load_scorer
from linkzoo_training.agents.named import NamedAgent
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.reports import report_of
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.optimizers import STATES, Optimizers
from linkzoo_training.algorithms.resume import Changes, contents_of, find_changes
from linkzoo_training.checkpoints import checkpoint
from linkzoo_training.config.config import AnyConfig, read_config
from linkzoo_training.config.fields import flat
from linkzoo_training.config.schedule import Schedule
from linkzoo_training.evaluation.match import Match
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.networks import shards
from linkzoo_training.networks.action import ActionNet
from linkzoo_training.networks.flat import Critic, frozen, make_network
from linkzoo_training.networks.own import OwnNet
from linkzoo_training.networks.policy_value import PolicyValueNet
from linkzoo_training.networks.transfers import traffic
from linkzoo_training.resources import STATE_FILE, find_checkpoint
from linkzoo_training.runtime import find_device, training_clock, use_bf16
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.league import League, load_snapshot
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.replay import ReplayGames
from linkzoo_training.selfplay.rollout import RolloutGames
from linkzoo_training.selfplay.workers import SelfPlayWorkers


class Trainer(ABC):
    """One run. `iterate` is the algorithm; a subclass sets `optimizers`, `play` and the policy.

    It sets threads, denormals and torch's generators of the process: `networks.settings`
    restores them.
    """

    config: AnyConfig
    optimizers: Optimizers
    play: RolloutGames | ReplayGames | SelfPlayWorkers[Any]
    behaviour_policy: nn.Module  # inference copy for self-play
    behaviour_critic: Critic | None = None  # the same of a full critic
    iteration = 0
    seconds = 0.0  # training time, without evaluation and compilation
    changes: Sequence[Mapping[str, Any]] = ()  # of the configuration, when the run was resumed
    growing: tuple[str, ...] = ()  # name prefixes of tensors that grow during a run

    def __init__(self, config: AnyConfig) -> None:
        self.config = config
        self.contents = contents_of(config)
        self._timed = False  # whether this process has timed an iteration
        self._writer = ThreadPoolExecutor(1, "writer")
        self._writing: Future[None] | None = None  # of the state
        self._waited = 0.0  # seconds in `games_ready` since the last iteration
        torch.set_flush_denormal(True)  # denormal weights and moments made the CPU 10 times slower
        threads.restart()  # set it in them too: results must not depend on the thread
        self._threads = min(config.num_threads, threads.MAX_THREADS)
        threads.set_num_threads(self._threads)
        self.game: Game = get_game(config.game, config.options)
        self.device = find_device(config.device)
        shards.use(self._threads)
        if self.device.type == "cuda":
            if self.device.index is not None:
                torch.cuda.set_device(self.device)  # for games on the device, too
            torch.backends.cudnn.deterministic = True  # for reproducible weights
            torch.cuda.manual_seed(config.seed)
        self.bf16 = all(distributed.all_gather(use_bf16(config.precision, self.device)))
        torch.default_generator.manual_seed(config.seed)
        network = make_network(self.game, config.network, config.width, config.blocks)
        if config.initial_checkpoint is not None:
            checkpoint.load_weights(network, find_checkpoint(config.initial_checkpoint))
        if config.initial_scorer is not None:
            assert isinstance(network, ActionNet)  # as the configuration has checked
            scorer = load_scorer(self.game, config.initial_scorer)
            network.begin_with(scorer.weights, config.scorer_temperature)
        self.network: PolicyValueNet = network.to(self.device)
        self.pool = OpponentPool(config.pool.size, config.seed)
        self.league: League | None = None
        if config.pool.league is not None:
            self.league = League(config.pool.league, f"{config.name}-{config.seed}")
        self.average: AveragedModel | None = None
        if config.average:
            average = get_ema_multi_avg_fn(1 - 1 / config.average)
            self.average = AveragedModel(self.network, multi_avg_fn=average)

    @property
    def steps(self) -> int:
        """Plies played so far, in all games of all processes."""
        return self.iteration * self._plies

    @property
    def _plies(self) -> int:
        """Plies per iteration, in all processes."""
        return self.config.num_envs * self.config.horizon * distributed.size()

    @property
    def progress(self) -> float:
        """Progress of the schedules, 0..1: the share of `total_steps` or of `max_seconds` spent.

        It is the larger share, so schedules end when the run does.
        """
        spent = self.steps / self.config.total_steps
        if self.config.max_seconds is not None:
            spent = max(spent, self.seconds / self.config.max_seconds)
        return min(1.0, spent)

    @property
    def machine(self) -> str:
        """Hardware of the run, for reports."""
        return f"{platform.machine()}, {self._threads} threads, {self.device}"

    @property
    def finished(self) -> bool:
        """Whether the budget of steps or seconds is spent."""
        return self.progress >= 1.0

    @property
    def eta(self) -> float:
        """Seconds left in the budget, at the average speed so far."""
        return self.seconds * (1 / max(self.progress, 1e-9) - 1)

    def begin(self, folder: Path) -> None:
        """Begins a new run in a folder.

        A member of a league saves its state before its first snapshot, so that the run can be
        resumed from then on.

        Raises:
            ValueError: The league has another run of this name.
        """
        if self.league is not None:
            self.league.check_name()
            self.save(folder)

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""

    def begin_games(self) -> None:
        """Lets workers begin the first iteration of a run."""
        if isinstance(self.play, SelfPlayWorkers):
            self.play.begin(
                self.behaviour_policy,
                self.pool,
                self.progress,
                self.iteration,
                self.behaviour_critic,
            )

    def games_ready(self, seconds: float) -> bool:
        """Waits for workers' games; returns whether `iterate` won't wait for them."""
        if not isinstance(self.play, SelfPlayWorkers):
            return True
        started = training_clock()
        ready = self.play.ready(seconds)
        self._waited += training_clock() - started
        return ready

    @property
    def workers(self) -> str:
        """How many workers are live, `2 of 3 workers`; empty without workers."""
        if not isinstance(self.play, SelfPlayWorkers):
            return ""
        executor = self.play.executor
        return f"{executor.live} of {executor.workers} workers"

    def begin_iteration(self) -> float:
        """Returns the start of an iteration on `training_clock`: before the wait for its games."""
        self.begin_games()
        started = training_clock() - self._waited
        self._waited = 0.0
        return started

    def add_opponent(self) -> None:
        """Adds the behaviour policy to the pool every `snapshot_every` iterations.

        In a league, it is published then, and in other iterations a rival's new snapshot is added.
        """
        pool = self.config.pool
        league = self.league
        if not pool.share * pool.size:
            return
        if self.iteration % pool.snapshot_every == 0:
            slot = self.pool.add(self.behaviour_policy)
            if league is not None:
                league.added(slot)
                if distributed.rank() == 0:
                    self.publish(league.own(self.iteration), [])
                    league.exchange()
        elif league is not None and (rival := league.newer(self.iteration)) is not None:
            name, folder = rival
            network = load_snapshot(deepcopy(self.network), self.game, folder)
            slot = self.pool.add(frozen(network, self.bf16))
            league.added(slot, name)
        else:
            return
        self.play.drop_opponent(slot, self.progress)

    def autocast(self) -> torch.autocast:
        """Returns the context of forward passes in training."""
        # Threads would share the cache.
        return torch.autocast(self.device.type, torch.bfloat16, self.bf16, cache_enabled=False)

    def end_iteration(self) -> None:
        """Counts the iteration and updates the averaged weights."""
        self.iteration += 1
        self.pool.decay()
        if self.average is not None:
            self.average.update_parameters(self.network)

    def common_metrics(self, spent: float) -> dict[str, float]:
        """Adds an iteration's seconds and returns the metrics common to all trainers.

        The first wait for workers isn't counted: they start and compile then.
        """
        spent = trained = max(spent, 1e-6)
        if isinstance(self.play, SelfPlayWorkers) and not self._timed:
            trained -= min(self.play.waited, spent)
        self.seconds += distributed.broadcast(lambda: trained)  # schedules may depend on it
        self._timed = True
        metrics = {
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "steps/s": self._plies / spent,
        }
        wins = self.play.wins.copy()
        self.play.wins[:] = 0
        for seat, role in enumerate(self.game.facts.seat_names):
            if wins.sum() > 0:
                metrics[f"self-play wins/{role}"] = wins[seat] / wins.sum()
        if self.pool.networks:
            metrics["pool win rate"] = float(self.pool.win_rates().mean())
        if self.league is not None:
            metrics |= self.league.win_rates(self.pool)
        if isinstance(self.play, SelfPlayWorkers):
            metrics["workers"] = self.play.executor.live
            metrics["learner idle"] = self.play.waited / spent
            self.play.waited = 0.0
        if self.device.type == "cuda":
            metrics["bytes/ply"] = traffic.read() / (self._plies / distributed.size())
        return metrics

    def tensors(self) -> dict[str, Tensor]:
        """Returns the saved tensors besides network, optimisers and counters, by name."""
        return self.changing_tensors() | self.lasting_tensors()()

    @abstractmethod
    def changing_tensors(self) -> dict[str, Tensor]:
        """Returns those of `tensors` that training changes in place."""

    def lasting_tensors(self) -> Callable[[], dict[str, Tensor]]:
        """Returns a function that makes the rest of `tensors` from data that no longer changes."""
        return dict

    @abstractmethod
    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores the tensors of `tensors`, after the network and the optimisers."""

    def agent(self, views: int = 1, temperature: float | None = None) -> PolicyAgent:
        """Returns the current policy, or its average over iterations, as an agent."""
        network = deepcopy(self.network)
        if self.average is not None:
            network.load_state_dict(self.average.module.state_dict())
        settings: dict[str, Any] = {"views": views, "temperature": temperature}
        return PolicyAgent(self.config.name, self.game, network.float().cpu(), {}, **settings)

    def evaluate(
        self, agent: PolicyAgent, opponents: Sequence[str], blocks: int, **settings: Any
    ) -> list[MatchResult]:
        """Plays an agent against each opponent, one match per number of players.

        `blocks` and `settings` are as in `Match`. Workers play, if there are any.
        """
        game, options = id_of(self.game), self.config.options
        results = []
        for opponent in opponents:
            against = NamedAgent(AgentSpec.parse(opponent), game, options)
            for players in self.config.players:
                match = Match(
                    game, agent, against, blocks, num_players=players, options=options, **settings
                )
                results.append(match.play(executor=self.match_executor(against)))
        return results

    def match_executor(self, opponent: Agent) -> Executor | None:
        """Returns the workers; None without any, or if they can't play matches of the policy."""
        if not isinstance(self.play, SelfPlayWorkers):
            return None
        if isinstance(self.network, OwnNet):  # pickle doesn't find its module in every worker
            return None
        if report_of(opponent) is not None:  # it plays in this process
            return None
        return self.play.executor

    def save(
        self, folder: Path, *, wait: bool = True, saved: Callable[[], object] = lambda: None
    ) -> None:
        """Saves the state of all processes to one file, for an exact resume.

        Args:
            folder: The run's folder.
            wait: Whether to wait until the file is written; otherwise a thread writes it, and the
                next call of `save` raises its errors.
            saved: Called when the file is written, by the thread.
        """
        tensors = checkpoint.add_prefix("network.", self.network.state_dict())
        tensors |= self.optimizers.tensors()
        if self.average is not None:
            tensors |= checkpoint.add_prefix("average.", self.average.state_dict())
        tensors |= _by_rank(distributed.gather(self.changing_tensors()))
        make_lasting = self.lasting_tensors()
        if distributed.size() > 1:
            lasting = _by_rank(distributed.gather(make_lasting()))
            make_lasting = partial(dict, lasting)
        meta = {
            "config": self.config.to_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
            **self._shape(),
            **self._history(),
        }
        if distributed.rank() > 0:
            return
        if self._writing is not None:
            self._writing.result()
        copies = {name: tensor.detach().clone() for name, tensor in tensors.items()}

        def write() -> None:
            checkpoint.save_tensors(folder / STATE_FILE, copies | make_lasting(), meta)
            saved()

        self._writing = self._writer.submit(write)
        if wait:
            self._writing.result()

    def _shape(self) -> dict[str, int]:
        """Returns the numbers of workers' parts and of processes that share the games."""
        parts = 0
        if isinstance(self.play, SelfPlayWorkers):
            parts = self.play.parts
        return {"parts": parts, "processes": distributed.size()}

    def _history(self) -> dict[str, Any]:
        """Returns `changes` and `contents`, each if there are any."""
        history: dict[str, Any] = {}
        if self.changes:
            history["changes"] = self.changes
        if self.contents:
            history["contents"] = self.contents
        return history

    def load(self, folder: Path) -> Changes:
        """Restores the state that `save` wrote.

        Returns:
            The fields of the configuration that differ from those of the saved run, and the agents
            and files of these fields that have changed. Fields that are newer than the file count
            as defaults there.

        Raises:
            ValueError: The file is damaged, or the run can't go on with a field that differs.
        """
        path = folder / STATE_FILE
        tensors, meta = distributed.scatter(lambda: _shares(path))
        changes = self._check_meta(path, meta)
        self._check_tensors(path, tensors)
        try:
            self.network.load_state_dict(checkpoint.strip_prefix("network.", tensors))
            self.optimizers.load(tensors)
            if self.average is not None:
                self.average.load_state_dict(checkpoint.strip_prefix("average.", tensors))
            self.iteration = meta["iteration"]
            self.seconds = meta["seconds"]
            self.restore(tensors)
        except KeyError as error:
            raise ValueError(f"{path} is damaged: it has no {error}") from error
        except (ValueError, RuntimeError, TypeError, IndexError) as error:
            raise ValueError(f"{path} is damaged: {error}") from error
        self.changes = meta.get("changes", [])
        if changes:
            self.changes = [*self.changes, {"steps": self.steps, "fields": changes}]
        return changes

    def _check_meta(self, path: Path, meta: Mapping[str, Any]) -> Changes:
        """Returns the changes since the saved run; ValueError if it can't go on with them."""
        required = ("config", "iteration", "seconds", "parts", "processes")
        check_keys(str(path), meta, required, ("changes", "contents"))
        integer(f"{path}: parts", meta["parts"], 0, self.config.num_envs)
        if isinstance(self.play, SelfPlayWorkers) and self.config.parts is None and meta["parts"]:
            self.play.split(meta["parts"])  # the number of workers may have changed
        sequence(f"{path}: changes", meta.get("changes", []), 0, 10**6)
        try:
            saved = read_config(meta["config"])
            before = flat(saved.to_dict()) | {name: meta[name] for name in self._shape()}
            before |= mapping("contents", meta.get("contents", self.contents))
            now = flat(self.config.to_dict()) | self._shape() | self.contents
            changes = find_changes(before, now)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error
        last = -(-saved.total_steps // self._plies)
        done = integer(f"{path}: iteration", meta["iteration"], 0, last) * self._plies
        if self.config.total_steps <= done - self._plies:
            total = self.config.total_steps
            raise ValueError(f"{path}: total_steps: {total}, but the run has {done} steps already")
        real(f"{path}: seconds", meta["seconds"], 0, 1e12)
        return changes

    def _check_tensors(self, path: Path, tensors: Mapping[str, Tensor]) -> None:
        """Raises ValueError unless names, shapes, dtypes and values of the tensors fit the run."""
        checkpoint.finite(path, tensors)
        network = checkpoint.strip_prefix("network.", tensors)
        checkpoint.fitting(path, network, self.network.state_dict(), "the network")
        average: Mapping[str, Tensor] = {}
        if self.average is not None:
            average = self.average.state_dict()
        checkpoint.fitting(path, checkpoint.strip_prefix("average.", tensors), average, "the run")
        self.optimizers.check(path, tensors)
        for name, expected in self.tensors().items():
            if name not in tensors:
                raise ValueError(f"{path} has no tensor {name}, unlike the run")
            tensor = tensors[name]
            fits = tensor.shape == expected.shape
            if name.startswith(self.growing):
                fits = tensor.shape[1:] == expected.shape[1:]
            if tensor.dtype != expected.dtype or not fits:
                raise ValueError(
                    f"{path}: {name} is {tensor.dtype}{list(tensor.shape)}, not "
                    f"{expected.dtype}{list(expected.shape)}"
                )

    def publish(self, folder: Path, strength: list[dict[str, Any]]) -> None:
        """Writes the trained policy's checkpoint, with its measured strength on the card."""
        config = self.config
        trained = {
            "algorithm": config.algorithm,
            "config": config.to_dict(),
            "steps": self.steps,
            "seconds": round(self.seconds, 1),
            "machine": self.machine,
            **self._shape(),
            **self._history(),
            "torch": torch.__version__,
        }
        if config.initial_checkpoint is not None:
            start = checkpoint.load_card(find_checkpoint(config.initial_checkpoint))
            trained["initial_checkpoint"] = start.get("trained", {})
        weight = config.score_margin_weight  # of the value targets
        if isinstance(weight, Schedule):
            weight = weight.at(self.progress)
        card = {
            "views": config.views,
            "temperature": config.temperature,
            "score_margin_weight": weight,
            "min_value_range": getattr(config, "min_value_range", None),
            "network": {"kind": config.network, "width": config.width, "blocks": config.blocks},
            "trained": trained,
            "strength": strength,
        }
        checkpoint.save_checkpoint(folder, self.agent().network, self.game, card)


def _by_rank(shares: Sequence[dict[str, Tensor]]) -> dict[str, Tensor]:
    """Returns the tensors of all processes, with the ranks above 0 before their names."""
    tensors: dict[str, Tensor] = {}
    for rank, share in enumerate(shares):
        prefix = f"rank{rank}." if rank else ""
        tensors |= checkpoint.add_prefix(prefix, share)
    return tensors


def _shares(path: Path) -> list[tuple[dict[str, Tensor], dict[str, Any]]]:
    """Returns each process's part of a saved run: common tensors, its own games and samples."""
    tensors, meta = checkpoint.load_tensors(path)
    shared = ("network.", "average.", *STATES)
    common = {name: tensor for name, tensor in tensors.items() if name.startswith(shared)}
    prefixes = [f"rank{rank}." for rank in range(1, distributed.size())]
    others = [common | checkpoint.strip_prefix(prefix, tensors) for prefix in prefixes]
    return [(share, meta) for share in (tensors, *others)]
