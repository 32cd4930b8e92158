"""Self-play by search for AlphaZero: plays games and collects training samples."""

from collections.abc import Generator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game, Positions
from linkzoo.core.kernels import kernels, observations
from linkzoo.engine.rng import STREAM_FIXED_OPPONENT, STREAM_SELF_PLAY, random_u64s
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.arrays import Array, Bools, Float32s, Int64s
from linkzoo_training.checkpoints.checkpoint import add_prefix, strip_prefix
from linkzoo_training.config.config import AlphaZeroConfig
from linkzoo_training.networks.flat import masked
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.networks.shards import sharded_forward
from linkzoo_training.networks.symmetries import symmetries
from linkzoo_training.networks.transfers import ToHost, splits_on, to_device
from linkzoo_training.search.evaluations import Evaluations
from linkzoo_training.search.gumbel import GumbelSearch
from linkzoo_training.selfplay.backend import DIVERGED, HostBackend, as_tensor
from linkzoo_training.selfplay.initial_states import InitialStates
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.sampling import sample

_MEMORY = 4  # outputs of the network that are kept for each node of the trees
_FEW = 4  # simulations: the root is known from the search before, and a large part of the leaves

T = TypeVar("T")


@dataclass(frozen=True)
class Samples:
    """M positions with their training targets."""

    states: Array  # records [M]
    finals: Array  # records [M], final states of the games
    policy: NDArray[np.float16]  # [M, A], improved policy
    values: Float32s  # [M, P], search values by seat

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, rows: Any) -> "Samples":
        return Samples(*(getattr(self, field.name)[rows] for field in fields(self)))

    def tensors(self) -> dict[str, Tensor]:
        """Returns the samples as tensors by name."""
        return {
            "states": as_bytes(self.states),
            "finals": as_bytes(self.finals),
            "policy": torch.from_numpy(self.policy),
            "values": torch.from_numpy(self.values),
        }


def samples_of(saved: dict[str, Tensor], game: Game) -> Samples:
    """Returns the samples from `Samples.tensors`."""
    records = (saved[name].numpy().view(game.state).copy() for name in ("states", "finals"))
    return Samples(*records, *(saved[name].numpy() for name in ("policy", "values")))


def no_samples(game: Game) -> Samples:
    """Returns an empty set of samples."""
    blank = np.empty(0, game.state)
    policy = np.empty((0, game.num_actions), np.float16)
    return Samples(blank, blank, policy, np.empty((0, game.max_players), np.float32))


def join(parts: list[Samples]) -> Samples:
    """Concatenates one or more sets of samples."""
    names = [field.name for field in fields(Samples)]
    return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


def finish(steps: Generator[None, None, T]) -> T:
    """Takes all steps of a generator; returns its result."""
    while True:
        try:
            next(steps)
        except StopIteration as end:
            result: T = end.value
            return result


class ReplayGames:
    """N games that continue across iterations, with the samples of unfinished games."""

    def __init__(self, config: AlphaZeroConfig, game: Game, device: torch.device) -> None:
        self.config = config
        self.game = game
        self.device = device
        games = config.num_envs
        self.states = np.zeros(games, game.state)
        for first, players in enumerate(config.players):
            self.states[first :: len(config.players)] = game.blank(players, config.options)
        backend = HostBackend(torch.device("cpu"))
        self._initial_states = InitialStates(config, as_tensor(self.states), backend)
        self.opponents = self._initial_states.opponents
        self._inputs = Inputs(game, lists_actions=config.network == "action")
        self.length = np.zeros(games, np.int64)  # stored plies of every game
        # Buffers by game and ply, as large as the longest game needs.
        self._states = np.zeros((games, 0), game.state)
        self._policy = np.zeros((games, 0, game.num_actions), np.float16)
        self._values = np.zeros((games, 0, game.max_players), np.float32)
        self.plies = 0  # played so far in each game
        # Wins by seat since last read, in self-play games from an initial state.
        self.wins = np.zeros(max(config.players))
        self._search: GumbelSearch | None = None
        self._begin_games(np.ones(games, np.bool_), 0.0, [])

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Replaces unfinished games against the opponent of a slot that was reused."""
        self._begin_games(self.opponents.against(slot).numpy(), progress, [])

    def collect(
        self, network: nn.Module, pool: OpponentPool, progress: float, iteration: int
    ) -> Samples:
        """Plays `horizon` plies of every game; returns the learner's samples of finished games."""
        return finish(self.play_in_steps(network, pool, progress, iteration))

    def play_in_steps(
        self, network: nn.Module, pool: OpponentPool, progress: float, iteration: int
    ) -> Generator[None, None, Samples]:
        """Plays as `collect` does, and pauses after each ply."""

        def evaluate(seen: Array) -> tuple[Tensor, Tensor]:
            logits, values = sharded_forward(network, to_device(seen, self.device))
            return logits, values

        config = self.config
        search = self._searcher(config.simulations_at(progress))
        evaluations: Evaluations | None = None
        shared = search.simulations <= _FEW or self.game.num_actions <= search.simulations
        if shared and self.device.type == "cpu":
            entries = _MEMORY * config.num_envs * (search.simulations + 1)
            evaluations = Evaluations(self._inputs, entries)
        masks = np.empty((config.num_envs, self.game.num_actions), np.int8)
        drawn = pool.draw(config.pool.active, iteration)
        opponents = [*drawn.tolist(), *self.opponents.fixed_slots]
        learned = [no_samples(self.game)]
        for _ in range(config.horizon):
            others = self.opponents.act_in(torch.from_numpy(self.states["seat"].copy()))
            actions = self._replies(others, pool)
            learners = np.flatnonzero(~others.numpy())
            seeds = random_u64s(config.seed, STREAM_SELF_PLAY, self.plies, learners)
            output = search.run(
                self.states[learners],
                seeds,
                evaluate,
                gumbel_scale=1.0,
                splits=splits_on(self.device),
                evaluations=evaluations,
                targets=True,
            )
            actions[learners] = output.actions
            self._keep(learners, output.policy, output.values)
            self.plies += 1
            kernels(self.game).play(self.states, actions, masks)
            done = self.states["seat"] < 0
            finished = np.flatnonzero(done)
            learned += [self._samples(game) for game in finished.tolist()]
            if len(finished):
                self._count(done)
                self._begin_games(done, progress, opponents)
            yield
        self.wins += self.opponents.report(pool)[: len(self.wins)]
        return join(learned)

    def _keep(self, rows: Int64s, policy: Float32s, values: Float32s) -> None:
        """Stores the positions of games `rows` [M] with the results of their search."""
        length = self.length[rows]
        self._allocate(int(self.length.max()) + 1)
        self._states[rows, length] = self.states[rows]
        self._policy[rows, length] = policy
        self._values[rows, length] = values
        self.length[rows] += 1

    def _replies(self, others: Tensor, pool: OpponentPool) -> Int64s:
        """Returns actions [N] of the opponents to act; they don't search."""
        actions = np.zeros(len(others), np.int64)
        for slot, moved in self.opponents.rows(others, pool)():
            rows = moved.numpy()
            agent = self.opponents.agent(slot)
            if agent is None:
                actions[rows] = self._drawn(pool.networks[slot], rows)
                continue
            seeds = random_u64s(self.config.seed, STREAM_FIXED_OPPONENT, self.plies, rows)
            positions = Positions(self.game, self.states[rows], seeds)
            actions[rows] = checked_actions(agent, positions)
        return actions

    def _drawn(self, network: nn.Module, rows: Int64s) -> Int64s:
        """Samples actions [M] from a network in games `rows` [M]; ValueError if it isn't finite."""
        probabilities = torch.zeros(len(self.states), self.game.num_actions, device=self.device)
        states = self.states[rows]
        masks = np.empty((len(rows), self.game.num_actions), np.int8)
        kernels(self.game).fill_masks(states, masks)
        flat = observations(self.game, states, states["seat"])
        features = self._inputs.encode(states, masks, flat)
        logits, _ = sharded_forward(network, to_device(features, self.device))
        games = to_device(rows, self.device)
        probabilities[games] = torch.softmax(masked(logits, to_device(masks, self.device)), -1)
        sampled, _ = sample(probabilities, np.uint64(self.config.seed), self.plies)
        (actions,) = ToHost(sampled[games]).arrays()
        if actions.min() < 0:
            raise ValueError(DIVERGED)
        return actions

    def _searcher(self, simulations: int) -> GumbelSearch:
        config = self.config
        if self._search is None or self._search.simulations != simulations:
            views: Int64s | None = None
            if config.symmetric:
                views = np.arange(len(symmetries(self.game)))
            self._search = GumbelSearch(
                self._inputs,
                config.num_envs,
                simulations,
                views=views,
                min_value_range=config.min_value_range,
                score_margin_weight=config.score_margin_weight,
                solver_limit=config.solver_limit,
            )
        return self._search

    def _samples(self, game: int) -> Samples:
        plies = slice(self.length[game])
        states = self._states[game, plies].copy()
        finals = np.repeat(self.states[[game]], len(states))
        policy = self._policy[game, plies].copy()
        values = self._values[game, plies].copy()
        return Samples(states, finals, policy, values)

    def _count(self, done: Bools) -> None:
        payoff = np.zeros((len(done), self.game.max_players), np.float32)
        ended = payoff[done]
        kernels(self.game).outcome(self.states[done], ended, np.zeros_like(ended))
        payoff[done] = ended
        counts = self._initial_states.from_initial_state
        self.opponents.count(slice(None), torch.from_numpy(payoff), torch.from_numpy(done), counts)

    def _begin_games(self, new: Bools, progress: float, opponents: list[int]) -> None:
        """Starts games where `new` [N]."""
        self.length[new] = 0
        chances = self._initial_states.chances(progress, opponents)
        states = as_tensor(self.states)
        mask = torch.zeros(len(new), self.game.num_actions, dtype=torch.int8)
        self._initial_states.begin(torch.from_numpy(new), slice(None), states, mask, chances)

    def tensors(self) -> dict[str, Tensor]:
        """Returns the state as tensors by name, trimmed to the plies in use."""
        kept = self._kept()
        return {
            "play.states": as_bytes(self.states),
            "play.kept.states": as_bytes(self._states[kept]),
            "play.kept.policy": torch.from_numpy(self._policy[kept]),
            "play.kept.values": torch.from_numpy(self._values[kept]),
            "play.length": torch.from_numpy(self.length.copy()),
            "play.counters": torch.tensor([self.plies, int(self._initial_states.begun)]),
            **add_prefix("play.", self._initial_states.tensors()),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores the state from `tensors`."""
        self.states = saved["play.states"].numpy().view(self.game.state).copy()
        self.length[:] = saved["play.length"].numpy()
        self._allocate(int(self.length.max()))
        self._initial_states.load(strip_prefix("play.", saved))
        kept = self._kept()
        self._states[kept] = saved["play.kept.states"].numpy().view(self.game.state)
        self._policy[kept] = saved["play.kept.policy"].numpy()
        self._values[kept] = saved["play.kept.values"].numpy()
        self.plies, begun = saved["play.counters"].tolist()
        self._initial_states.begun.fill_(begun)

    def _allocate(self, plies: int) -> None:
        """Grows the buffers to at least `plies` plies per game, at least doubling them."""
        before = self._states.shape[1]
        if plies > before:
            plies = max(plies, 2 * before)
            self._states = _widened(self._states, plies)
            self._policy = _widened(self._policy, plies)
            self._values = _widened(self._values, plies)

    def _kept(self) -> Bools:
        """Returns the mask of stored plies, [N, buffer size]."""
        return np.arange(self._states.shape[1]) < self.length[:, None]


def _widened(buffer: Array, plies: int) -> Array:
    """Copies a buffer [N, plies before, ...] to a wider one, with zeros at its end."""
    wider = np.zeros((len(buffer), plies, *buffer.shape[2:]), buffer.dtype)
    wider[:, : buffer.shape[1]] = buffer
    return wider


def as_bytes(records: Array) -> Tensor:
    """Returns records as a tensor of bytes."""
    return torch.from_numpy(np.frombuffer(records.tobytes(), np.uint8).copy())
