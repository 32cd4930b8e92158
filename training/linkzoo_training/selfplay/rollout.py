"""Plays the games that the learner learns from, and turns them into batches."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Agent, VecEnv, VecStep, make_vec
from linkzoo.engine.rng import STREAM_TEACHER, words
from linkzoo.engine.compiled import compiled
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import PPOConfig
from linkzoo_training.networks import masked
from linkzoo_training.schedule import at
from linkzoo_training.selfplay.encoder import Encoder
from linkzoo_training.selfplay.gae import advantages
from linkzoo_training.selfplay.initial_states import InitialStates
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.opponents import DIVERGED, Opponents
from linkzoo_training.selfplay.sampling import sample
from linkzoo_training.selfplay.teacher import ask, room
from linkzoo_training.shards import answers
from linkzoo_training.symmetries import symmetries
from linkzoo_training.transfers import DeviceBuffer, ToHost, in_turn, to_device


@dataclass(frozen=True)
class Batch:
    """One iteration of T plies of N games with P seats: tensors on the device of the learner.

    `targets` and `values` are of the seats relative to the seat that acted.
    """

    features: Tensor  # integers [T*N, F], see FeatureMap
    mask: Tensor  # int8 [T*N, A]
    action: Tensor  # int64 [T*N]
    log_probability: Tensor  # float32 [T*N]: of the action, when it was taken
    advantage: Tensor  # float32 [T*N]: of the seat that acted
    targets: Tensor  # float32 [T*N, P]: lambda-returns
    log_policy: Tensor  # bfloat16 [T*N, A]: of all actions then; A is 0 without `kl_coef`
    hidden: Tensor  # integers [T*N, H]: what is hidden from the seat; H is 0 without a full critic
    learner: Tensor  # bool [T*N]: plies of the learner, not of a frozen opponent
    # If `asked`, of the teacher where the learner acts: the moves it would play, int64 [T*N], or
    # what it says that actions are worth to the seat to act, float16 [T*N, A].
    taught: Tensor
    asked: Tensor  # bool [T*N]: whether the teacher was, the same everywhere


@compiled
def by_seat(relative: Any, seat: Any, players: Any, out: Any) -> None:
    """Turns values [N, P'] relative to `seat` [N] into values [N, P] by absolute seat.

    Game i has `players[i]` seats; values of the others are 0.
    """
    for i in range(out.shape[0]):
        out[i] = 0
        for k in range(players[i]):
            out[i, (seat[i] + k) % players[i]] = relative[i, k]


class RolloutGames:
    """N games that continue from iteration to iteration, some of them against frozen opponents.

    They are played in `splits` groups: while a GPU answers for one of them, the host plays the
    others. Each game goes as it would in one group.
    """

    def __init__(self, config: PPOConfig, device: torch.device, splits: int = 1) -> None:
        self.config, self.device = config, device
        whole = make_vec(config.game, config.num_envs, config.players, **config.options)
        self.game, self.states = whole.game, whole.states
        self._initial_states = InitialStates(config, self.states)
        self.players: NDArray[np.int8] = self.states["num_players"].copy()  # of every game
        splits = min(splits, config.num_envs)
        ends = np.linspace(0, config.num_envs, splits + 1).astype(int).tolist()
        groups = [slice(first, last) for first, last in pairwise(ends)]
        self.parts = [(games, self._part(games)) for games in groups]
        self.encoder = Encoder(self.game, hidden=config.critic == "full")
        plies, games, seats = config.horizon, config.num_envs, whole.num_players
        pinned = device.type == "cuda"

        def buffer(*shape: int, dtype: torch.dtype) -> Tensor:
            return torch.zeros(shape, dtype=dtype, pin_memory=pinned)

        kind = torch.from_numpy(np.empty(0, self.encoder.dtype)).dtype
        seen, hidden = self.encoder.widths
        # These cross to the learner's device once, ply by ply, and stay for learning.
        self._features = DeviceBuffer(buffer(plies + 1, games, seen, dtype=kind), device)
        self._hidden = DeviceBuffer(buffer(plies + 1, games, hidden, dtype=kind), device)
        masks = buffer(plies, games, self.game.num_actions, dtype=torch.int8)
        self._mask = DeviceBuffer(masks, device)
        self._action = buffer(plies, games, dtype=torch.int64)
        kept = self.game.num_actions if config.kl_coef > 0 else 0
        self._log_policy = torch.zeros(plies, games, kept, dtype=torch.bfloat16, device=device)
        self._teacher = (
            None if config.teacher is None else make_agent(config.teacher.agent, config.game)
        )
        answer, answer_type = room(self._teacher, self.game)
        self._taught = buffer(plies, games, *answer, dtype=answer_type)
        self._log_probability = buffer(plies, games, dtype=torch.float32)
        self._learner = buffer(plies, games, dtype=torch.bool)
        self._advantage = buffer(plies, games, dtype=torch.float32)
        self._targets = buffer(plies, games, seats, dtype=torch.float32)
        self._values = np.zeros((plies + 1, games, seats), np.float32)
        self._payoff = np.zeros((plies, games, seats), np.float32)
        self._done = np.zeros((plies, games), np.bool_)
        self._seat = np.zeros((plies + 1, games), np.int8)
        self.opponents = Opponents(config.pool, self.game, self.players, config.seed)
        # Whether each is played from the start with the options that count.
        self.from_initial_state = np.zeros(games, np.bool_)
        self.plies = 0  # played so far in every game
        self.wins = np.zeros(seats)  # by seat, in self-play games from an initial state, since read
        self._symmetries = symmetries(self.game) if config.symmetric else None
        self._view = np.zeros(games, np.int64)  # the symmetry that each game is seen through

    def _part(self, games: slice) -> VecEnv:
        """Plays some of the games, where they lie."""
        config = self.config
        part = make_vec(
            config.game,
            games.stop - games.start,
            config.players,
            check=False,
            **config.options,
        )
        part.reset()
        part.states = self.states[games]
        return part

    def begin(self) -> None:
        """Starts all games of a run."""
        self.begin_games(np.arange(self.config.num_envs), 0.0, self.opponents.fixed_slots)

    def begin_games(
        self, rows: NDArray[np.int64], progress: float, opponents: NDArray[np.int64]
    ) -> None:
        """Starts new games in `rows`: varied options, random plies and opponents by the config."""
        if not len(rows):
            return
        share = self.config.pool.share
        states, drawn = self._initial_states.begin(rows, progress, share, opponents)
        self.states[rows], self.from_initial_state[rows] = states, drawn.usual
        self.opponents.begin(rows, drawn)

    def drop_opponent(self, slot: int, progress: float) -> None:
        """Leaves the games unfinished whose opponent gave up its slot, and begins others."""
        self.begin_games(self.opponents.against(slot), progress, np.zeros(0, np.int64))

    def collect(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        pool: OpponentPool,
        progress: float,
        iteration: int,
    ) -> Batch:
        """Plays `horizon` plies of every game with the network and the pool.

        Values are the critic's where there is one, else the network's.
        """
        drawn = pool.draw(self.config.pool.active, iteration)
        opponents = np.concatenate([drawn, self.opponents.fixed_slots])
        teacher = self._teacher if self.config.teacher_weight(progress) > 0 else None
        in_turn(
            *(
                self._play(part, games, network, critic, teacher, pool, opponents, progress)
                for games, part in self.parts
            )
        )
        self.plies += self.config.horizon
        return self._batch(teacher is not None)

    def _play(
        self,
        vec: VecEnv,
        games: slice,
        network: nn.Module,
        critic: nn.Module | None,
        teacher: Agent | None,
        pool: OpponentPool,
        opponents: NDArray[np.int64],
        progress: float,
    ) -> Iterator[None]:
        """Plays an iteration of some games; it stops whenever it has asked the networks."""
        config, seed, now = self.config, np.uint64(self.config.seed), vec.refresh()
        margin_weight = at(config.score_margin_weight, progress)
        for t in range(config.horizon):
            ply = self.plies + t
            self._encode(vec, now, t, games)
            self._mask.host[t, games] = torch.from_numpy(now.action_mask)
            if self._symmetries is not None:
                count = len(vec.states)
                self._turn(t, games, self._symmetries.draw(count, seed, ply, games.start))
            values, probabilities = self._forward(network, critic, t, games, pool)
            sent = ToHost(values, *sample(probabilities, seed, ply, games.start))
            if teacher is not None:
                rows = games.start + np.flatnonzero(self._learner[t, games].numpy())
                seeds = words(seed, STREAM_TEACHER, ply, rows)
                taught = ask(teacher, self.game, self.states[rows], seeds, margin_weight)
                seen = torch.from_numpy(self._seen(taught, rows))
                self._taught[t, rows] = seen.to(self._taught.dtype)
            yield
            relative, actions, log_probability = sent.arrays()
            by_seat(relative, self._seat[t, games], self.players[games], self._values[t, games])
            self._action[t, games] = torch.from_numpy(actions)
            self._log_probability[t, games] = torch.from_numpy(log_probability)
            if actions.min() < 0:
                raise ValueError(DIVERGED)
            if self._symmetries is not None:
                actions = self._symmetries.back[self._view[games], actions]
            now = vec.step(actions)
            self._done[t, games] = now.done
            self._payoff[t, games] = now.reward + margin_weight * now.score
            finished = np.flatnonzero(now.done)
            if len(finished):
                rows = games.start + finished
                self._count(rows, now.reward[finished], pool)
                self.begin_games(rows, progress, opponents)
                now = vec.refresh(finished)
        self._encode(vec, now, -1, games)
        sent = ToHost(self._evaluate(network, critic, -1, games)[0])
        yield
        (relative,) = sent.arrays()
        by_seat(relative, self._seat[-1, games], self.players[games], self._values[-1, games])

    def _encode(self, vec: VecEnv, now: VecStep, t: int, games: slice) -> None:
        """Keeps what the seats to act see at ply t, and for a full critic what they can't see."""
        self._seat[t, games] = now.seat
        seen, hidden = self._features.host[t, games].numpy(), self._hidden.host[t, games].numpy()
        self.encoder.encode(vec.states, now, seen, hidden)

    def _turn(self, t: int, games: slice, view: NDArray[np.int64]) -> None:
        """Turns what was kept at ply t into symmetric views."""
        assert self._symmetries is not None
        self._view[games] = view
        seen, mask = self._features.host[t, games].numpy(), self._mask.host[t, games].numpy()
        self._symmetries.turn(seen, mask, view)
        self._symmetries.turn_hidden(self._hidden.host[t, games].numpy(), view)

    def _evaluate(
        self, network: nn.Module, critic: nn.Module | None, t: int, games: slice
    ) -> tuple[Tensor, Tensor]:
        """Values [N, P] relative to the seats to act at ply t, and the network's logits [N, A]."""
        inputs = [self._features.send(t, games)]
        if critic is not None:
            inputs.append(self._hidden.send(t, games))

        def ask(features: Tensor, *hidden: Tensor) -> tuple[Tensor, Tensor]:
            logits, values = network(features)
            return logits, values if critic is None else critic(features, *hidden)

        logits, values = answers(ask, *inputs)
        return values.float(), logits

    def _forward(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        t: int,
        games: slice,
        pool: OpponentPool,
    ) -> tuple[Tensor, Tensor]:
        """Values as `_evaluate`, and probabilities [N, A] of the actions of whoever is to act."""
        frozen, opponent = self.frozen(t, games), self.opponents.slot[games]
        self._learner[t, games] = torch.from_numpy(~frozen)
        values, logits = self._evaluate(network, critic, t, games)
        mask, features = self._mask.send(t, games), self._features.device[t, games]
        probabilities = torch.softmax(masked(logits, mask), -1)
        for slot in np.unique(opponent[frozen]):
            met = np.flatnonzero(frozen & (opponent == slot))
            rows = to_device(met, self.device)
            agent = self.opponents.agent(slot)
            if agent is not None:
                where = games.start + met
                actions = self.opponents.actions(agent, self.states, where, self.plies + t)
                probabilities[rows] = 0
                played = to_device(self._seen(actions, where), self.device)
                probabilities[rows, played] = 1
                continue
            logits, _ = answers(pool.networks[slot], features[rows])
            probabilities[rows] = torch.softmax(masked(logits, mask[rows]), -1)
        if self.config.kl_coef > 0:
            self._log_policy[t, games] = probabilities.clamp(min=1e-30).log()
        return values, probabilities

    def _seen(self, told: NDArray[Any], rows: NDArray[np.int64]) -> NDArray[Any]:
        """In the views of games `rows` [M]: what agents say, who see them as they are.

        Actions [M], or numbers [M, A] for all actions.
        """
        if self._symmetries is None:
            return told
        if told.ndim > 1:
            self._symmetries.turn_actions(told, self._view[rows])
            return told
        return np.asarray(self._symmetries.actions[self._view[rows], told])

    def frozen(self, t: int, games: slice) -> NDArray[np.bool_]:
        """Whether a frozen opponent acts at ply t: it has the sides that aren't the learner's."""
        return self.opponents.act_in(self._seat[t, games], games)

    def _count(
        self, rows: NDArray[np.int64], reward: NDArray[np.float32], pool: OpponentPool
    ) -> None:
        """Counts the results of finished games: `reward` [M, P] of the games `rows` [M]."""
        self.opponents.count(rows, reward, pool)
        self.wins += self.opponents.self_play_wins(rows, reward, self.from_initial_state[rows])

    def _batch(self, asked: bool) -> Batch:
        advantages(
            self.players,
            self._payoff,
            self._values,
            self._done,
            self._seat,
            np.float32(self.config.gae_lambda),
            self._advantage.numpy(),
            self._targets.numpy(),
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
            taught=rows(self._taught),
            asked=torch.full((self._learner.numel(),), asked, device=self.device),
            log_policy=rows(self._log_policy),
            hidden=rows(self._hidden.device[:-1]),
        )

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name: the games as they stand."""
        return {
            "play.states": torch.from_numpy(self.states.view(np.uint8).copy()),
            **named("play.", self.opponents.tensors()),
            "play.from_initial_state": torch.from_numpy(self.from_initial_state.copy()),
            "play.counters": torch.tensor([self.plies, self._initial_states.begun]),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.states.view(np.uint8)[:] = saved["play.states"].numpy()
        self.opponents.load(under("play.", saved))
        self.from_initial_state[:] = saved["play.from_initial_state"].numpy()
        self.plies, self._initial_states.begun = saved["play.counters"].tolist()
