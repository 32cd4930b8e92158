"""AlphaZero self-play on the workers of an executor."""

from functools import partial

import torch
from torch import nn

from linkzoo import Game, get_game
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.networks.flat import frozen, make_network
from linkzoo_training.runtime import use_bf16
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.replay import ReplayGames, Samples, join, samples_of
from linkzoo_training.selfplay.workers import (
    SelfPlayWorker,
    SelfPlayWorkers,
    Task,
    Tensors,
    part_of,
)


class ReplayWorker(SelfPlayWorker[ReplayGames]):
    """Plays any of the `parts` parts of a run's games."""

    def __init__(self, config: AlphaZeroConfig, parts: int) -> None:
        self._config, self._parts, self._device = config, parts, torch.device("cpu")
        self._game = get_game(config.game, config.options)
        network = make_network(self._game, config.network, config.width, config.blocks)
        pool = OpponentPool(config.pool.size, config.seed)
        super().__init__(frozen(network, use_bf16(config.precision, self._device)), pool)

    def begin(self, part: int) -> ReplayGames:
        """Returns the games of a part at the start of the run."""
        return ReplayGames(part_of(self._config, part, self._parts), self._game, self._device)

    def collect(self, games: ReplayGames, task: Task, sent: Tensors) -> Tensors:
        """Plays an iteration; returns its samples."""
        numbers = int(sent["simulations"]), task.progress, task.iteration
        return games.collect(self.network, self.pool, *numbers).tensors()


class ReplayWorkers(SelfPlayWorkers):
    """Drop-in for ReplayGames on workers; searches use the network of the previous iteration."""

    def __init__(self, config: AlphaZeroConfig, game: Game, executor: Executor) -> None:
        part_of(config, 0, executor.workers)  # raises if a part can't be made
        make = partial(ReplayWorker, config, executor.workers)
        super().__init__(executor, make, game.max_players)
        self.game = game

    def collect(
        self,
        network: nn.Module,
        pool: OpponentPool,
        simulations: int,
        progress: float,
        iteration: int,
    ) -> Samples:
        """Returns the samples of an iteration."""
        more = {"simulations": torch.tensor(simulations)}
        parts = self.exchange(network, pool, progress, iteration, more)
        return join([samples_of(part, self.game) for part in parts])
