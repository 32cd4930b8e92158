"""Plays the games that AlphaZero learns from, every move chosen by a search: its samples."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_SELF_PLAY, words
from linkzoo.core.features import FeatureMap
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import AlphaZeroConfig
from linkzoo_training.networks import masked
from linkzoo_training.search.gumbel import Found, GumbelSearch
from linkzoo_training.selfplay.initial_states import InitialStates
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.opponents import DIVERGED, Opponents
from linkzoo_training.selfplay.sampling import sample
from linkzoo_training.shards import answers
from linkzoo_training.symmetries import symmetries
from linkzoo_training.transfers import ToHost, splits_on, to_device


@dataclass(frozen=True)
class Samples:
    """M positions and what is to be learned from them."""

    states: NDArray[Any]  # records [M]
    finals: NDArray[Any]  # records [M]: how the game ended
    policy: NDArray[np.float16]  # [M, A]: the improved policy
    values: NDArray[np.float32]  # [M, P]: what the search thought, by seat

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, rows: Any) -> "Samples":
        return Samples(*(getattr(self, field.name)[rows] for field in fields(self)))

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save or to send, by name."""
        return {
            "states": as_bytes(self.states),
            "finals": as_bytes(self.finals),
            "policy": torch.from_numpy(self.policy),
            "values": torch.from_numpy(self.values),
        }


def samples_of(saved: dict[str, Tensor], game: Game) -> Samples:
    """The samples that `tensors` gave."""
    blank = np.empty(0, game.state)
    records = (as_records(saved[name], blank) for name in ("states", "finals"))
    return Samples(*records, *(saved[name].numpy() for name in ("policy", "values")))


def no_samples(game: Game) -> Samples:
    """The samples of nothing."""
    blank = np.empty(0, game.state)
    policy = np.empty((0, game.num_actions), np.float16)
    return Samples(blank, blank, policy, np.empty((0, game.max_players), np.float32))


def join(parts: list[Samples]) -> Samples:
    """All samples of one part or more, in order."""
    names = [field.name for field in fields(Samples)]
    return Samples(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class ReplayGames:
    """N games that continue from iteration to iteration, and the samples of those not finished."""

    def __init__(self, config: AlphaZeroConfig, game: Game, device: torch.device) -> None:
        self.config, self.game, self.device = config, game, device
        games = config.num_envs
        blank = np.zeros(games, game.state)
        for first, players in enumerate(config.players):
            blank[first :: len(config.players)] = game.blank(players, config.options)
        self._initial_states = InitialStates(config, blank)
        self.states, drawn = self._initial_states.begin(np.arange(games), 0.0)
        self.from_initial_state: NDArray[np.bool_] = drawn.usual
        seats: NDArray[np.int8] = self.states["num_players"].copy()
        self.opponents = Opponents(config.pool, game, seats, config.seed)
        self.length = np.zeros(games, np.int64)  # plies of every game that are kept below
        # By game and ply, with room for as many plies as any game had.
        self._states = np.zeros((games, 0), game.state)
        self._policy = np.zeros((games, 0, game.num_actions), np.float16)
        self._values = np.zeros((games, 0, game.max_players), np.float32)
        self.plies = 0  # played so far in every game
        # By seat, in self-play games from an initial state, since read.
        self.wins = np.zeros(game.max_players)
        self._search: GumbelSearch | None = None

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Leaves the games unfinished whose opponent gave up its slot, and begins others."""
        self._begin_games(self.opponents.against(slot), progress, ())

    def collect(
        self,
        network: nn.Module,
        pool: OpponentPool,
        simulations: int,
        progress: float,
        iteration: int,
    ) -> Samples:
        """Plays `horizon` plies of every game; the learner's samples of those that ended."""

        def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
            logits, values = answers(network, to_device(features, self.device))
            return logits, values

        config, search = self.config, self._searcher(simulations)
        masks = np.empty((config.num_envs, self.game.num_actions), np.int8)
        drawn = pool.draw(config.pool.active, iteration)
        opponents = [*drawn.tolist(), *self.opponents.fixed_slots.tolist()]
        learned = [self._samples(0, slice(0))]
        for _ in range(config.horizon):
            others = self.opponents.act_in(self.states["seat"])
            actions = self._replies(others, pool)
            own = np.flatnonzero(~others)
            seeds = words(config.seed, STREAM_SELF_PLAY, self.plies, own)
            found = search.run(
                self.states[own], seeds, answer, gumbel_scale=1.0, splits=splits_on(self.device)
            )
            actions[own] = found.actions
            self._keep(own, found)
            self.plies += 1
            kernels(self.game).play(self.states, actions, masks)
            finished = np.flatnonzero(self.states["seat"] < 0)
            learned += [self._samples(game, slice(self.length[game])) for game in finished.tolist()]
            self._count(finished, pool)
            self._begin_games(finished, progress, opponents)
        return join(learned)

    def _keep(self, rows: NDArray[np.int64], found: Found) -> None:
        """Keeps the positions of games `rows` [M] and what the search found there."""
        length = self.length[rows]
        self._make_room(int(self.length.max()) + 1)
        self._states[rows, length] = self.states[rows]
        self._policy[rows, length] = found.policy
        self._values[rows, length] = found.values
        self.length[rows] += 1

    def _replies(self, others: NDArray[np.bool_], pool: OpponentPool) -> NDArray[np.int64]:
        """The actions [N] of the opponents, which don't search, where they act."""
        actions = np.zeros(len(others), np.int64)
        for slot in np.unique(self.opponents.slot[others]).tolist():
            rows = np.flatnonzero(others & (self.opponents.slot == slot))
            agent = self.opponents.agent(slot)
            actions[rows] = (
                self._drawn(pool.networks[slot], rows)
                if agent is None
                else self.opponents.actions(agent, self.states, rows, self.plies)
            )
        return actions

    def _drawn(self, network: nn.Module, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """Actions [M] that a network draws in games `rows` [M]; ValueError if it isn't finite."""
        chances = torch.zeros(len(self.states), self.game.num_actions, device=self.device)
        states, spec, kernel = self.states[rows], self.game.observation, kernels(self.game)
        seen = np.empty((len(rows), spec.size), spec.dtype)
        masks = np.empty((len(rows), self.game.num_actions), np.int8)
        kernel.observe(states, states["seat"].copy(), seen)
        kernel.legal(states, masks)
        logits, _ = answers(network, to_device(FeatureMap(spec)(seen), self.device))
        where = to_device(rows, self.device)
        chances[where] = torch.softmax(masked(logits, to_device(masks, self.device)), -1)
        drawn, _ = sample(chances, np.uint64(self.config.seed), self.plies)
        (actions,) = ToHost(drawn[where]).arrays()
        if actions.min() < 0:
            raise ValueError(DIVERGED)
        return actions

    def _searcher(self, simulations: int) -> GumbelSearch:
        config = self.config
        if self._search is None or self._search.simulations != simulations:
            views = np.arange(len(symmetries(self.game))) if config.symmetric else None
            self._search = GumbelSearch(
                self.game,
                config.num_envs,
                simulations,
                considered=config.considered,
                views=views,
                least_range=config.least_range,
                score_margin_weight=config.score_margin_weight,
                solver_limit=config.solver_limit,
            )
        return self._search

    def _samples(self, game: int, plies: slice) -> Samples:
        """Positions of a game that has ended."""
        states = self._states[game, plies].copy()
        finals = np.repeat(self.states[[game]], len(states))
        policy, values = self._policy[game, plies].copy(), self._values[game, plies].copy()
        return Samples(states, finals, policy, values)

    def _count(self, rows: NDArray[np.int64], pool: OpponentPool) -> None:
        """Counts the results of games that have ended."""
        payoff = np.zeros((len(rows), self.game.max_players), np.float32)
        kernels(self.game).outcome(self.states[rows], payoff, np.zeros_like(payoff))
        self.opponents.count(rows, payoff, pool)
        self.wins += self.opponents.self_play_wins(rows, payoff, self.from_initial_state[rows])

    def _begin_games(
        self, rows: NDArray[np.int64], progress: float, opponents: Sequence[int]
    ) -> None:
        """Starts new games in `rows`."""
        if not len(rows):
            return
        share = self.config.pool.share
        self.length[rows] = 0
        self.states[rows], drawn = self._initial_states.begin(rows, progress, share, opponents)
        self.from_initial_state[rows] = drawn.usual
        self.opponents.begin(rows, drawn)

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name; of the plies that there is room for, those played."""
        kept = self._kept()
        return {
            "play.states": as_bytes(self.states),
            "play.kept.states": as_bytes(self._states[kept]),
            "play.kept.policy": torch.from_numpy(self._policy[kept]),
            "play.kept.values": torch.from_numpy(self._values[kept]),
            "play.from_initial_state": torch.from_numpy(self.from_initial_state.copy()),
            "play.length": torch.from_numpy(self.length.copy()),
            "play.counters": torch.tensor([self.plies, self._initial_states.begun]),
            **(named("play.", self.opponents.tensors()) if self.config.pool.share else {}),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.states = as_records(saved["play.states"], self.states)
        self.from_initial_state[:] = saved["play.from_initial_state"].numpy()
        self.length[:] = saved["play.length"].numpy()
        self._make_room(int(self.length.max()))
        if self.config.pool.share:
            self.opponents.load(under("play.", saved))
        kept = self._kept()
        self._states[kept] = as_records(saved["play.kept.states"], self.states)
        self._policy[kept] = saved["play.kept.policy"].numpy()
        self._values[kept] = saved["play.kept.values"].numpy()
        self.plies, self._initial_states.begun = saved["play.counters"].tolist()

    def _make_room(self, plies: int) -> None:
        """Makes room for so many plies of every game, and for twice as many as there was."""
        before = self._states.shape[1]
        for name in ("_states", "_policy", "_values") if plies > before else ():
            kept = getattr(self, name)
            wider = np.zeros((len(kept), max(plies, 2 * before), *kept.shape[2:]), kept.dtype)
            wider[:, :before] = kept
            setattr(self, name, wider)

    def _kept(self) -> NDArray[np.bool_]:
        """Which plies of the games were played; [N, plies that there is room for]."""
        return np.arange(self._states.shape[1]) < self.length[:, None]


def as_bytes(records: NDArray[Any]) -> Tensor:
    """Records as a tensor of bytes."""
    return torch.from_numpy(np.frombuffer(records.tobytes(), np.uint8).copy())


def as_records(saved: Tensor, like: NDArray[Any]) -> NDArray[Any]:
    """The records [N] that `as_bytes` wrote, of the type of `like`."""
    return saved.numpy().view(like.dtype).copy()
