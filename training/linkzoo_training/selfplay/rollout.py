"""Rollouts: plays self-play games and returns training batches."""

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Agent, Positions, get_game
from linkzoo.core.state import Records
from linkzoo.engine.rng import STREAM_FIXED_OPPONENT, STREAM_TEACHER, random_u64s
from linkzoo.envs.reward import RewardHook
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.arrays import Array
from linkzoo_training.checkpoints.checkpoint import add_prefix, strip_prefix
from linkzoo_training.config.config import PPOConfig
from linkzoo_training.imports import import_object
from linkzoo_training.networks.flat import masked
from linkzoo_training.networks.inputs import RELABEL
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.networks.symmetries import DRAW as DRAW_SYMMETRIES
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import DeviceBuffer, ToHost, in_turn, to_device
from linkzoo_training.selfplay.backend import Group, HostBackend, KernelArgument
from linkzoo_training.selfplay.encoder import Encoder
from linkzoo_training.selfplay.gae import advantages
from linkzoo_training.selfplay.initial_states import Chances, InitialStates
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.teacher import target_format, teacher_targets


@dataclass(frozen=True)
class Batch:
    """One iteration on the learner's device: T plies of N games with up to P seats."""

    features: Tensor  # integers [T*N, F], see FeatureMap
    mask: Tensor  # int8 [T*N, A]
    action: Tensor  # int64 [T*N]
    log_probability: Tensor  # float32 [T*N], log-probability at sampling time
    advantage: Tensor  # float32 [T*N], of the seat that acted
    targets: Tensor  # float32 [T*N, P], lambda-returns relative to the seat that acted
    log_policy: Tensor  # float32 [T*N, A], all log-probabilities; A is 0 without `kl_coef`
    privileged: Tensor  # integers [T*N, H], privileged features; H is 0 without a full critic
    learner: Tensor  # bool [T*N], whether the learner acted (else an opponent)
    # Teacher targets where the learner acted: moves int64 [T*N] or action values float16 [T*N, A].
    teacher_targets: Tensor
    has_targets: Tensor  # bool [T*N], whether there are teacher targets; all equal

    def tensors(self) -> dict[str, Tensor]:
        """Returns the batch as tensors by name."""
        return vars(self)


def join(device: torch.device, parts: list[dict[str, Tensor]]) -> Batch:
    """Concatenates the batches of several workers from `Batch.tensors`, on a device."""
    names = [field.name for field in fields(Batch)]
    joined = (torch.cat([part[name] for part in parts]) for name in names)
    return Batch(*(to_device(tensor, device) for tensor in joined))


class _Iteration(NamedTuple):
    """The players and settings of one iteration."""

    network: nn.Module
    critic: nn.Module | None
    pool: OpponentPool
    teacher: Agent | None
    margin_weight: float
    chances: Chances  # of new games


class _SymmetryMaps(NamedTuple):
    """The sources of numbers under each symmetry (Symmetries), on the games' device."""

    features: Tensor  # int64 [S, F]
    privileged: Tensor  # int64 [S, H]
    to_view: Tensor  # int64 [S, A], the position's action for each action of a view
    to_position: Tensor  # int64 [S, A], the view's action for each action of a position


class RolloutGames:
    """N games that continue across iterations, some of them against frozen opponents.

    Args:
        config: The run's configuration.
        backend: Where the games are played.

    Attributes:
        groups: The games that are stepped together.
        players: int8 [N], the numbers of seats.
        plies: Plies played so far in each game.
        wins: float64 [P], wins by seat in self-play games from initial states, since last read.
    """

    def __init__(self, config: PPOConfig, backend: HostBackend) -> None:
        self.config = config
        self._backend = backend
        self.device = backend.device
        self.game = get_game(config.game, config.options)
        self._seed = np.uint64(config.seed)
        self._states, self.groups = backend.make_games(config)
        self._initial_states = InitialStates(config, self._states, backend)
        self.opponents = self._initial_states.opponents
        self.players = self._initial_states.players
        self.from_initial_state = self._initial_states.from_initial_state
        self.encoder = Encoder(self.game, backend, config)
        self._teacher: Agent | None = None
        if config.teacher is not None:
            self._teacher = make_agent(config.teacher.agent, config.game, config.options)
        self._reward_hook: RewardHook | None = None
        if config.reward_hook is not None:
            function = import_object(config.reward_hook, "reward_hook")
            self._reward_hook = RewardHook(function, self.game, max(config.players))
        self.plies = 0
        self.wins = np.zeros(max(config.players))
        self._symmetry = backend.zeros(config.num_envs, dtype=torch.int64)  # by game
        self._maps: _SymmetryMaps | None = None
        if config.symmetric:
            group = symmetries(self.game)
            maps = (group.features, group.hidden, group.back, group.actions)
            self._maps = _SymmetryMaps(*(backend.tensor(sources) for sources in maps))
        self._allocate()

    def _allocate(self) -> None:
        """Allocates the buffers of an iteration: T plies of N games."""
        zeros = self._backend.zeros
        plies = self.config.horizon
        games = self.config.num_envs
        actions = self.game.num_actions
        seats = len(self.wins)

        def sent(*shape: int, dtype: torch.dtype) -> DeviceBuffer:
            return DeviceBuffer(zeros(*shape, dtype=dtype), self.device)

        # Copied to the learner's device ply by ply, and reused for learning.
        self._features, self._privileged = (
            sent(plies + 1, games, width, dtype=self.encoder.dtype) for width in self.encoder.widths
        )
        self._mask = sent(plies, games, actions, dtype=torch.int8)
        logged = 0
        if self.config.kl_coef > 0:
            logged = actions
        self._log_policy = torch.zeros(plies, games, logged, device=self.device)
        self._action = zeros(plies, games, dtype=torch.int64)
        self._log_probability = zeros(plies, games)
        self._learner = zeros(plies, games, dtype=torch.bool)
        shape, dtype = target_format(self._teacher, self.game)
        self._teacher_targets = zeros(plies, games, *shape, dtype=dtype)
        self._seat = zeros(plies + 1, games, dtype=torch.int8)
        self._values = zeros(plies + 1, games, seats)
        self._payoff = zeros(plies, games, seats)
        self._done = zeros(plies, games, dtype=torch.bool)
        self._advantage = zeros(plies, games)
        self._targets = zeros(plies, games, seats)

    @property
    def states(self) -> KernelArgument:
        """The records [N] as a kernel argument."""
        return self._backend.view(self._states, self.game.state)

    def begin(self, opponents: list[int] | None = None) -> None:
        """Starts all games; `opponents` are the slots to draw from (default: the fixed agents)."""
        if opponents is None:
            opponents = self.opponents.fixed_slots
        self._begin_games(torch.ones_like(self.from_initial_state), 0.0, opponents)

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Replaces unfinished games against the opponent of a slot that was reused."""
        self._begin_games(self.opponents.against(slot), progress, [])

    def _begin_games(self, new: Tensor, progress: float, opponents: list[int]) -> None:
        """Starts games where `new` [N]."""
        chances = self._initial_states.chances(progress, opponents)
        for group in self.groups:
            mask = group.now.action_mask
            self._initial_states.begin(new[group.games], group.games, group.states, mask, chances)

    def collect(
        self,
        network: nn.Module,
        pool: OpponentPool,
        progress: float,
        iteration: int,
        critic: nn.Module | None = None,
    ) -> Batch:
        """Plays `horizon` plies of every game.

        Args:
            network: The policy that plays, and its values.
            pool: The frozen opponents.
            progress: Progress of the run, 0..1.
            iteration: The number of the iteration, which draws the opponents.
            critic: A full critic, whose values replace the network's.

        Raises:
            ValueError: The policy isn't finite, or an agent returns invalid actions.
        """
        drawn = pool.draw(self.config.pool.active, iteration).tolist()
        chances = self._initial_states.chances(progress, [*drawn, *self.opponents.fixed_slots])
        teacher = None
        if self.config.teacher_weight(progress) > 0:
            teacher = self._teacher
        weight = self.config.score_margin_weight.at(progress)
        task = _Iteration(network, critic, pool, teacher, weight, chances)
        in_turn(*(self._play(group, task) for group in self.groups))
        self.plies += self.config.horizon
        self._backend.check_finite()
        self.wins += self.opponents.report(pool)[: len(self.wins)]
        return self._batch(teacher is not None)

    def _play(self, group: Group, task: _Iteration) -> Iterator[None]:
        """Plays an iteration of a group; yields after each network call."""
        backend = self._backend
        games = group.games
        now = group.now
        group.vec.refresh()
        for t in range(self.config.horizon):
            ply = self.plies + t
            self._encode(group, t)
            self._mask.host[t, games] = now.action_mask
            self._augment(t, games, ply)
            values, probabilities = self._forward(task, t, games)
            sampled = backend.sample(probabilities, self._seed, ply, games.start)
            receive = backend.receive(values, *sampled)
            if task.teacher is not None:
                self._ask_teacher(task.teacher, task.margin_weight, t, games)
            yield
            values, actions, self._log_probability[t, games] = receive()
            self._values[t, games] = values[:, : len(self.wins)]
            actions = backend.check_actions(actions, self._mask.host[t, games])
            self._action[t, games] = actions
            if self._maps is not None:
                actions = self._maps.to_view[self._symmetry[games], actions]
            if self._reward_hook is not None:
                states = self._records(group.states.numpy())
                extra = torch.from_numpy(self._reward_hook(states, actions.numpy()))
            group.vec.step(actions)
            self._done[t, games] = now.done
            self._payoff[t, games] = now.reward + task.margin_weight * now.score
            if self._reward_hook is not None:
                self._payoff[t, games] += extra
            changed = backend.changed(now.done)
            if len(changed):
                self.opponents.count(games, now.reward, now.done, self.from_initial_state[games])
                mask = now.action_mask
                self._initial_states.begin(now.done, games, group.states, mask, task.chances)
                group.vec.refresh(changed)
        self._encode(group, -1)
        values, _ = self._evaluate(task.network, task.critic, -1, games)
        receive = backend.receive(values)
        yield
        (values,) = receive()
        self._values[-1, games] = values[:, : len(self.wins)]

    def _encode(self, group: Group, t: int) -> None:
        """Fills the seats and features of ply t."""
        self._seat[t, group.games] = group.now.seat
        features = self._features.host[t, group.games]
        privileged = self._privileged.host[t, group.games]
        self.encoder.encode(group.states, group.now, features, privileged)

    def _augment(self, t: int, games: slice, ply: int) -> None:
        """Replaces the observations and masks of ply t by random symmetric equivalents."""
        maps = self._maps
        if maps is None:
            return
        symmetry = self._symmetry[games]
        count = len(maps.features)
        self._backend.run(DRAW_SYMMETRIES, symmetry, count, self._seed, ply, games.start)
        for buffer, sources in (
            (self._features, maps.features),
            (self._privileged, maps.privileged),
            (self._mask, maps.to_view),
        ):
            rows = buffer.host[t, games]
            if rows.shape[1]:
                self._backend.permute(rows, symmetry, sources)
        if self.encoder.row:
            listed = self._features.host[t, games, self.encoder.observed :]
            self._backend.run(RELABEL, listed, symmetry, maps.to_position, self.encoder.row)

    def _ask_teacher(self, teacher: Agent, margin_weight: float, t: int, games: slice) -> None:
        """Fills the teacher's targets of ply t where the learner acts."""
        rows = games.start + self._learner[t, games].nonzero()[:, 0]
        positions = self._positions(rows, STREAM_TEACHER, self.plies + t)
        targets = self._augmented(teacher_targets(teacher, positions, margin_weight), rows)
        self._teacher_targets[t, rows] = targets.to(self._teacher_targets.dtype)

    def _augmented(self, answers: Array, rows: Tensor) -> Tensor:
        """Maps an agent's actions [M] or action values [M, A] to the augmented positions."""
        targets = to_device(answers, self._backend.home)
        if self._maps is None:
            return targets
        symmetry = self._symmetry[rows]
        if targets.ndim == 1:
            return self._maps.to_position[symmetry, targets]
        return targets.gather(1, self._maps.to_view[symmetry])

    def _evaluate(
        self, network: nn.Module, critic: nn.Module | None, t: int, games: slice
    ) -> tuple[Tensor, Tensor]:
        """Returns values [n, P] relative to the seats to act at ply t, and logits [n, A]."""
        inputs = [self._features.send(t, games)]
        if critic is not None:
            inputs.append(self._privileged.send(t, games))

        def forward(features: Tensor, *privileged: Tensor) -> tuple[Tensor, Tensor]:
            logits, values = network(features)
            if critic is not None:
                values = critic(features, *privileged)
            return logits, values

        logits, values = sharded_forward(forward, *inputs)
        return values.float(), logits

    def _forward(self, task: _Iteration, t: int, games: slice) -> tuple[Tensor, Tensor]:
        """Returns the values of `_evaluate` and probabilities [n, A] of the players to act."""
        others = self.opponents.act_in(self._seat[t, games], games)
        self._learner[t, games] = ~others
        opponents = self.opponents.rows(others, task.pool, games)
        values, logits = self._evaluate(task.network, task.critic, t, games)
        mask = self._mask.send(t, games)
        features = self._features.device[t, games]
        probabilities = torch.softmax(masked(logits, mask), -1)
        for slot, moved in opponents():
            rows = to_device(moved, self.device)
            agent = self.opponents.agent(slot)
            if agent is None:
                logits, _ = sharded_forward(task.pool.networks[slot], features[rows])
                probabilities[rows] = torch.softmax(masked(logits, mask[rows]), -1)
                continue
            numbers = games.start + moved  # of the games
            positions = self._positions(numbers, STREAM_FIXED_OPPONENT, self.plies + t)
            actions = self._augmented(checked_actions(agent, positions), numbers)
            probabilities[rows] = 0
            probabilities[rows, to_device(actions, self.device)] = 1
        if self.config.kl_coef > 0:
            self._log_policy[t, games] = probabilities.clamp(min=1e-30).log()
        return values, probabilities

    def _positions(self, rows: Tensor, stream: int, ply: int) -> Positions:
        """Returns the positions of games [M] on the CPU, for agents."""
        states, numbers = ToHost(self._states[rows], rows).arrays()
        seeds = random_u64s(self.config.seed, stream, ply, numbers)
        return Positions(self.game, self._records(states), seeds)

    def _records(self, states: NDArray[np.uint8]) -> Records:
        """Returns records of bytes [N, record size] as records [N], without a copy."""
        return states.reshape(-1).view(self.game.state)

    def _batch(self, has_targets: bool) -> Batch:
        """Computes advantages and lambda-returns; returns the iteration's plies in one row each."""
        self._backend.run(
            advantages,
            self.players,
            self._payoff,
            self._values,
            self._done,
            self._seat,
            np.float32(self.config.gae_lambda),
            self._advantage,
            self._targets,
        )

        def rows(tensor: Tensor) -> Tensor:
            return to_device(tensor.flatten(0, 1), self.device)

        return Batch(
            features=rows(self._features.device[:-1]),
            mask=rows(self._mask.device),
            action=rows(self._action),
            log_probability=rows(self._log_probability),
            advantage=rows(self._advantage),
            targets=rows(self._targets),
            learner=rows(self._learner),
            teacher_targets=rows(self._teacher_targets),
            has_targets=torch.full((self._learner.numel(),), has_targets, device=self.device),
            log_policy=rows(self._log_policy),
            privileged=rows(self._privileged.device[:-1]),
        )

    def tensors(self) -> dict[str, Tensor]:
        """Returns the state as CPU tensors by name, so a run can resume on another backend."""
        return {
            "play.states": self._states.flatten().to("cpu", copy=True),
            **add_prefix("play.", self._initial_states.tensors()),
            "play.counters": torch.tensor([self.plies, int(self._initial_states.begun)]),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores the state from `tensors`."""
        self._states.copy_(saved["play.states"].view(self._states.shape))
        self._initial_states.load(strip_prefix("play.", saved))
        self.plies, begun = saved["play.counters"].tolist()
        self._initial_states.begun.fill_(begun)
