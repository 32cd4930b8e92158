"""PPO rollouts on the workers of an executor."""

from dataclasses import fields
from functools import partial

import torch
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo_training.checkpoints.checkpoint import named, under
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks.flat import Critic, frozen, make_network
from linkzoo_training.networks.transfers import to_device
from linkzoo_training.runtime import use_bf16
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.rollout import Batch, RolloutGames
from linkzoo_training.selfplay.workers import (
    SelfPlayWorker,
    SelfPlayWorkers,
    Task,
    Tensors,
    part_of,
)


class RolloutWorker(SelfPlayWorker[RolloutGames]):
    """Plays any of the `parts` parts of a run's games."""

    def __init__(self, config: PPOConfig, parts: int) -> None:
        self._config, self._parts, self._device = config, parts, torch.device("cpu")
        game, size = get_game(config.game, config.options), (config.width, config.blocks)
        bf16 = use_bf16(config.precision, self._device)
        network = frozen(make_network(game, config.network, *size), bf16)
        super().__init__(network, OpponentPool(config.pool.size, config.seed))
        self._critic = frozen(Critic(game, *size), bf16) if config.critic == "full" else None

    def begin(self, part: int) -> RolloutGames:
        """Returns the games of a part at the start of the run."""
        games = RolloutGames(part_of(self._config, part, self._parts), HostBackend(self._device))
        games.begin()
        return games

    def collect(self, games: RolloutGames, task: Task, sent: Tensors) -> Tensors:
        """Plays an iteration; returns its batch."""
        if self._critic is not None:
            self._critic.load_state_dict(under("critic.", sent))
        numbers = task.progress, task.iteration
        return vars(games.collect(self.network, self._critic, self.pool, *numbers))


class RolloutWorkers(SelfPlayWorkers):
    """RolloutGames on workers: batches come from the network of the previous iteration.

    Their log-probabilities come from that network too, so PPO's ratios are correct.
    """

    def __init__(self, config: PPOConfig, device: torch.device, executor: Executor) -> None:
        if config.env_device == "cuda":
            raise ValueError("env_device: cuda, but workers play on CPUs")
        part_of(config, 0, executor.workers)  # raises if a part can't be made
        make = partial(RolloutWorker, config, executor.workers)
        super().__init__(executor, make, max(config.players))
        self.device = device

    def collect(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        pool: OpponentPool,
        progress: float,
        iteration: int,
    ) -> Batch:
        """Returns the batch of an iteration."""
        more = named("critic.", {} if critic is None else critic.state_dict())
        parts = self.exchange(network, pool, progress, iteration, more)

        def joined(name: str) -> Tensor:
            return to_device(torch.cat([part[name] for part in parts]), self.device)

        return Batch(**{field.name: joined(field.name) for field in fields(Batch)})
