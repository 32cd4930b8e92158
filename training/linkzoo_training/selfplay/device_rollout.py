"""Rollouts that never leave a GPU: games, features, networks, actions and advantages lie there."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Agent
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_FIXED_OPPONENT, STREAM_TEACHER, words
from linkzoo.cuda import device as gpu
from linkzoo.cuda.vector import CudaVecEnv, CudaVecStep
from linkzoo.core.features import FeatureMap
from linkzoo.core.game import ObservationSpec
from linkzoo_training.agents.specs import make_agent
from linkzoo_training.config import PPOConfig
from linkzoo_training.networks import masked, select
from linkzoo_training.schedule import at
from linkzoo_training.selfplay.gae import advantages
from linkzoo_training.selfplay.initial_states import DRAW, ITSELF, Drawn, InitialStates
from linkzoo_training.selfplay.opponent_pool import OpponentPool
from linkzoo_training.selfplay.opponents import DIVERGED, agent_actions
from linkzoo_training.selfplay.rollout import Batch
from linkzoo_training.selfplay.sampling import UNIFORMS, draw
from linkzoo_training.selfplay.teacher import ask, room
from linkzoo_training.symmetries import DRAW as DRAW_VIEWS
from linkzoo_training.symmetries import symmetries
from linkzoo_training.transfers import ToHost, to_device


class DeviceRolloutGames:
    """Stands where RolloutGames does, and plays the same games; needs the extra `cuda`.

    Nothing is copied to the host in a ply but, where there is a pool, how many games each opponent
    is asked for, and the positions in which fixed opponents and a teacher are: they think on the
    CPU.
    """

    def __init__(self, config: PPOConfig, device: torch.device) -> None:
        self.config, self.device = config, device
        self._vec = CudaVecEnv(
            config.game, config.num_envs, config.players, check=False, **config.options
        )
        self._now: CudaVecStep = self._vec.reset()
        self.game, self.states = self._vec.game, self._vec.states
        blank = self.states.cpu().numpy().view(self.game.state)[:, 0]
        self._initial_states = InitialStates(config, blank)
        self._blank, self.players = self.states.clone(), self._there(blank["num_players"])
        self._seed = np.uint64(config.seed)
        games, seats = config.num_envs, self._vec.num_players
        sides = np.zeros((seats + 1, seats), np.int64)  # by number of players and seat
        for count in config.players:
            sides[count, :count] = self.game.sides(count)
        self._side, self._seats = self._there(sides), torch.arange(seats, device=device)
        # See RolloutGames
        self.opponent = self._zeros(games, dtype=torch.int64) + ITSELF
        self.learner_seat = self._zeros(games, dtype=torch.int8)
        self.from_initial_state = self._zeros(games, dtype=torch.bool)
        self.plies, self.wins = 0, np.zeros(seats)
        self._drawn = Drawn(*map(self._there, self._initial_states.room(games)))
        self._begun = self._zeros(1, dtype=torch.int64)  # games so far
        # Since they were read: by seat, and [wins, games] of the pool
        self._wins = self._zeros(seats, dtype=torch.float64)
        self._fixed_opponents = [
            make_agent(name, config.game) for name in config.pool.fixed_opponents
        ]
        self._slots = torch.arange(config.pool.size + len(self._fixed_opponents), device=device)
        self._met = self._zeros(2, len(self._slots), dtype=torch.float64)
        teacher = config.teacher
        self._teacher = None if teacher is None else make_agent(teacher.agent, config.game)
        self._diverged = self._zeros(1, dtype=torch.bool)
        self._uniform = self._zeros(games)
        self._view = self._zeros(games, dtype=torch.int64)  # see RolloutGames
        self._symmetries = symmetries(self.game) if config.symmetric else None
        if self._symmetries is not None:
            found = self._symmetries
            self._turned = self._there(found.features), self._there(found.hidden)
            self._back, self._actions = self._there(found.back), self._there(found.actions)
        self._make_room()

    def _make_room(self) -> None:
        """For what is kept of an iteration."""
        plies, games, seats = self.config.horizon, self.config.num_envs, self._vec.num_players
        kind, actions = self._now.observation.dtype, self.game.num_actions
        self._map = self._columns(self.game.observation)
        self._hidden_map = self._columns(self.game.hidden if self.config.critic == "full" else None)
        seen, hidden = len(self._map[0]), len(self._hidden_map[0])
        self._features = self._zeros(plies + 1, games, seen, dtype=kind)
        self._hidden = self._zeros(plies + 1, games, hidden, dtype=kind)
        self._mask = self._zeros(plies, games, actions, dtype=torch.int8)
        self._action = self._zeros(plies, games, dtype=torch.int64)
        answer, answer_type = room(self._teacher, self.game)
        self._taught = self._zeros(plies, games, *answer, dtype=answer_type)
        self._log_probability = self._zeros(plies, games)
        kept = actions if self.config.kl_coef > 0 else 0
        self._log_policy = self._zeros(plies, games, kept, dtype=torch.bfloat16)
        self._learner = self._zeros(plies, games, dtype=torch.bool)
        self._seat = self._zeros(plies + 1, games, dtype=torch.int8)
        self._values = self._zeros(plies + 1, games, seats)
        self._payoff = self._zeros(plies, games, seats)
        self._done = self._zeros(plies, games, dtype=torch.bool)
        self._advantage = self._zeros(plies, games)
        self._targets = self._zeros(plies, games, seats)

    def _zeros(self, *shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
        return torch.zeros(shape, dtype=dtype, device=self.device)

    def _there(self, array: NDArray[Any]) -> Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _columns(self, spec: ObservationSpec | None) -> tuple[Tensor, Tensor]:
        """What `select` takes; nothing of no observation."""
        if spec is None:
            return self._zeros(0, dtype=torch.int64), self._zeros(0, dtype=torch.int16)
        found = FeatureMap(spec)
        return self._there(found.columns), self._there(found.levels.astype(np.int16))

    def begin(self) -> None:
        """Starts all games of a run."""
        self._begin_games(torch.ones_like(self.from_initial_state), self._chances(0.0, ()))

    def drop_opponent(self, slot: int, progress: float) -> None:
        """As RolloutGames does."""
        which = (self.opponent == slot) & (self.opponent != ITSELF)
        self._begin_games(which, self._chances(progress, None))

    def _chances(self, progress: float, drawn: Sequence[int] | None) -> list[Any]:
        """See InitialStates: the opponents are those drawn from the pool, and the fixed ones."""
        fixed = range(self.config.pool.size, len(self._slots))
        opponents = [] if drawn is None else [*drawn, *fixed]
        found = self._initial_states.chances(progress, self.config.pool.share, opponents)
        return [self._there(part) if isinstance(part, np.ndarray) else part for part in found]

    def _begin_games(self, which: Tensor, chances: list[Any]) -> None:
        """As RolloutGames does, where `which` [N] is true."""
        numbers = torch.where(which, self._begun + which.cumsum(0) - 1, -1)
        self._begun += which.sum()
        gpu.launch(DRAW, numbers, self.players, *chances, *self._drawn)
        states = torch.where(which[:, None], self._blank, self.states)
        for k, option in enumerate(self._initial_states.varied):
            kind, first = self.game.state.fields[option][:2]  # type: ignore[index]  # a record's
            values = self._drawn.options[:, k].to(torch.from_numpy(np.empty(0, kind)).dtype)
            place = slice(first, first + kind.itemsize)
            written = values[:, None].view(torch.uint8)
            states[:, place] = torch.where(which[:, None], written, states[:, place])
        self.states.copy_(states)
        seeds = gpu.view(self._drawn.seed, np.uint64)
        records, plies = self._vec.records(), self._drawn.plies
        gpu.launch(kernels(self.game).renew, records, self._now.action_mask, seeds, seeds, plies)
        for kept, new in (
            (self.opponent, self._drawn.opponent),
            (self.learner_seat, self._drawn.learner_seat),
            (self.from_initial_state, self._drawn.usual),
        ):
            kept.copy_(torch.where(which, new, kept))
        self._vec.refresh()

    def collect(
        self,
        network: nn.Module,
        critic: nn.Module | None,
        pool: OpponentPool,
        progress: float,
        iteration: int,
    ) -> Batch:
        """As RolloutGames does."""
        drawn = pool.draw(self.config.pool.active, iteration).tolist()
        chances = self._chances(progress, drawn)
        teacher = self._teacher if self.config.teacher_weight(progress) > 0 else None
        margin_weight = at(self.config.score_margin_weight, progress)
        self._vec.refresh()
        for t in range(self.config.horizon):
            self._encode(t)
            self._turn(t)
            values, probabilities = self._forward(network, critic, pool, t)
            self._values[t] = self._by_seat(values, t)
            if teacher is not None:
                rows = self._learner[t].nonzero()[:, 0]
                sent = self._sent(rows, STREAM_TEACHER)
                taught = ask(teacher, self.game, *sent, margin_weight)
                self._taught[t, rows] = self._seen(taught, rows).to(self._taught.dtype)
            actions = self._sample(probabilities, t)
            now = self._vec.step(actions)
            self._done[t] = now.done
            self._payoff[t] = now.reward + margin_weight * now.score
            self._count(now)
            self._begin_games(now.done, chances)
            self.plies += 1
        self._encode(-1)
        self._values[-1] = self._by_seat(self._evaluate(network, critic, -1)[0], -1)
        self._read(pool)
        return self._batch(teacher is not None)

    def _encode(self, t: int) -> None:
        """Keeps what the seats to act see at ply t, and for a full critic what they can't see."""
        now = self._now
        self._seat[t] = now.seat
        self._features[t] = select(now.observation.flatten(1), *self._map)
        reveal, spec = kernels(self.game).reveal, self.game.hidden
        if self._hidden.shape[2] and reveal is not None and spec is not None:
            revealed = self._zeros(len(now.seat), spec.size, dtype=self._hidden.dtype)
            gpu.launch(reveal, self._vec.records(), now.seat, revealed)
            self._hidden[t] = select(revealed, *self._hidden_map)

    def _turn(self, t: int) -> None:
        """Keeps the masks of ply t; turns all that was kept into symmetric views."""
        self._mask[t] = self._now.action_mask
        if self._symmetries is None:
            return
        gpu.launch(DRAW_VIEWS, self._view, len(self._symmetries), self._seed, self.plies, 0)
        kept = (self._features, self._turned[0]), (self._hidden, self._turned[1])
        for rows, sources in (*kept, (self._mask, self._back)):
            if rows.shape[2]:
                rows[t] = rows[t].gather(1, sources[self._view])

    def _evaluate(
        self, network: nn.Module, critic: nn.Module | None, t: int
    ) -> tuple[Tensor, Tensor]:
        """Values [N, P] relative to the seats to act at ply t, and the network's logits [N, A]."""
        with torch.no_grad():
            logits, values = network(self._features[t])
            if critic is not None:
                values = critic(self._features[t], self._hidden[t])
        return values.float(), logits

    def _forward(
        self, network: nn.Module, critic: nn.Module | None, pool: OpponentPool, t: int
    ) -> tuple[Tensor, Tensor]:
        """Values as `_evaluate`, and probabilities [N, A] of the actions of whoever is to act."""
        frozen, features, mask = self.frozen(t, slice(None)), self._features[t], self._mask[t]
        self._learner[t] = ~frozen
        met = self._met_by(frozen) if pool.networks or self._fixed_opponents else None
        values, logits = self._evaluate(network, critic, t)
        probabilities = torch.softmax(masked(logits, mask), -1)
        if met is not None:
            order, sent = met
            (counts,) = sent.arrays()
            for slot in counts.nonzero()[0]:
                last = counts[: slot + 1].sum()
                rows = order[last - counts[slot] : last]
                if slot >= pool.size:
                    agent = self._fixed_opponents[slot - pool.size]
                    actions = self._agent_actions(agent, rows, STREAM_FIXED_OPPONENT)
                    probabilities[rows] = 0
                    probabilities[rows, actions] = 1
                    continue
                with torch.no_grad():
                    logits, _ = pool.networks[slot](features[rows])
                probabilities[rows] = torch.softmax(masked(logits, mask[rows]), -1)
        if self.config.kl_coef > 0:
            self._log_policy[t] = probabilities.clamp(min=1e-30).log()
        return values, probabilities

    def _met_by(self, frozen: Tensor) -> tuple[Tensor, ToHost]:
        """The games in which opponents act, by their slots, and on its way how many each has."""
        slots = torch.where(frozen, self.opponent, len(self._slots))
        return slots.argsort(stable=True), ToHost((slots[:, None] == self._slots).sum(0))

    def _agent_actions(self, agent: Agent, games: Tensor, stream: int) -> Tensor:
        """As RolloutGames does, for a tensor of games [M]."""
        actions = agent_actions(agent, self.game, *self._sent(games, stream))
        return self._seen(actions, games)

    def _seen(self, told: NDArray[Any], games: Tensor) -> Tensor:
        """As RolloutGames does, on the device, for a tensor of games [M]."""
        there = to_device(told, self.device)
        if self._symmetries is None:
            return there
        if there.ndim > 1:
            return there.gather(1, self._back[self._view[games]])
        return self._actions[self._view[games], there]

    def _sent(self, games: Tensor, stream: int) -> tuple[NDArray[Any], NDArray[np.uint64]]:
        """For agents, who think on the CPU: the records of games [M], and seeds."""
        states, numbers = ToHost(self.states[games], games).arrays()
        seeds = words(self.config.seed, stream, self.plies, numbers)
        return states.view(self.game.state)[:, 0], seeds

    def _sample(self, probabilities: Tensor, t: int) -> Tensor:
        """Draws the actions of ply t; returns them as the games have them."""
        gpu.launch(UNIFORMS, self._uniform, self._seed, self.plies, 0)
        actions, self._log_probability[t] = draw(probabilities, self._uniform)
        self._diverged |= (actions < 0).any()
        # The games go on with something legal: the iteration ends with an error.
        self._action[t] = torch.where(actions < 0, self._mask[t].argmax(-1), actions)
        if self._symmetries is None:
            return self._action[t]
        return self._back[self._view, self._action[t]]

    def _by_seat(self, relative: Tensor, t: int) -> Tensor:
        """Values [N, P] by absolute seat; see `by_seat`."""
        players = self.players.long()[:, None]
        offset = (self._seats - self._seat[t].long()[:, None]) % players
        return torch.where(self._seats < players, relative.gather(1, offset), 0)

    def frozen(self, t: int, games: slice) -> Tensor:
        """As RolloutGames does."""
        players = self.players[games].long()
        acting = self._side[players, self._seat[t, games].long()]
        own = self._side[players, self.learner_seat[games].long()]
        return (self.opponent[games] != ITSELF) & (acting != own)

    def _count(self, now: CudaVecStep) -> None:
        """Counts the results of finished games."""
        itself = self.opponent == ITSELF
        if len(self._slots):
            payoff = now.reward.gather(1, self.learner_seat.long()[:, None])[:, 0]
            met = (now.done & ~itself).double()
            score = torch.where(payoff > 0, 1.0, torch.where(payoff < 0, 0.0, 0.5)) * met
            slots = self.opponent.clamp(min=0)
            self._met.index_add_(1, slots, torch.stack([score, met]))
        own = now.done & itself & self.from_initial_state
        playing = self._seats < self.players.long()[:, None]
        best = torch.where(playing, now.reward, -torch.inf)
        won = (best == best.amax(1, keepdim=True)).double() * own[:, None]
        self._wins += (won / won.sum(1, keepdim=True).clamp(min=1)).sum(0)

    def _read(self, pool: OpponentPool) -> None:
        """Brings the counters to the host; ValueError if what the policy says isn't finite."""
        wins, met, diverged = ToHost(self._wins, self._met, self._diverged).arrays()
        if diverged.any():
            raise ValueError(DIVERGED)
        self.wins += wins
        pool.wins += met[0, : pool.size]
        pool.games += met[1, : pool.size]
        self._wins.zero_()
        self._met.zero_()

    def _batch(self, asked: bool) -> Batch:
        gpu.launch(
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
        return Batch(
            features=self._features[:-1].flatten(0, 1),
            mask=self._mask.flatten(0, 1),
            action=self._action.flatten(),
            log_probability=self._log_probability.flatten(),
            advantage=self._advantage.flatten(),
            targets=self._targets.flatten(0, 1),
            log_policy=self._log_policy.flatten(0, 1),
            hidden=self._hidden[:-1].flatten(0, 1),
            learner=self._learner.flatten(),
            taught=self._taught.flatten(0, 1),
            asked=torch.full_like(self._learner.flatten(), asked),
        )

    def tensors(self) -> dict[str, Tensor]:
        """As RolloutGames does: a run goes on wherever its games are played."""
        return {
            "play.states": self.states.flatten().cpu(),
            "play.opponent": self.opponent.cpu(),
            "play.learner_seat": self.learner_seat.cpu(),
            "play.from_initial_state": self.from_initial_state.cpu(),
            "play.counters": torch.tensor([self.plies, int(self._begun)]),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.states.copy_(saved["play.states"].view(self.states.shape))
        self.opponent.copy_(saved["play.opponent"])
        self.learner_seat.copy_(saved["play.learner_seat"])
        self.from_initial_state.copy_(saved["play.from_initial_state"])
        self.plies, begun = saved["play.counters"].tolist()
        self._begun.fill_(begun)
