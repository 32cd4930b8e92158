"""The games that AlphaZero learns from, on the workers of an executor."""

from collections.abc import Mapping
from functools import partial

import numpy as np
import torch
from torch import nn

from linkzoo import Game, get_game
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import AlphaZeroConfig
from linkzoo_training.networks import frozen, make_network
from linkzoo_training.runtime import use_bf16
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.replay import ReplayGames, Samples, join, samples_of
from linkzoo_training.selfplay.workers import SelfPlayWorker, SelfPlayWorkers, Tensors, part_of


class ReplayWorker(SelfPlayWorker[ReplayGames]):
    """Plays any of `parts` parts of a run's games."""

    def __init__(self, config: AlphaZeroConfig, parts: int) -> None:
        super().__init__()
        self._config, self._parts, self._device = config, parts, torch.device("cpu")
        self._game = get_game(config.game, config.options)
        network = make_network(self._game, config.network, config.width, config.blocks)
        self._network = frozen(network, use_bf16(config.precision, self._device))

    def begin(self, part: int) -> ReplayGames:
        """See SelfPlayWorker."""
        return ReplayGames(part_of(self._config, part, self._parts), self._game, self._device)

    def collect(
        self,
        games: ReplayGames,
        sent: Tensors,
        kept: Mapping[str, bytes],  # noqa: ARG002 - see SelfPlayWorker
    ) -> Tensors:
        """See SelfPlayWorker; the samples, and the results of games from an initial state."""
        self._network.load_state_dict(under("network.", sent))
        simulations, progress = sent["numbers"].tolist()
        games.wins[:] = 0
        samples = games.collect(self._network, int(simulations), progress)
        return {"wins": torch.from_numpy(games.wins.copy()), **samples.tensors()}


class ReplayWorkers(SelfPlayWorkers):
    """Stands where ReplayGames does: searches are with the network of one iteration ago."""

    def __init__(self, config: AlphaZeroConfig, game: Game, executor: Executor) -> None:
        part_of(config, 0, executor.workers)  # raises if there is none
        super().__init__(executor, partial(ReplayWorker, config, executor.workers))
        self.game, self.wins = game, np.zeros(game.max_players)  # see ReplayGames

    def collect(self, network: nn.Module, simulations: int, progress: float) -> Samples:
        """An iteration's samples; the workers search the next one's while the learner learns."""
        numbers = torch.tensor([simulations, progress], dtype=torch.float64)
        message = {"numbers": numbers, **named("network.", network.state_dict())}
        if not self.playing:
            self.send(message)
        results = self.receive()
        self.send(message)
        self.wins += torch.stack([result["wins"] for result in results]).sum(0).numpy()
        return join([samples_of(result, self.game) for result in results])
