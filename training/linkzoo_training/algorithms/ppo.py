"""Self-play PPO (Schulman et al. 2017) for any game of linkzoo, from top to bottom.

One network plays all seats. Each iteration plays `horizon` plies of `num_envs` games, against
itself and against frozen snapshots (`selfplay.rollout`), computes generalised advantages for every
seat along each game (`selfplay.gae`), and takes `epochs` passes of clipped policy-gradient steps
over the plies of the learner.
"""

from functools import partial
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linkzoo.cuda import require
from linkzoo.engine.rng import STREAM_ORDER, permutation, random_u64s
from linkzoo_training.agents.make import make_agent
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.muon import Muon
from linkzoo_training.algorithms.optimizers import Optimizers, light
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.checkpoints.checkpoint import add_prefix, strip_prefix
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.networks import shards
from linkzoo_training.networks.flat import Critic, frozen, masked, split_hidden
from linkzoo_training.networks.transfers import splits_on, to_device
from linkzoo_training.runtime import training_clock
from linkzoo_training.selfplay.backend import HostBackend
from linkzoo_training.selfplay.encoder import sample_inputs
from linkzoo_training.selfplay.executors import Executor
from linkzoo_training.selfplay.rollout import Batch, RolloutGames, join
from linkzoo_training.selfplay.workers import SelfPlayWorkers

_VALUE_COEF = 0.5
_MAX_GRAD_NORM = 0.5
# Means over the minibatches of an iteration. approx_kl: an estimate of KL(old || new)
# (http://joschu.net/blog/kl-approx.html); clipfrac: the share of ratios outside the clip range.
_LOSSES = ("loss/policy", "loss/value", "entropy", "approx_kl", "clipfrac")


class PPOTrainer(Trainer):
    """One run: its network, games, pool and counters. `iterate` is the algorithm."""

    config: PPOConfig
    play: RolloutGames | SelfPlayWorkers[Batch]

    def __init__(self, config: PPOConfig, executor: Executor | None = None) -> None:
        super().__init__(config)
        self.play = make_games(distributed.per_rank(config), self.device, executor)
        self.critic: Critic | None = None
        hidden, others = split_hidden(self.network)
        if config.optimizer == "adam":
            hidden = []
            others = list(self.network.parameters())
        if config.critic == "full":
            self.critic = Critic(self.game, config.width, config.blocks).to(self.device)
            others += self.critic.parameters()
        self.parameters = [*hidden, *others]
        self._standardise()
        rate = config.learning_rate.first
        muon = light(Muon)(hidden, rate, bf16=self.bf16)
        adam = light(torch.optim.Adam)(others, lr=rate, eps=1e-5, fused=True)
        self.optimizers = Optimizers(muon=muon, adam=adam)
        distributed.broadcast_weights(self.parameters)
        self._freeze()

    def iterate(self) -> dict[str, float]:
        """Runs one iteration, play and learn, and returns its metrics."""
        started = self.begin_iteration()
        self.add_opponent()
        # Rollout: transitions, advantages and lambda-returns
        batch = self.play.collect(
            self.behaviour_policy, self.pool, self.progress, self.iteration, self.behaviour_critic
        )
        # Losses and steps
        losses = self.learn(batch)
        self.end_iteration()
        self._freeze()
        # Logs
        metrics = self.common_metrics(training_clock() - started) | losses
        returns = batch.targets[batch.learner, 0]
        errors = batch.advantage[batch.learner]
        explained = 1 - errors.var() / returns.var().clamp(min=1e-12)
        return metrics | {"explained variance": float(explained)}

    def learn(self, batch: Batch) -> dict[str, float]:
        """Takes clipped policy-gradient steps on the learner's plies; returns the mean losses."""
        config = self.config
        self.optimizers.set_learning_rate(config.learning_rate_at(self.progress))
        rows = batch.learner.nonzero().squeeze(1)
        mean, std = distributed.mean_and_std(batch.advantage[rows])
        advantage = (batch.advantage - mean) / (std + 1e-8)
        has_targets = bool(batch.has_targets.all())  # a worker's batch may be older
        losses: list[Tensor] = []
        for epoch in range(config.epochs):
            passes = self.iteration * config.epochs + epoch
            order = rows[shuffled(len(rows), config.seed, passes, rows.device)]
            for part in distributed.minibatches(order, config.minibatches):
                loss = partial(self._loss, batch, part, advantage[part], has_targets)
                losses.append(shards.backward(loss, len(part), self.parameters))
                distributed.average_gradients(self.parameters, len(part))
                nn.utils.clip_grad_norm_(self.parameters, _MAX_GRAD_NORM)
                self.optimizers.step()
        return distributed.average_metrics(_LOSSES, losses)

    def _loss(
        self, batch: Batch, part: Tensor, advantage: Tensor, has_targets: bool, shard: slice
    ) -> tuple[Tensor, Tensor]:
        """Returns the loss of a shard of a minibatch and the terms _LOSSES, [5].

        The minibatch consists of rows `part` [M] with normalised advantages [M].
        """
        config = self.config
        progress = self.progress
        part = part[shard]
        advantage = advantage[shard]
        # Forward pass
        with self.autocast():
            features = batch.features.index_select(0, part)
            privileged = batch.privileged.index_select(0, part)
            logits, *outputs = shards.padded_forward(self._outputs, features, privileged)
        logits = masked(logits, batch.mask.index_select(0, part))
        # Policy loss, and entropy
        log_probability, entropies = _LogProbability.apply(logits, batch.action[part, None])
        log_ratio = log_probability - batch.log_probability[part]
        ratio = log_ratio.exp()
        clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
        policy_loss = -torch.minimum(ratio * advantage, clipped * advantage).mean()
        entropy = entropies.mean()
        # Value loss
        targets = batch.targets[part]
        values = torch.stack(outputs)  # of the network, and of a full critic
        errors = values.float()[..., : targets.shape[1]] - targets
        value_loss = 0.5 * errors.square().mean()
        # Total, with the teacher's imitation loss, which at first replaces the policy loss
        loss = _VALUE_COEF * value_loss
        if has_targets and (weight := config.teacher_weight(progress)) > 0:
            log_policy = torch.log_softmax(logits, -1)
            loss = loss + weight * self._imitation_loss(log_policy, batch.teacher_targets[part])
        if not (has_targets and config.only_imitates(progress)):
            loss = loss + policy_loss - config.entropy.at(progress) * entropy
            if config.kl_coef > 0:
                change = torch.log_softmax(logits, -1) - batch.log_policy[part]
                divergence = (torch.softmax(logits, -1) * change).sum(-1).mean()
                loss = loss + config.kl_coef * divergence
        with torch.no_grad():
            approx_kl = (ratio - 1 - log_ratio).mean()
            clipfrac = (ratio != clipped).float().mean()
            terms = torch.stack([policy_loss, value_loss, entropy, approx_kl, clipfrac])
        return loss, terms

    def _outputs(self, features: Tensor, privileged: Tensor) -> tuple[Tensor, ...]:
        """Returns logits [M, A] and values [M, P], also the values of a full critic."""
        logits, values = self.network(features)
        if self.critic is None:
            return logits, values
        return logits, values, self.critic(features, privileged)

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
        return (torch.softmax(log_policy, -1) * (log_policy - preferred)).sum(-1).mean()

    def _freeze(self) -> None:
        """Copies the networks for the next rollout."""
        self.behaviour_policy = frozen(self.network, self.bf16)
        if self.critic is not None:
            self.behaviour_critic = frozen(self.critic, self.bf16)

    def _standardise(self) -> None:
        """Scales the inputs of new fully connected networks by their spread in weak play."""
        config = self.config
        critic = self.critic
        # A policy that goes on keeps the scales it was trained with.
        is_scaled = self.network.has_scales and config.initial_checkpoint is None
        if not is_scaled and critic is None:
            return
        name = "random"
        if config.teacher is not None:
            name = config.teacher.agent
        agent = make_agent(name, config.game, config.options)
        seen, hidden = sample_inputs(self.game, agent, config)
        if is_scaled:
            self.network.standardise(seen)
        if critic is not None:
            critic.standardise(seen, hidden)

    def changing_tensors(self) -> dict[str, Tensor]:
        """Returns the critic, the game states and the pool."""
        saved = self.play.tensors() | self.pool.tensors()
        if self.critic is not None:
            saved |= add_prefix("critic.", self.critic.state_dict())
        return saved

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores the tensors of `tensors`."""
        if self.critic is not None:
            self.critic.load_state_dict(strip_prefix("critic.", saved))
        self._freeze()
        self.play.load(saved)
        self.pool.load(saved, self.behaviour_policy)


class _LogProbability(torch.autograd.Function):
    """Log-probabilities [M] of actions [M, 1], and entropies [M], of logits [M, A].

    One softmax does for both, forward and backward: with torch's log_softmax an iteration of
    `link_o_ppo` takes 10 % more CPU time. The probability of an illegal action is 0.
    """

    @staticmethod
    def forward(context: Any, logits: Tensor, actions: Tensor) -> tuple[Tensor, Tensor]:
        policy = torch.softmax(logits, -1)
        total = logits.amax(1) - policy.amax(1).log()  # log of the sum of exp(logits)
        mean = torch.linalg.vecdot(policy, logits)
        context.save_for_backward(logits, actions, policy, mean)
        return logits.gather(1, actions).squeeze(1) - total, total - mean

    @staticmethod
    def backward(context: Any, chosen: Tensor, entropy: Tensor) -> tuple[Tensor, None]:
        logits, actions, policy, mean = context.saved_tensors
        constant = (entropy * mean - chosen)[:, None]
        gradient = torch.addcmul(constant, entropy[:, None], logits, value=-1).mul_(policy)
        return gradient.scatter_add_(1, actions, chosen[:, None]), None


def make_games(
    config: PPOConfig, device: torch.device, executor: Executor | None = None
) -> RolloutGames | SelfPlayWorkers[Batch]:
    """Creates the games of a new run, in this process or on workers.

    Raises:
        RuntimeError, ValueError: `env_device` can't play them.
    """
    if executor is not None:
        if config.env_device == "cuda":
            raise ValueError("env_device: cuda, but workers play on CPUs")
        return SelfPlayWorkers(config, executor, partial(join, device))
    backend = HostBackend(device, splits_on(device))
    if config.env_device == "cuda":
        if device.type != "cuda":
            raise ValueError(f"env_device: cuda, but the networks are on {device} (see device)")
        try:
            require()
        except ImportError as error:
            raise ValueError(f"env_device: {error}") from error
        from linkzoo_training.selfplay.cuda_backend import CudaBackend  # the extra `cuda`

        backend = CudaBackend(device)
    play = RolloutGames(config, backend)
    play.begin()
    return play


def shuffled(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns the random permutation of `count` rows for a pass, int64[count] on the device.

    The permutation of a GPU differs from the CPU's: the GPU would have to wait for a sequential
    shuffle on the host.
    """
    if device.type == "cpu":
        return torch.from_numpy(permutation(count, seed, STREAM_ORDER, passes))
    return sorted_keys(count, seed, passes, device)


def sorted_keys(count: int, seed: int, passes: int, device: torch.device) -> Tensor:
    """Returns a random permutation by sorting one random number per row on the device."""
    numbers = random_u64s(seed, STREAM_ORDER, passes, np.arange(count))
    keys = (numbers >> np.uint64(1)).astype(np.int64)
    return to_device(keys, device).argsort(stable=True)
