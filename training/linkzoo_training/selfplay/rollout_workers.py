"""The games that PPO learns from, on the workers of an executor."""

from collections.abc import Mapping
from dataclasses import fields
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import PPOConfig
from linkzoo_training.networks import Critic, frozen, make_network
from linkzoo_training.runtime import use_bf16
from linkzoo_training.selfplay.executors import NOTHING, Executor
from linkzoo_training.selfplay.initial_states import ITSELF
from linkzoo_training.selfplay.opponent_pool import OpponentPool, snapshots
from linkzoo_training.selfplay.rollout import Batch, RolloutGames
from linkzoo_training.selfplay.workers import SelfPlayWorker, SelfPlayWorkers, Tensors, part_of
from linkzoo_training.transfers import to_device


class RolloutWorker(SelfPlayWorker[RolloutGames]):
    """Plays any of `parts` parts of a run's games."""

    def __init__(self, config: PPOConfig, parts: int) -> None:
        super().__init__()
        self._config, self._parts, self._device = config, parts, torch.device("cpu")
        game, size = get_game(config.game, config.options), (config.width, config.blocks)
        bf16 = use_bf16(config.precision, self._device)
        self._network = frozen(make_network(game, config.network, *size), bf16)
        self._critic = frozen(Critic(game, *size), bf16) if config.critic == "full" else None
        self._pool = OpponentPool(config.pool.size, config.seed)

    def begin(self, part: int) -> RolloutGames:
        """See SelfPlayWorker."""
        games = RolloutGames(part_of(self._config, part, self._parts), self._device)
        games.begin()
        return games

    def collect(self, games: RolloutGames, sent: Tensors, kept: Mapping[str, bytes]) -> Tensors:
        """See SelfPlayWorker; the batch, and the results against the pool and against itself."""
        pool, (progress, iteration, left) = self._pool, sent["numbers"].tolist()
        self._network.load_state_dict(under("network.", sent))
        if self._critic is not None:
            self._critic.load_state_dict(under("critic.", sent))
        pool.receive(sent, kept, self._network)
        games.drop_opponent(int(left), progress)
        before = pool.wins.copy(), pool.games.copy()
        games.wins[:] = 0
        batch = games.collect(self._network, self._critic, pool, progress, int(iteration))
        return named("batch.", vars(batch)) | {
            "wins": torch.from_numpy(games.wins.copy()),
            "pool": torch.from_numpy(np.stack([pool.wins - before[0], pool.games - before[1]])),
        }


class RolloutWorkers(SelfPlayWorkers):
    """Stands where RolloutGames does: batches are of the network of one iteration ago.

    Their probabilities are those with which the actions were drawn, so PPO's ratios are right.
    """

    def __init__(self, config: PPOConfig, device: torch.device, executor: Executor) -> None:
        if config.env_device == "cuda":
            raise ValueError("env_device: cuda, but workers play on CPUs")
        part_of(config, 0, executor.workers)  # raises if there is none
        super().__init__(executor, partial(RolloutWorker, config, executor.workers))
        self.device = device
        self.wins = np.zeros(max(config.players))  # see RolloutGames
        self._left = ITSELF

    def drop_opponent(self, slot: int, progress: float) -> None:  # noqa: ARG002 - see RolloutGames
        """Games against the opponent that gave up a slot are left unfinished, by the next tasks."""
        self._left = slot

    def collect(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        pool: OpponentPool,
        progress: float,
        iteration: int,
    ) -> Batch:
        """An iteration's plies; the workers play the next one's while the learner learns."""
        if not self.playing:
            self._send(network, critic, pool, progress, iteration)
        results = self.receive()
        won, met = torch.stack([result["pool"] for result in results]).sum(0).numpy()
        if self._left != ITSELF:  # these were of the opponent before
            won[self._left] = met[self._left] = 0
        pool.wins += won
        pool.games += met
        self.wins += torch.stack([result["wins"] for result in results]).sum(0).numpy()
        self._send(network, critic, pool, progress, iteration + 1)

        def joined(name: str) -> Tensor:
            whole = torch.cat([result[f"batch.{name}"] for result in results])
            return to_device(whole, self.device)

        return Batch(**{field.name: joined(field.name) for field in fields(Batch)})

    def load(self, saved: Tensors, kept: Mapping[str, bytes] = NOTHING) -> None:
        """See SelfPlayWorkers; the pool is the trainer's as it was saved."""
        super().load(saved, kept or snapshots(saved))

    def _send(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        pool: OpponentPool,
        progress: float,
        iteration: int,
    ) -> None:
        critic_state = {} if critic is None else critic.state_dict()
        numbers = torch.tensor([progress, iteration, self._left], dtype=torch.float64)
        self.send(
            {
                "numbers": numbers,
                **named("network.", network.state_dict()),
                **named("critic.", critic_state),
                **pool.results(),
            },
            pool.snapshots(),
        )
        self._left = ITSELF
