"""Gumbel AlphaZero (Danihelka et al. 2022) for any game, from top to bottom.

Each iteration plays `horizon` plies of `num_envs` self-play games; every move is chosen by a search
of `simulations` with the network. Every position of a finished game becomes a sample: the policy
learns the improved policy of the search, the values learn the outcome mixed with the value of the
search, and auxiliary heads learn the final position, which improves the features. A sample stays in
a window of iterations and is trained on a fixed number of times, each time through one of the
game's symmetries. With hidden information this is expert iteration (Anthony et al., "Thinking fast
and slow with deep learning and tree search", 2017): search, policy and values use only what the
seat to act observes (`search.gumbel`). Samples store complete states, but the network reads only
the observation and the action mask of the seat to act, and learns to predict the outcome from them.
"""

import time
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo.core.features import FeatureMap
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ORDER, permutation
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.muon import Muon
from linkzoo_training.algorithms.optimizers import Optimizers
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoints.checkpoint import named, under
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.config.schedule import at
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import AuxiliaryHeads, decayed, masked, split_hidden
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import to_device
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.replay import (
    ReplayGames,
    Samples,
    join,
    no_samples,
    samples_of,
)
from linkzoo_training.selfplay.replay_workers import ReplayWorkers

_MOST_BATCHES = 2**20  # per iteration
_AUXILIARY_WEIGHT = 0.2
_MAX_GRAD_NORM = 1.0


class Batch(NamedTuple):
    """M samples as tensors, each seen through a random symmetry."""

    features: Tensor  # [M, F]
    mask: Tensor  # [M, A]
    policy: Tensor  # [M, A]: targets
    values: Tensor  # [M, P]: targets, relative to the seat to act
    margins: Tensor  # [M, P]: final score margins, relative to the seat to act
    planes: Tensor  # [M, C * H * W]: final board


@dataclass(frozen=True)
class AlphaZeroLosses:
    """Means over the batches of one iteration."""

    policy: float  # KL(improved policy || policy)
    value: float
    auxiliary: float
    entropy: float


class AlphaZeroTrainer(Trainer):
    """One run: its network, games, samples and counters. `iterate` is the algorithm."""

    growing = ("window.", "play.kept.")

    def __init__(self, config: AlphaZeroConfig, executor: Executor | None = None) -> None:
        super().__init__(config, executor)
        self.config, self.least_range = config, config.least_range
        games = distributed.own(config)
        self.play: ReplayGames | ReplayWorkers = (
            ReplayGames(games, self.game, self.device)
            if executor is None
            else ReplayWorkers(games, self.game, executor)
        )
        self.map = FeatureMap(self.game.observation.spec)
        self.auxiliary = AuxiliaryHeads(self.network).to(self.device)
        self.learned = [*self.network.parameters(), *self.auxiliary.parameters()]
        hidden, others = split_hidden(self.network, self.auxiliary)
        rate, decay = config.learning_rate.first, config.weight_decay
        self.optimizers = Optimizers(
            muon=Muon(hidden, rate, weight_decay=decay),
            adam=torch.optim.AdamW(decayed(others, decay), lr=rate, fused=True),
        )
        distributed.begin_equal(self.learned)
        self.behaviour_policy = self.frozen(self.network)
        self.window: list[Samples] = []  # one per iteration, the oldest first

    @property
    def score_margin_weight(self) -> float:
        """Score-margin weight of the value targets."""
        return self.config.score_margin_weight

    @property
    def simulations(self) -> int:
        """Simulations per move at this point of the run."""
        steps = self.config.simulations
        return steps[min(int(self.progress * len(steps)), len(steps) - 1)]

    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""
        started, simulations = time.perf_counter(), self.simulations
        self.add_opponent()
        numbers = simulations, self.progress, self.iteration
        samples = self.play.collect(self.behaviour_policy, self.pool, *numbers)
        self.window = [*self.window, samples][-self.config.window :]
        played = time.perf_counter() - started
        losses = self.learn(self.due())
        self.learned_once()
        self.behaviour_policy = self.frozen(self.network)
        spent = time.perf_counter() - started
        return {
            **self.progressed(spent),
            "simulations": simulations,
            "time playing": played / spent,
            "samples": len(samples),
            "loss/policy": losses.policy,
            "loss/value": losses.value,
            "loss/auxiliary": losses.auxiliary,
            "entropy": losses.entropy,
        }

    def due(self) -> Samples:
        """Returns this iteration's samples: each is used in `reuse` of `window` iterations."""
        period = self.config.window // self.config.reuse
        newest = len(self.window) - 1
        return join([part[(newest - k) % period :: period] for k, part in enumerate(self.window)])

    def _batch(self, samples: Samples, index: int) -> Batch:
        """Returns samples as batch `index` of the iteration, through random symmetries."""
        count, game, kernel = len(samples), self.game, kernels(self.game)
        seat = samples.states["seat"].copy()
        # Inputs and policy targets
        mask = np.empty((count, game.num_actions), np.int8)
        kernel.fill_masks(samples.states, mask)
        features, final = self._seen(samples.states, seat), self._seen(samples.finals, seat)
        policy = samples.policy.astype(np.float32)
        policy /= policy.sum(1, keepdims=True)
        if self.config.symmetric:
            ply = self.iteration * _MOST_BATCHES + index
            every = symmetries(game)
            which = every.draw(count, np.uint64(self.config.seed), ply)
            every.turn(features, mask, which)
            every.turn_features(final, which)
            every.turn_actions(policy, which)
        values, margins = self.targets(samples)
        board = 0 if self.map.board is None else int(np.prod(self.map.board))
        arrays = (
            features,
            mask,
            policy,
            values,
            margins,
            final[:, :board] * self.map.scale[:board],
        )
        return Batch(*(to_device(array, self.device) for array in arrays))

    def _seen(self, states: NDArray[Any], seats: NDArray[Any]) -> NDArray[Any]:
        """Returns the observations of seats [M] in records [M] as features [M, F]."""
        spec = self.game.observation.spec
        flat = np.empty((len(states), spec.size), spec.dtype)
        kernels(self.game).observe(states, seats, flat)
        return self.map(flat)

    def targets(self, samples: Samples) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Returns value and score-margin targets of M samples, [M, P], relative to the seat to act.

        Values mix the outcome with the value of the search (`root_share`).
        """
        payoff = np.zeros_like(samples.values)
        margins = np.zeros_like(payoff)
        kernels(self.game).outcome(samples.finals, payoff, margins)
        payoff += self.config.score_margin_weight * margins
        share = np.float32(self.config.root_share)
        values = (1 - share) * payoff + share * samples.values
        seat, players = samples.states["seat"].copy(), samples.states["num_players"]
        return relative(values, seat, players), relative(margins, seat, players)

    def _loss(self, batch: Batch, shard: slice) -> tuple[Tensor, Tensor]:
        """Returns the loss of a shard of a batch and the terms of AlphaZeroLosses, [4]."""
        batch = Batch(*(tensor[shard] for tensor in batch))
        # Forward pass
        kind = self.device.type, torch.bfloat16, self.bf16
        with torch.autocast(*kind, cache_enabled=False):  # threads would share the cache
            cells, pooled = self.network.read(batch.features)
            logits, values = self.network.answer(cells, pooled)
            margins, planes = self.auxiliary(cells, pooled)
        log_policy = torch.log_softmax(masked(logits, batch.mask), -1)
        entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
        # Policy, value and auxiliary losses
        gain = batch.policy.clamp(min=1e-30).log() - log_policy
        policy_loss = (batch.policy * gain).sum(-1).mean()
        value_loss = (values.float() - batch.values).square().mean()
        auxiliary_loss = (margins.float() - batch.margins).square().mean()
        if self.auxiliary.planes is not None:
            auxiliary_loss = auxiliary_loss + (planes.float() - batch.planes).square().mean()
        loss = policy_loss + value_loss + _AUXILIARY_WEIGHT * auxiliary_loss
        return loss, torch.stack([policy_loss, value_loss, auxiliary_loss, entropy]).detach()

    def learn(self, samples: Samples) -> AlphaZeroLosses:
        """Takes gradient steps on samples, each used once."""
        config = self.config
        self.optimizers.learning_rate(at(config.learning_rate, self.progress))
        order = permutation(len(samples), config.seed, STREAM_ORDER, self.iteration)
        fewest = distributed.fewest(len(order))
        parts = np.array_split(order, max(1, round(fewest / config.batch_size)))
        totals: list[Tensor] = []
        for index, rows in enumerate(parts if fewest else []):
            of_batch = partial(self._loss, self._batch(samples[rows], index))
            terms = shards.learn(of_batch, len(rows), self.learned)
            distributed.average_gradients(self.learned, len(rows))
            nn.utils.clip_grad_norm_(self.learned, _MAX_GRAD_NORM)
            self.optimizers.step()
            totals.append(terms)
        if not totals:
            return AlphaZeroLosses(0.0, 0.0, 0.0, 0.0)
        return AlphaZeroLosses(*distributed.average(torch.stack(totals).mean(0)).tolist())

    def tensors(self) -> dict[str, Tensor]:
        """Returns the auxiliary heads, the game states and the samples of the window."""
        saved = named("auxiliary.", self.auxiliary.state_dict())
        sizes = torch.tensor([len(part) for part in self.window], dtype=torch.int64)
        window = {"sizes": sizes, **join([no_samples(self.game), *self.window]).tensors()}
        pool = self.pool.tensors() if self.config.pool.share else {}
        return saved | self.play.tensors() | pool | named("window.", window)

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` returned."""
        self.auxiliary.load_state_dict(under("auxiliary.", saved))
        self.behaviour_policy = self.frozen(self.network)
        self.play.load(saved)
        if self.config.pool.share:
            self.pool.load(saved, self.behaviour_policy)
        samples, sizes = samples_of(under("window.", saved), self.game), saved["window.sizes"]
        if (sizes < 0).any() or sizes.sum() != len(samples):
            raise ValueError(f"window.sizes: {sizes.tolist()} for {len(samples)} samples")
        ends = np.cumsum(sizes.numpy())
        starts = ends - sizes.numpy()
        self.window = [samples[a:b] for a, b in zip(starts, ends, strict=True)]


def relative(
    numbers: NDArray[np.float32], seat: NDArray[Any], players: NDArray[Any]
) -> NDArray[np.float32]:
    """Rotates numbers [M, P] by seat so that `seat` [M] comes first; 0 beyond `players` [M]."""
    index = np.arange(numbers.shape[1])
    where = (seat[:, None].astype(np.int64) + index) % players[:, None]
    turned: NDArray[np.float32] = np.take_along_axis(numbers, where, 1)
    return np.where(index < players[:, None], turned, np.float32(0))
