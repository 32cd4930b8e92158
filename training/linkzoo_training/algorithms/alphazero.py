"""Gumbel AlphaZero (Danihelka et al. 2022) for any game, from top to bottom.

Each iteration plays `horizon` plies of `num_envs` self-play games; every move is chosen by a search
of `simulations` with the network. Every position of a finished game becomes a sample: the policy
learns the improved policy of the search, and the values learn the outcome mixed with the value of
the search. A sample stays in a window of iterations and is trained on a fixed number of times, each
time through one of the game's symmetries. With hidden information this is expert iteration (Anthony
et al., "Thinking fast and slow with deep learning and tree search", 2017): search, policy and
values use only the observations of the seat to act (`search.gumbel`). Samples store complete
states, but the network reads only the observation and the action mask of the seat to act, and
learns to predict the outcome from them.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.core.kernels import kernels, observations
from linkzoo.engine.rng import STREAM_ORDER, permutation
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.muon import Muon
from linkzoo_training.algorithms.optimizers import Optimizers, light
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.arrays import Float32s, Int64s, relative
from linkzoo_training.checkpoints.checkpoint import add_prefix, strip_prefix
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import decayed, frozen, masked, split_hidden
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import to_device
from linkzoo_training.runtime import training_clock
from linkzoo_training.selfplay import replay
from linkzoo_training.selfplay.asynchronous import AsynchronousWorkers
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.replay import ReplayGames, Samples
from linkzoo_training.selfplay.workers import SelfPlayWorkers

_MAX_BATCHES = 2**20  # per iteration
_MAX_GRAD_NORM = 1.0
WEIGHT_DECAY = 1e-4  # of both optimisers, on weights only
_SEARCH_SHARE = 0.5  # of the search's value in the value target, beside the outcome
_LOSSES = ("loss/policy", "loss/value", "entropy")  # means over the batches


class Batch(NamedTuple):
    """M samples as tensors, each seen through a random symmetry."""

    features: Tensor  # [M, F]
    mask: Tensor  # [M, A]
    policy: Tensor  # [M, A]: targets
    values: Tensor  # [M, P]: targets, relative to the seat to act


class AlphaZeroTrainer(Trainer):
    """One run: its network, games, samples and counters. `iterate` is the algorithm."""

    config: AlphaZeroConfig
    play: ReplayGames | SelfPlayWorkers[Samples]
    growing = ("window.", "play.kept.")

    def __init__(self, config: AlphaZeroConfig, executor: Executor | None = None) -> None:
        super().__init__(config)
        games = distributed.per_rank(config)
        if executor is None:
            if config.asynchronous:
                raise ValueError("asynchronous: needs workers: --executor processes or ray")
            self.play = ReplayGames(games, self.game, self.device)
        elif config.asynchronous:
            self.play = AsynchronousWorkers(games, executor, self._join)
        else:
            self.play = SelfPlayWorkers(games, executor, self._join)
        self.parameters = list(self.network.parameters())
        hidden, others = split_hidden(self.network)
        rate = config.learning_rate.first
        adam = light(torch.optim.AdamW)(decayed(others, WEIGHT_DECAY), lr=rate, fused=True)
        muon = light(Muon)(hidden, rate, weight_decay=WEIGHT_DECAY, bf16=self.bf16)
        self.optimizers = Optimizers(muon=muon, adam=adam)
        distributed.broadcast_weights(self.parameters)
        self.behaviour_policy = frozen(self.network, self.bf16)
        self.window: list[Samples] = []  # one per iteration, the oldest first

    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""
        started = self.begin_iteration()
        simulations = self.config.simulations_at(self.progress)
        self.add_opponent()
        # Self-play by search
        samples = self.play.collect(self.behaviour_policy, self.pool, self.progress, self.iteration)
        self.window = [*self.window, samples][-self.config.window :]
        played = training_clock() - started
        # Losses and steps
        losses = self.learn(self.samples_for_iteration())
        self.end_iteration()
        self.behaviour_policy = frozen(self.network, self.bf16)
        # Logs
        spent = training_clock() - started
        play = {"simulations": simulations, "time playing": played / spent, "samples": len(samples)}
        if isinstance(self.play, AsynchronousWorkers):
            play["staleness p95"] = float(np.percentile(self.play.staleness, 95))
            play["parts dropped"] = self.play.dropped
            play["learner plays"] = self.play.played / spent
            self.play.dropped = 0
            self.play.played = 0.0
        return self.common_metrics(spent) | play | losses

    def _join(self, parts: list[dict[str, Tensor]]) -> Samples:
        return replay.join([replay.samples_of(part, self.game) for part in parts])

    def samples_for_iteration(self) -> Samples:
        """Returns this iteration's samples: each is used in `reuse` of `window` iterations."""
        period = self.config.window // self.config.reuse
        newest = len(self.window) - 1
        parts = [part[(newest - k) % period :: period] for k, part in enumerate(self.window)]
        return replay.join(parts)

    def learn(self, samples: Samples) -> dict[str, float]:
        """Takes gradient steps on samples, each used once; returns the mean losses."""
        config = self.config
        self.optimizers.set_learning_rate(config.learning_rate.at(self.progress))
        losses: list[Tensor] = []
        for index, rows in enumerate(self._minibatches(len(samples))):
            if isinstance(self.play, AsynchronousWorkers):
                self.play.refresh()
            loss = partial(self._loss, self._batch(samples[rows], index))
            losses.append(shards.backward(loss, len(rows), self.parameters))
            distributed.average_gradients(self.parameters, len(rows))
            nn.utils.clip_grad_norm_(self.parameters, _MAX_GRAD_NORM)
            self.optimizers.step()
        return distributed.average_metrics(_LOSSES, losses)

    def _minibatches(self, count: int) -> list[Int64s]:
        """Shuffles `count` rows into minibatches, equally many on all ranks."""
        order = permutation(count, self.config.seed, STREAM_ORDER, self.iteration)
        fewest = min(distributed.all_gather(count))
        if not fewest:
            return []
        return np.array_split(order, max(1, round(fewest / self.config.batch_size)))

    def _batch(self, samples: Samples, index: int) -> Batch:
        """Returns samples as batch `index` of the iteration, through random symmetries."""
        count = len(samples)
        game = self.game
        # Inputs and policy targets
        mask = np.empty((count, game.num_actions), np.int8)
        kernels(game).fill_masks(samples.states, mask)
        flat = observations(game, samples.states, samples.states["seat"].copy())
        features = self.network.encoding.encode(samples.states, mask, flat)
        policy = samples.policy.astype(np.float32)
        policy /= policy.sum(1, keepdims=True)
        if self.config.symmetric:
            ply = self.iteration * _MAX_BATCHES + index
            group = symmetries(game)
            symmetry = group.draw(count, np.uint64(self.config.seed), ply)
            group.turn_features(features, symmetry)
            group.turn_actions(mask, symmetry)
            group.turn_actions(policy, symmetry)
        arrays = (features, mask, policy, self.targets(samples))
        return Batch(*(to_device(array, self.device) for array in arrays))

    def targets(self, samples: Samples) -> Float32s:
        """Returns value targets of M samples, [M, P], relative to the seat to act.

        They are means of the outcome and the value of the search.
        """
        payoff = np.zeros_like(samples.values)
        margins = np.zeros_like(samples.values)
        kernels(self.game).outcome(samples.finals, payoff, margins)
        payoff += self.config.score_margin_weight * margins
        share = np.float32(_SEARCH_SHARE)
        values = (1 - share) * payoff + share * samples.values
        return relative(values, samples.states["seat"], samples.states["num_players"])

    def _loss(self, batch: Batch, shard: slice) -> tuple[Tensor, Tensor]:
        """Returns the loss of a shard of a batch and the terms _LOSSES, [3]."""
        batch = Batch(*(tensor[shard] for tensor in batch))
        # Forward pass
        with self.autocast():
            logits, values = shards.padded_forward(self.network, batch.features)
        log_policy = torch.log_softmax(masked(logits, batch.mask), -1)
        policy = torch.softmax(log_policy, -1)  # exp() is slow where actions are illegal
        entropy = -(policy * log_policy).sum(-1).mean()
        # Policy loss, KL(improved policy || policy), and value loss
        gain = batch.policy.clamp(min=1e-30).log() - log_policy
        policy_loss = (batch.policy * gain).sum(-1).mean()
        value_loss = (values.float() - batch.values).square().mean()
        terms = torch.stack([policy_loss, value_loss, entropy]).detach()
        return policy_loss + value_loss, terms

    def changing_tensors(self) -> dict[str, Tensor]:
        """Returns the game states."""
        saved = self.play.tensors()
        if self.config.pool.share:
            saved |= self.pool.tensors()
        return saved

    def lasting_tensors(self) -> Callable[[], dict[str, Tensor]]:
        """Returns a function that joins the samples of the window, which are never changed."""
        parts = self.window

        def join() -> dict[str, Tensor]:
            sizes = torch.tensor([len(part) for part in parts], dtype=torch.int64)
            samples = replay.join([replay.no_samples(self.game), *parts])
            return add_prefix("window.", {"sizes": sizes, **samples.tensors()})

        return join

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores the tensors of `tensors`."""
        self.behaviour_policy = frozen(self.network, self.bf16)
        self.play.load(saved)
        if self.config.pool.share:
            self.pool.load(saved, self.behaviour_policy)
        samples = replay.samples_of(strip_prefix("window.", saved), self.game)
        sizes = saved["window.sizes"]
        if (sizes < 0).any() or sizes.sum() != len(samples):
            raise ValueError(f"window.sizes: {sizes.tolist()} for {len(samples)} samples")
        ends = np.cumsum(sizes.numpy())
        starts = ends - sizes.numpy()
        self.window = [samples[a:b] for a, b in zip(starts, ends, strict=True)]
