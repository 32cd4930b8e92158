"""What every trainer is: a network, an optimiser and counters, which can be saved and resumed.

All randomness of a trainer is a function of the seed and of counters, so that a run which was
stopped goes on to the same weights as one that was not.
"""

import platform
from abc import ABC, abstractmethod
from copy import deepcopy
from pathlib import Path
from typing import Any, Protocol

import numba
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from linkzoo import Game, get_game
from linkzoo.batch import kernels
from linkzoo.vector import MAX_THREADS
from linkzoo_training import distributed
from linkzoo_training.agents import make_agent
from linkzoo_training.arena import MatchResult, play_match
from linkzoo_training.checkpoint import (
    PolicyAgent,
    load_card,
    load_tensors,
    load_weights,
    named,
    save_checkpoint,
    save_tensors,
    under,
)
from linkzoo_training.config import AnyConfig
from linkzoo_training.crew import Crew
from linkzoo_training.engine import Engine
from linkzoo_training.networks import Network, PolicyValueNet, frozen, make_network
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.runtime import find_device, use_bf16

STATE_FILE = "training.safetensors"


class Play(Protocol):
    """The games of a run, as far as all trainers have to do with them."""

    wins: NDArray[np.float64]  # by seat, in whole self-play games, since read


class Trainer(ABC):
    """One run. `iterate` is the algorithm; a subclass sets `optimizer` and `learned`."""

    optimizer: torch.optim.Optimizer
    play: Play
    iteration = 0
    seconds = 0.0  # of training, without evaluation

    def __init__(self, config: AnyConfig, engine: Engine | None = None) -> None:
        self._config = config
        self.workers = 0 if engine is None else engine.workers
        torch.set_flush_denormal(True)  # tiny weights and moments made the CPU 10 times slower
        self._threads = min(config.num_threads, MAX_THREADS)
        numba.set_num_threads(self._threads)
        self.game: Game = get_game(config.game, config.options)
        _start_threads(self.game)
        torch.set_num_threads(self._threads)  # after Numba's first threads, which reset it
        self.device = find_device(config.device)
        self.bf16 = use_bf16(config.precision, self.device)
        torch.manual_seed(config.seed)
        network = make_network(self.game, config.network, config.width, config.blocks)
        if config.start is not None:
            load_weights(network, find_checkpoint(config.start))
        self.network: PolicyValueNet = network.to(self.device)
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
        """Of an iteration."""
        return self._config.num_envs * self._config.horizon * distributed.size()

    @property
    def progress(self) -> float:
        """0 at the start, 1 at `total_steps`: what the schedules follow."""
        return min(1.0, self.steps / self._config.total_steps)

    @property
    def machine(self) -> str:
        """What the run runs on, for reports."""
        return f"{platform.machine()}, {self._threads} threads, {self.device}"

    @property
    def finished(self) -> bool:
        """Whether the budget of steps or of seconds is spent."""
        limit = self._config.max_seconds
        return self.progress >= 1.0 or (limit is not None and self.seconds >= limit)

    @property
    def eta(self) -> float:
        """Seconds to the end of the budget, at the speed so far."""
        left = self.seconds * (1 / max(self.progress, 1e-9) - 1)
        limit = self._config.max_seconds
        return left if limit is None else min(left, max(0.0, limit - self.seconds))

    @property
    @abstractmethod
    def margin_weight(self) -> float:
        """Of the score margin in the values that the network gives now."""

    @abstractmethod
    def iterate(self) -> dict[str, float]:
        """One iteration: play and learn. Returns its metrics."""

    def learned_once(self) -> None:
        """Counts an iteration, and takes its weights into the average."""
        self.iteration += 1
        if self.average is not None:
            self.average.update_parameters(self.network)

    def progressed(self, spent: float) -> dict[str, float]:
        """Counts the seconds of an iteration; what every trainer reports of it."""
        self.seconds += spent
        metrics = {
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "steps/s": self._plies / spent,
        }
        wins, self.play.wins = self.play.wins, np.zeros_like(self.play.wins)
        for seat, role in enumerate(self.game.seat_names):
            if wins.sum() > 0:
                metrics[f"self-play wins/{role}"] = wins[seat] / wins.sum()
        if isinstance(self.play, Crew):
            waited, self.play.waited = self.play.waited, 0.0
            metrics["learner idle"] = waited / spent
        return metrics

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """What is saved beside the network, the optimiser and the counters, by name."""

    @abstractmethod
    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave; the network and the optimiser are restored already."""

    def agent(self, views: int = 1, temperature: float | None = None) -> PolicyAgent:
        """The policy as it is now, or its average, as an agent."""
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
        """Matches of the policy (see `agent`) against each of `opponents`.

        There is one for each number of players.
        """
        return [
            play_match(
                self.game.name,
                self.agent(views, temperature),
                make_agent(opponent, self.game.name),
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
        """Writes everything that the run needs to go on exactly, of all processes into one file."""
        tensors = named("network.", self.network.state_dict())
        for index, entry in self.optimizer.state_dict()["state"].items():
            tensors |= named(f"adam.{index}.", entry)
        if self.average is not None:
            tensors |= named("average.", self.average.state_dict())
        first, *others = distributed.gathered(self.tensors())
        for rank, other in enumerate(others, 1):
            tensors |= named(f"rank{rank}.", other)
        meta = {
            "config": self._config.to_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
            **self._shape(),
        }
        if distributed.rank() == 0:
            save_tensors(folder / STATE_FILE, tensors | first, meta)

    def _shape(self) -> dict[str, int]:
        """What the games of a run are split among."""
        return {"workers": self.workers, "processes": distributed.size()}

    def load(self, folder: Path) -> None:
        """Goes on where `save` was; ValueError names what differs from then."""
        path, rank = folder / STATE_FILE, distributed.rank()
        tensors, meta = distributed.from_first(lambda: load_tensors(path))
        now = {**self._config.to_dict(), **self._shape()}
        before = {"workers": 0, "processes": 1, **meta["config"], **meta}
        budget = ("max_seconds",)
        different = [
            name
            for name in now
            if name not in budget and _plain(now[name]) != _plain(before.get(name))
        ]
        if different:
            name = different[0]
            raise ValueError(
                f"{path} was trained with {name}={before.get(name)!r}, not {now[name]!r}"
            )
        self.network.load_state_dict(under("network.", tensors))
        state = self.optimizer.state_dict()
        for index, parameter in enumerate(self.optimizer.param_groups[0]["params"]):
            entry = under(f"adam.{index}.", tensors)
            if entry:
                state["state"][index] = {n: _laid_out(v, parameter) for n, v in entry.items()}
        self.optimizer.load_state_dict(state)
        if self.average is not None:
            self.average.load_state_dict(under("average.", tensors))
        self.iteration, self.seconds = meta["iteration"], meta["seconds"]
        self.restore(under(f"rank{rank}.", tensors) if rank else tensors)

    def publish(self, folder: Path, strength: list[dict[str, Any]]) -> None:
        """Writes the trained policy's checkpoint, with what it achieved on its card."""
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
        if config.start is not None:
            trained["start"] = load_card(find_checkpoint(config.start))["trained"]
        card = {
            "views": config.views,
            "temperature": config.temperature,
            "margin_weight": self.margin_weight,
            "network": {"kind": config.network, "width": config.width, "blocks": config.blocks},
            "trained": trained,
            "strength": strength,
        }
        save_checkpoint(folder, self.agent().network, self.game, card)

    def frozen(self, network: Network) -> Network:
        """A copy that plays, in the precision of playing."""
        return frozen(network, self.bf16)


def _start_threads(game: Game) -> None:
    """Makes Numba start its threads."""
    first = np.zeros(1, game.state)
    first[:] = game.blank(None, {})
    kernels(game).begin(first, np.zeros(1, np.uint64), np.empty((1, game.num_actions), np.int8))


def _laid_out(value: Tensor, parameter: Tensor) -> Tensor:
    """A tensor of Adam's state with the memory layout of its parameter.

    The fused step walks through memory and doesn't look at strides.
    """
    like = value.shape == parameter.shape
    return torch.empty_like(parameter, requires_grad=False).copy_(value) if like else value


def _plain(value: Any) -> Any:
    """A value as JSON would give it back."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
