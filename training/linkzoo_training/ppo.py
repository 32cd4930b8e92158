"""Self-play PPO (Schulman et al. 2017) for any game of linkzoo, from top to bottom.

One network plays all seats. Each iteration plays `horizon` plies of `num_envs` games, against
itself and against frozen snapshots, computes generalised advantages for every seat along each game,
and takes `epochs` passes of clipped policy-gradient steps over the plies of the learner.

All randomness is a function of the seed and of counters, so that a run which was stopped goes on
to the same weights as one that was not.
"""

import platform
import time
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import numba
import numpy as np
import torch
from rich.console import Console
from torch import Tensor, nn

from linkzoo import get_game
from linkzoo.vector import MAX_THREADS
from linkzoo_training.agents import make_agent
from linkzoo_training.arena import MatchResult, match_table, play_match
from linkzoo_training.checkpoint import (
    PolicyAgent,
    load_card,
    load_tensors,
    load_weights,
    save_checkpoint,
    save_tensors,
)
from linkzoo_training.config import Config
from linkzoo_training.networks import Critic, make_network, masked
from linkzoo_training.openings import RANDOM
from linkzoo_training.opponents import Pool
from linkzoo_training.report import Report, plot_curve
from linkzoo_training.resources import find_checkpoint
from linkzoo_training.rollout import Batch, SelfPlay
from linkzoo_training.runtime import StopSignal, find_device, use_bf16

EVAL_SEED = 10_000_019  # of the short matches: no game of training, nor of a published evaluation
STATE_FILE = "training.safetensors"
Network = TypeVar("Network", bound=nn.Module)


@dataclass(frozen=True)
class Losses:
    """Means over the minibatches of one iteration."""

    policy: float
    value: float
    entropy: float
    clipped: float  # share of ratios outside the clip range


class Trainer:
    """One run: its network, games, pool and counters. `iterate` is the algorithm."""

    def __init__(self, config: Config) -> None:
        self.config = config
        torch.set_flush_denormal(True)  # tiny weights and moments made the CPU 10 times slower
        numba.set_num_threads(min(config.num_threads, MAX_THREADS))
        self.device = find_device(config.device)
        self.bf16 = use_bf16(config.precision, self.device)
        self.play = SelfPlay(config, self.device)
        self.game = self.play.game
        torch.set_num_threads(config.num_threads)  # after Numba's first threads, which reset it
        torch.manual_seed(config.seed)
        network = make_network(self.game, config.network, config.width, config.blocks)
        if config.start is not None:
            load_weights(network, find_checkpoint(config.start))
        self.network = network.to(self.device)
        self.critic: Critic | None = None
        self.learned = list(self.network.parameters())
        if config.critic == "full":
            self.critic = Critic(self.game, config.width, config.blocks).to(self.device)
            self.learned += self.critic.parameters()
        self.optimizer = torch.optim.Adam(
            self.learned, lr=config.learning_rate, eps=1e-5, fused=True
        )
        self._freeze()
        self.pool = Pool(config.pool_size, config.seed)
        self.iteration = 0
        self.seconds = 0.0  # of training, without evaluation
        self.play.begin_games(np.arange(config.num_envs), 0.0, np.zeros(0, np.int64))

    @property
    def steps(self) -> int:
        """Plies played so far, in all games."""
        return self.iteration * self.config.num_envs * self.config.horizon

    @property
    def progress(self) -> float:
        """0 at the start, 1 at `total_steps`: what the schedules follow."""
        return min(1.0, self.steps / self.config.total_steps)

    @property
    def finished(self) -> bool:
        """Whether the budget of steps or of seconds is spent."""
        limit = self.config.max_seconds
        return self.progress >= 1.0 or (limit is not None and self.seconds >= limit)

    def iterate(self) -> dict[str, float]:
        """One iteration: play, learn, perhaps freeze a snapshot. Returns its metrics."""
        config, started = self.config, time.perf_counter()
        if self.iteration % config.snapshot_every == 0 and config.pool_share > 0:
            slot = self.pool.add(self.actor)
            # Games against the opponent that gave up its slot are left unfinished.
            orphans = np.flatnonzero(self.play.opponent == slot)
            self.play.begin_games(orphans, self.progress, np.zeros(0, np.int64))
        batch = self.play.collect(self.actor, self.judge, self.pool, self.progress, self.iteration)
        losses = self.learn(batch)
        self.iteration += 1
        self._freeze()
        spent = time.perf_counter() - started
        self.seconds += spent
        metrics = {
            "iteration": self.iteration,
            "steps": self.steps,
            "seconds": round(self.seconds, 3),
            "steps/s": config.num_envs * config.horizon / spent,
            "loss/policy": losses.policy,
            "loss/value": losses.value,
            "entropy": losses.entropy,
            "clipped": losses.clipped,
        }
        wins, self.play.wins = self.play.wins, np.zeros_like(self.play.wins)
        for seat, role in enumerate(self.game.seat_names):
            if wins.sum() > 0:
                metrics[f"self-play wins/{role}"] = wins[seat] / wins.sum()
        if self.pool.networks:
            metrics["pool win rate"] = float(self.pool.win_rates().mean())
        return metrics

    def learn(self, batch: Batch) -> Losses:
        """Clipped policy-gradient steps on the learner's plies."""
        config, left = self.config, 1 - self.progress
        for group in self.optimizer.param_groups:
            group["lr"] = config.learning_rate * left
        entropy_weight = config.entropy_final + (config.entropy - config.entropy_final) * left
        rows = batch.learner.nonzero().squeeze(1)
        advantage = batch.advantage[rows]
        advantage = (batch.advantage - advantage.mean()) / (advantage.std() + 1e-8)
        generator = torch.Generator().manual_seed(hash((config.seed, self.iteration)) % 2**63)
        totals: list[Tensor] = []
        for _ in range(config.epochs):
            order = rows[torch.randperm(len(rows), generator=generator).to(rows.device)]
            for part in order.chunk(config.minibatches):
                with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                    logits, values = self.network(batch.features[part])
                    if self.critic is not None:  # its values are the better ones, both learn
                        better = self.critic(batch.features[part], batch.hidden[part])
                        values = torch.stack([values, better])
                logits = masked(logits, batch.mask[part])
                log_policy = torch.log_softmax(logits, -1)
                chosen = log_policy.gather(1, batch.action[part, None]).squeeze(1)
                ratio = torch.exp(chosen - batch.log_probability[part])
                clipped = ratio.clamp(1 - config.clip, 1 + config.clip)
                gain = torch.minimum(ratio * advantage[part], clipped * advantage[part])
                entropy = -(torch.softmax(logits, -1) * log_policy).sum(-1).mean()
                targets = batch.targets[part]
                errors = values.float()[..., : targets.shape[1]] - targets
                policy_loss, value_loss = -gain.mean(), 0.5 * errors.square().mean()
                loss = policy_loss + config.value_weight * value_loss - entropy_weight * entropy
                if config.magnet > 0:
                    away = log_policy - batch.log_policy[part]
                    divergence = (torch.softmax(logits, -1) * away).sum(-1).mean()
                    loss = loss + config.magnet * divergence
                self.optimizer.zero_grad(set_to_none=True)
                loss.backward()
                nn.utils.clip_grad_norm_(self.learned, config.max_grad_norm)
                self.optimizer.step()
                outside = (ratio != clipped).float().mean()
                totals.append(torch.stack([policy_loss, value_loss, entropy, outside]).detach())
        return Losses(*torch.stack(totals).mean(0).tolist())

    def agent(self, views: int = 1) -> PolicyAgent:
        """The policy as it is now, as an agent that plays its likeliest action."""
        network = deepcopy(self.network).float().cpu()
        return PolicyAgent(self.config.name, self.game, network, {}, views=views)

    def evaluate(
        self,
        opponents: tuple[str, ...],
        blocks: int,
        seed: int,
        *,
        openings: str | None = None,
        views: int = 1,
    ) -> list[MatchResult]:
        """Matches of the policy, averaged over `views`, against each of `opponents`.

        There is one for each number of players.
        """
        return [
            play_match(
                self.game.name,
                self.agent(views),
                make_agent(opponent, self.game.name),
                blocks=blocks,
                seed=seed,
                openings=openings,
                num_players=players,
                options=self.config.options,
            )
            for opponent in opponents
            for players in self.config.players
        ]

    def save(self, folder: Path) -> None:
        """Writes everything that the run needs to go on exactly."""
        tensors = {f"network.{k}": v for k, v in self.network.state_dict().items()}
        if self.critic is not None:
            tensors |= {f"critic.{k}": v for k, v in self.critic.state_dict().items()}
        for index, entry in self.optimizer.state_dict()["state"].items():
            tensors |= {f"adam.{index}.{name}": value for name, value in entry.items()}
        tensors |= self.play.tensors() | self.pool.tensors()
        meta = {
            "config": self.config.to_dict(),
            "iteration": self.iteration,
            "seconds": self.seconds,
        }
        save_tensors(folder / STATE_FILE, tensors, meta)

    def load(self, folder: Path) -> None:
        """Goes on where `save` was; ValueError names a field in which the configuration differs."""
        tensors, meta = load_tensors(folder / STATE_FILE)
        now = self.config.to_dict()
        budget = ("max_seconds",)
        different = [
            name
            for name in now
            if name not in budget and _plain(now[name]) != _plain(meta["config"].get(name))
        ]
        if different:
            name = different[0]
            raise ValueError(
                f"{folder / STATE_FILE} was trained with {name}={meta['config'].get(name)!r}, "
                f"not {now[name]!r}"
            )
        self.network.load_state_dict(_under("network.", tensors))
        if self.critic is not None:
            self.critic.load_state_dict(_under("critic.", tensors))
        state = self.optimizer.state_dict()
        for index in range(len(state["param_groups"][0]["params"])):
            entry = _under(f"adam.{index}.", tensors)
            if entry:
                state["state"][index] = entry
        self.optimizer.load_state_dict(state)
        self._freeze()
        self.play.load(tensors)
        self.pool.load(tensors, self.actor)
        self.iteration, self.seconds = meta["iteration"], meta["seconds"]

    def _freeze(self) -> None:
        """Makes the copies that play, in the precision of playing."""
        self.actor = self._copy(self.network)
        self.judge = None if self.critic is None else self._copy(self.critic)

    def _copy(self, network: Network) -> Network:
        copy = deepcopy(network).requires_grad_(False)
        return copy.to(torch.bfloat16) if self.bf16 else copy


def train(config: Config, *, folder: Path | None = None, resume: bool = False) -> Path:
    """Trains by a configuration into `folder` (default `runs/<name>`) and returns the folder.

    Ctrl-C (or a TERM signal) saves after the iteration at hand; `resume` goes on from there. At the
    end of the budget the result is evaluated and written to `<folder>/checkpoint`.
    """
    folder = Path("runs") / config.name if folder is None else folder
    saved = folder / STATE_FILE
    if saved.exists() and not resume:
        raise ValueError(f"{saved} exists: go on with --resume, or choose another name or folder")
    trainer = Trainer(config)
    if resume and saved.exists():
        trainer.load(folder)
    stop = StopSignal()
    with Report(folder, f"{config.name}: PPO, {config.game}", trainer.iteration) as report, stop:
        while not trainer.finished and not stop.asked:
            metrics: dict[str, Any] = trainer.iterate()
            if trainer.iteration % config.eval_every == 0 or trainer.finished:
                results = trainer.evaluate(
                    config.eval_opponents, config.eval_blocks, EVAL_SEED, openings=RANDOM
                )
                for result in results:
                    metrics |= _win_rates(result)
            report.log(metrics, trainer.progress, _eta(trainer))
            if trainer.iteration % config.save_every == 0:
                trainer.save(folder)
        trainer.save(folder)
        rows = report.rows()
    plot_curve(rows, folder / "curve.png", config.name)
    console = Console()
    if stop.asked:
        console.print(f"stopped and saved in {folder}: the same command with --resume goes on")
        return folder
    with console.status("evaluating the trained policy"):
        results = trainer.evaluate(
            config.final_opponents, config.final_blocks, EVAL_SEED + 1, views=config.views
        )
    _publish(trainer, folder, results)
    for result in results:
        console.print(match_table(result))
    for name, what in (
        ("checkpoint", "the policy: weights and card"),
        ("curve.png", "the learning curve"),
        ("metrics.jsonl", "metrics of every iteration"),
        ("tensorboard", "the same for TensorBoard"),
        (STATE_FILE, "everything that --resume needs"),
    ):
        console.print(f"{folder / name}  [dim]{what}", highlight=False, soft_wrap=True)
    return folder


def _win_rates(result: MatchResult) -> dict[str, float]:
    """A short match as metrics: by role, or for a game without roles by number of players."""
    roles, opponent = get_game(result.game).seat_names, result.agents[1]
    if roles:
        pairs = zip(roles, result.side_scores, strict=True)
        return {f"win/{role} v {opponent}": share for role, share in pairs}
    return {f"win/{result.num_players} players v {opponent}": result.win_share().mean}


def _publish(trainer: Trainer, folder: Path, results: list[MatchResult]) -> None:
    """Writes the trained policy's checkpoint, with what it achieved on its card."""
    config = trainer.config
    card = {
        "views": config.views,
        "network": {"kind": config.network, "width": config.width, "blocks": config.blocks},
        "trained": {
            "algorithm": "ppo",
            "config": config.to_dict(),
            "steps": trainer.steps,
            "seconds": round(trainer.seconds, 1),
            "machine": f"{platform.machine()}, {config.num_threads} threads, {trainer.device}",
            "torch": torch.__version__,
        }
        | ({"start": load_card(find_checkpoint(config.start))["trained"]} if config.start else {}),
        "strength": [_summary(result) for result in results],
    }
    save_checkpoint(folder / "checkpoint", trainer.agent().network, trainer.game, card)


def _summary(result: MatchResult) -> dict[str, Any]:
    """A result for a card: without the single blocks, with the command that repeats it."""
    data = result.to_dict()
    del data["block_shares"]
    data["command"] = (
        f"linkzoo evaluate {' '.join(result.agents)} --game {result.game} --games {result.games} "
        f"--seed {result.seed} --openings {result.openings} --players {result.num_players}"
    )
    return data


def _eta(trainer: Trainer) -> float:
    """Seconds to the end of the budget, at the speed so far."""
    left = trainer.seconds * (1 / max(trainer.progress, 1e-9) - 1)
    limit = trainer.config.max_seconds
    return left if limit is None else min(left, max(0.0, limit - trainer.seconds))


def _under(prefix: str, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {
        name.removeprefix(prefix): value
        for name, value in tensors.items()
        if name.startswith(prefix)
    }


def _plain(value: Any) -> Any:
    """A value as JSON would give it back."""
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    return value
