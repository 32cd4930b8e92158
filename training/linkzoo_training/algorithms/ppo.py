"""Self-play PPO (Schulman et al. 2017) for any game of linkzoo, from top to bottom.

One network plays all seats. Each iteration plays `horizon` plies of `num_envs` games, against
itself and against frozen snapshots, computes generalised advantages for every seat along each game,
and takes `epochs` passes of clipped policy-gradient steps over the plies of the learner.

"""

import time
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.cuda import require
from linkzoo_training.agents.make import make_agent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.optimizers import Optimizers
from linkzoo_training.algorithms.order import shuffled
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoints.checkpoint import named, under
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.config.schedule import at
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import Critic, FlatNet, masked
from linkzoo_training.networks.transfers import splits_on
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.encoder import sample_inputs
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.rollout import Batch, RolloutGames
from linkzoo_training.selfplay.rollout_workers import RolloutWorkers

_VALUE_WEIGHT = 0.5
_MAX_GRAD_NORM = 0.5


@dataclass(frozen=True)
class PPOLosses:
    """Means over the minibatches of one iteration."""

    policy: float
    value: float
    entropy: float
    approx_kl: float  # estimate of KL(old || new) (http://joschu.net/blog/kl-approx.html)
    clipfrac: float  # share of ratios outside the clip range


def begin_games(config: PPOConfig, device: torch.device) -> RolloutGames:
    """Creates the games of a new run.

    Raises:
        ImportError, RuntimeError, ValueError: `env_device` can't play them.
    """
    backend = HostBackend(device, splits_on(device))
    if config.env_device == "cuda":
        if device.type != "cuda":
            raise ValueError(f"env_device: cuda, but the networks are on {device} (see device)")
        require()
        from linkzoo_training.selfplay.cuda_backend import CudaBackend  # the extra `cuda`

        backend = CudaBackend(device)
    play = RolloutGames(config, backend)
    play.begin()
    return play


class PPOTrainer(Trainer):
    """One run: its network, games, pool and counters. `iterate` is the algorithm."""

    def __init__(self, config: PPOConfig, executor: Executor | None = None) -> None:
        super().__init__(config, executor)
        self.config = config
        games = distributed.own(config)
        self.play: RolloutGames | RolloutWorkers = (
            begin_games(games, self.device)
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
        """Score-margin weight of the value targets."""
        return at(self.config.score_margin_weight, self.progress)

    def _standardise(self) -> None:
        """Scales the inputs of new fully connected networks by their spread in weak play."""
        config, critic = self.config, self.critic
        network = self.network if isinstance(self.network, FlatNet) else None
        if config.initial_checkpoint is not None:
            network = None  # keeps the scales it was trained with
        if network is None and critic is None:
            return
        seen, hidden = sample_inputs(
            self.game,
            make_agent("random" if config.teacher is None else config.teacher.agent, config.game),
            config.players,
            config.options,
            config.seed,
            privileged=critic is not None,
        )
        if network is not None:
            network.trunk.standardise(seen)
        if critic is not None:
            critic.trunk.standardise(np.concatenate([seen, hidden], 1))

    def _freeze(self) -> None:
        """Makes the inference copies for self-play."""
        self.behaviour_policy = self.frozen(self.network)
        self.behaviour_critic = None if self.critic is None else self.frozen(self.critic)

    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""
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

    def _loss(
        self, batch: Batch, part: Tensor, advantage: Tensor, has_targets: bool, shard: slice
    ) -> tuple[Tensor, Tensor]:
        """Returns the loss of a shard of a minibatch and the terms of PPOLosses, [5].

        The minibatch consists of rows `part` [M] with normalised advantages [M].
        """
        config, progress = self.config, self.progress
        part, advantage = part[shard], advantage[shard]
        # Forward pass
        kind = self.device.type, torch.bfloat16, self.bf16
        with torch.autocast(*kind, cache_enabled=False):  # threads would share the cache
            logits, values = self.network(batch.features[part])
            if self.critic is not None:  # values of both are trained
                better = self.critic(batch.features[part], batch.privileged[part])
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
        # Imitation loss, at first the only policy loss
        if has_targets and config.teacher_weight(progress) > 0:
            imitation_loss = self._imitation_loss(log_policy, batch.teacher_targets[part])
            loss = loss + config.teacher_weight(progress) * imitation_loss
        if not (has_targets and config.only_imitates(progress)):
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

    def _imitation_loss(self, log_policy: Tensor, targets: Tensor) -> Tensor:
        """Returns the distance of the policy [M, A] from the teacher's targets.

        For moves [M], the cross-entropy. For action values [M, A], the KL divergence of the policy
        from softmax(values / temperature), up to a constant: linear in the values, so that their
        errors average out.
        """
        if targets.ndim == 1:
            return -log_policy.gather(1, targets[:, None]).mean()
        assert self.config.teacher is not None
        preferred = targets.float() / self.config.teacher.temperature
        return (log_policy.exp() * (log_policy - preferred)).sum(-1).mean()

    def learn(self, batch: Batch) -> PPOLosses:
        """Takes clipped policy-gradient steps on the learner's plies."""
        config = self.config
        self.optimizers.learning_rate(config.learning_rate_at(self.progress))
        rows = batch.learner.nonzero().squeeze(1)
        mean, deviation = distributed.mean_and_std(batch.advantage[rows])
        advantage = (batch.advantage - mean) / (deviation + 1e-8)
        has_targets = bool(batch.has_targets.all())  # a worker's batch may be older
        totals: list[Tensor] = []
        for epoch in range(config.epochs):
            passes = self.iteration * config.epochs + epoch
            order = rows[shuffled(len(rows), config.seed, passes, rows.device)]
            for part in distributed.minibatches(order, config.minibatches):
                of_part = partial(self._loss, batch, part, advantage[part], has_targets)
                terms = shards.learn(of_part, len(part), self.learned)
                distributed.average_gradients(self.learned, len(part))
                nn.utils.clip_grad_norm_(self.learned, _MAX_GRAD_NORM)
                self.optimizers.step()
                totals.append(terms)
        if not totals:
            return PPOLosses(0.0, 0.0, 0.0, 0.0, 0.0)
        return PPOLosses(*distributed.average(torch.stack(totals).mean(0)).tolist())

    def tensors(self) -> dict[str, Tensor]:
        """Returns the critic, the game states and the pool."""
        critic = {} if self.critic is None else self.critic.state_dict()
        return named("critic.", critic) | self.play.tensors() | self.pool.tensors()

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` returned."""
        if self.critic is not None:
            self.critic.load_state_dict(under("critic.", saved))
        self._freeze()
        self.play.load(saved)
        self.pool.load(saved, self.behaviour_policy)


def _explained(batch: Batch) -> float:
    """Returns the explained variance of the learner's lambda-returns, 1 at best."""
    rows = batch.learner
    returns, errors = batch.targets[rows, 0], batch.advantage[rows]
    return float(1 - errors.var() / returns.var().clamp(min=1e-12))
