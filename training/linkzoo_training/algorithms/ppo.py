"""Self-play PPO (Schulman et al. 2017) for any game of linkzoo, from top to bottom.

One network plays all seats. Each iteration plays `horizon` plies of `num_envs` games, against
itself and against frozen snapshots, computes generalised advantages for every seat along each game,
and takes `epochs` passes of clipped policy-gradient steps over the plies of the learner.

All randomness is a function of the seed and of counters, so that a run which was stopped and
resumed reaches the same weights as one that was not.
"""

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.cuda import require
from linkzoo_training import shards
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.optimizers import Optimizers
from linkzoo_training.algorithms.order import shuffled
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import PPOConfig
from linkzoo_training.networks import Critic, FlatNet, masked
from linkzoo_training.schedule import at
from linkzoo_training.selfplay.encoder import Encoder
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.rollout import Batch, RolloutGames
from linkzoo_training.selfplay.rollout_workers import RolloutWorkers
from linkzoo_training.transfers import splits_on

if TYPE_CHECKING:
    from linkzoo_training.selfplay.device_rollout import DeviceRolloutGames

_VALUE_WEIGHT = 0.5
_MAX_GRAD_NORM = 0.5


@dataclass(frozen=True)
class PPOLosses:
    """Means over the minibatches of one iteration."""

    policy: float
    value: float
    entropy: float
    approx_kl: float  # of the old policy from the new one (http://joschu.net/blog/kl-approx.html)
    clipfrac: float  # share of ratios outside the clip range


def begin_play(config: PPOConfig, device: torch.device) -> "RolloutGames | DeviceRolloutGames":
    """The games of a run at its start.

    ImportError, RuntimeError or ValueError if they can't be played on the device they are to be on.
    """
    if config.env_device == "cuda":
        if device.type != "cuda":
            raise ValueError(f"env_device: cuda, but the networks are on {device} (see device)")
        require()
        from linkzoo_training.selfplay.device_rollout import DeviceRolloutGames

        there = DeviceRolloutGames(config, device)
        there.begin()
        return there
    play = RolloutGames(config, device, splits_on(device))
    play.begin()
    return play


class PPOTrainer(Trainer):
    """One run: its network, games, pool and counters. `iterate` is the algorithm."""

    def __init__(self, config: PPOConfig, executor: Executor | None = None) -> None:
        super().__init__(config, executor)
        self.config = config
        games = distributed.own(config)
        self.play: RolloutGames | DeviceRolloutGames | RolloutWorkers = (
            begin_play(games, self.device)
            if executor is None
            else RolloutWorkers(games, self.device, executor)
        )
        self.critic: Critic | None = None
        self.learned = list(self.network.parameters())
        if config.critic == "full":
            self.critic = Critic(self.game, config.width, config.blocks).to(self.device)
            self.learned += self.critic.parameters()
        self._standardise()
        self.optimizers = Optimizers(
            adam=torch.optim.Adam(self.learned, lr=config.learning_rate.first, eps=1e-5, fused=True)
        )
        distributed.begin_equal(self.learned)
        self._freeze()

    @property
    def score_margin_weight(self) -> float:
        """That of the payoffs that the values have learned from."""
        return at(self.config.score_margin_weight, self.progress)

    def iterate(self) -> dict[str, float]:
        """One iteration: play, learn, perhaps freeze a snapshot. Returns its metrics."""
        started = time.perf_counter()
        self.add_opponent()
        batch = self.play.collect(
            self.behaviour_policy, self.behaviour_critic, self.pool, self.progress, self.iteration
        )
        losses = self.learn(batch)
        self.learned_once()
        self._freeze()
        return {
            **self.progressed(time.perf_counter() - started),
            "loss/policy": losses.policy,
            "loss/value": losses.value,
            "entropy": losses.entropy,
            "approx_kl": losses.approx_kl,
            "clipfrac": losses.clipfrac,
            "explained variance": _explained(batch),
        }

    def learn(self, batch: Batch) -> PPOLosses:
        """Clipped policy-gradient steps on the learner's plies."""
        config = self.config
        self.optimizers.learning_rate(config.learning_rate_at(self.progress))
        rows = batch.learner.nonzero().squeeze(1)
        mean, deviation = distributed.mean_and_std(batch.advantage[rows])
        advantage = (batch.advantage - mean) / (deviation + 1e-8)
        asked = bool(batch.asked.all())  # else the batch is of a time before the teacher's
        totals: list[Tensor] = []
        for epoch in range(config.epochs):
            passes = self.iteration * config.epochs + epoch
            order = rows[shuffled(len(rows), config.seed, passes, rows.device)]
            for part in distributed.minibatches(order, config.minibatches):
                of_part = partial(self._loss, batch, part, advantage[part], asked)
                terms = shards.learn(of_part, len(part), self.learned)
                distributed.average_gradients(self.learned, len(part))
                nn.utils.clip_grad_norm_(self.learned, _MAX_GRAD_NORM)
                self.optimizers.step()
                totals.append(terms)
        if not totals:
            return PPOLosses(0.0, 0.0, 0.0, 0.0, 0.0)
        return PPOLosses(*distributed.average(torch.stack(totals).mean(0)).tolist())

    def _loss(
        self, batch: Batch, part: Tensor, advantage: Tensor, asked: bool, shard: slice
    ) -> tuple[Tensor, Tensor]:
        """The loss of a shard of a minibatch, the rows `part` [M]; the terms of PPOLosses, [5].

        `advantage` [M] is normalised; `asked` is whether the teacher was asked.
        """
        config, progress = self.config, self.progress
        part, advantage = part[shard], advantage[shard]
        # What the network says now
        kind = self.device.type, torch.bfloat16, self.bf16
        with torch.autocast(*kind, cache_enabled=False):  # which threads would share
            logits, values = self.network(batch.features[part])
            if self.critic is not None:  # its values are the better ones, both learn
                better = self.critic(batch.features[part], batch.hidden[part])
                values = torch.stack([values, better])
        logits = masked(logits, batch.mask[part])
        log_policy = torch.log_softmax(logits, -1)
        # Policy loss and entropy
        log_probability = log_policy.gather(1, batch.action[part, None]).squeeze(1)
        log_ratio = log_probability - batch.log_probability[part]
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = -(torch.softmax(logits, -1) * log_policy).sum(-1).mean()
        # Value loss
        targets = batch.targets[part]
        errors = values.float()[..., : targets.shape[1]] - targets
        value_loss = 0.5 * errors.square().mean()
        loss = _VALUE_WEIGHT * value_loss
        # What the teacher said, alone at first
        if asked and config.teacher_weight(progress) > 0:
            lesson = self._lesson(log_policy, batch.taught[part])
            loss = loss + config.teacher_weight(progress) * lesson
        if not (asked and config.only_imitates(progress)):
            loss = loss + policy_loss - at(config.entropy, progress) * entropy
            if config.kl_coef > 0:
                away = log_policy - batch.log_policy[part]
                divergence = (torch.softmax(logits, -1) * away).sum(-1).mean()
                loss = loss + config.kl_coef * divergence
        with torch.no_grad():
            approx_kl = (ratio - 1 - log_ratio).mean()
            clipfrac = (ratio != clipped).float().mean()
            terms = torch.stack([policy_loss, value_loss, entropy, approx_kl, clipfrac])
        return loss, terms

    def _lesson(self, log_policy: Tensor, taught: Tensor) -> Tensor:
        """How far the policy [M, A] is from what the teacher said.

        The cross-entropy to its moves [M]. From what it says that actions are worth [M, A], the KL
        divergence of the policy from softmax(values / temperature), up to a constant: linear in the
        values, so that their errors average out.
        """
        if taught.ndim == 1:
            return -log_policy.gather(1, taught[:, None]).mean()
        assert self.config.teacher is not None
        preferred = taught.float() / self.config.teacher.temperature
        return (log_policy.exp() * (log_policy - preferred)).sum(-1).mean()

    def tensors(self) -> dict[str, Tensor]:
        """The critic, the games as they stand, and the pool."""
        critic = {} if self.critic is None else self.critic.state_dict()
        return named("critic.", critic) | self.play.tensors() | self.pool.tensors()

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        if self.critic is not None:
            self.critic.load_state_dict(under("critic.", saved))
        self._freeze()
        self.play.load(saved)
        self.pool.load(saved, self.behaviour_policy)

    def _standardise(self) -> None:
        """Scales what new fully connected networks read by how far it varies in weak play."""
        config, critic = self.config, self.critic
        network = self.network if isinstance(self.network, FlatNet) else None
        if config.initial_checkpoint is not None:
            network = None  # it has learned with the scales of its first run
        if network is None and critic is None:
            return
        seen, hidden = Encoder(self.game, hidden=critic is not None).sample_inputs(
            make_agent("random" if config.teacher is None else config.teacher.agent, config.game),
            config.players,
            config.options,
            config.seed,
        )
        if network is not None:
            network.trunk.standardise(seen)
        if critic is not None:
            critic.trunk.standardise(np.concatenate([seen, hidden], 1))

    def _freeze(self) -> None:
        """Makes the copies that play."""
        self.behaviour_policy = self.frozen(self.network)
        self.behaviour_critic = None if self.critic is None else self.frozen(self.critic)


def _explained(batch: Batch) -> float:
    """How much of the variance of the learner's lambda-returns the values explain; 1 is all."""
    rows = batch.learner
    returns, errors = batch.targets[rows, 0], batch.advantage[rows]
    return float(1 - errors.var() / returns.var().clamp(min=1e-12))
