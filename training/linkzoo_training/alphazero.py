"""Gumbel AlphaZero (Danihelka et al. 2022) for any game that hides nothing, from top to bottom.

Each iteration plays `horizon` plies of `num_envs` games against itself, every move chosen by a
search of `simulations` with the network. Of each finished game every position becomes a lesson: the
policy learns what the search preferred, the values learn how the game ended and what the search
thought of it, and a forecast of the final position makes the features richer. Lessons stay in a
window of iterations, and each is learned from a fixed number of times, every time through one of
the game's symmetries.

All randomness is a function of the seed and of counters, so that a run which was stopped goes on
to the same weights as one that was not.
"""

import time
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from linkzoo import Game, get_game
from linkzoo.batch import kernels
from linkzoo.chance import word
from linkzoo.features import FeatureMap
from linkzoo_training import distributed, trainer
from linkzoo_training.checkpoint import named, under
from linkzoo_training.config import AlphaZeroConfig
from linkzoo_training.crew import Crew, PartWorker, Tensors, part_of
from linkzoo_training.engine import Engine
from linkzoo_training.networks import Forecast, frozen, make_network, masked
from linkzoo_training.runtime import use_bf16
from linkzoo_training.search.gumbel import GumbelSearch
from linkzoo_training.starts import Starts
from linkzoo_training.symmetries import symmetries

_STREAM_SEEDS = 2005  # seeds of searches; index = plies played so far, position = game
_MOST_BATCHES = 2**20  # of an iteration


@dataclass(frozen=True)
class Lessons:
    """M positions and what is to be learned from them."""

    states: NDArray[Any]  # records [M]
    finals: NDArray[Any]  # records [M]: how the game ended
    policy: NDArray[np.float16]  # [M, A]: the improved policy
    values: NDArray[np.float32]  # [M, P]: what the search thought, by seat

    def __len__(self) -> int:
        return len(self.states)

    def __getitem__(self, rows: Any) -> "Lessons":
        return Lessons(*(getattr(self, field.name)[rows] for field in fields(self)))

    def tensors(self) -> Tensors:
        """Everything to save or to send, by name."""
        return {
            "states": as_bytes(self.states),
            "finals": as_bytes(self.finals),
            "policy": torch.from_numpy(self.policy),
            "values": torch.from_numpy(self.values),
        }


def lessons_of(saved: Tensors, game: Game) -> Lessons:
    """The lessons that `tensors` gave."""
    blank = np.empty(0, game.state)
    states, finals = (as_records(saved[name], blank) for name in ("states", "finals"))
    return Lessons(states, finals, saved["policy"].numpy(), saved["values"].numpy())


def join(parts: list[Lessons]) -> Lessons:
    """All lessons of one part or more, in order."""
    names = [field.name for field in fields(Lessons)]
    return Lessons(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))


class SelfPlay:
    """N games that go on from iteration to iteration, and the lessons of those not finished."""

    def __init__(self, config: AlphaZeroConfig, game: Game, device: torch.device) -> None:
        self.config, self.game, self.device = config, game, device
        games, longest = config.num_envs, game.max_length
        blank = np.zeros(games, game.state)
        for first, players in enumerate(config.players):
            blank[first :: len(config.players)] = game.blank(players, config.options)
        self._starts = Starts(config, blank)
        self.states, self.whole, _ = self._starts.draw(np.arange(games), 0.0)
        self.length = np.zeros(games, np.int64)  # plies of every game that are kept below
        self._states = np.zeros((games, longest), game.state)
        self._policy = np.zeros((games, longest, game.num_actions), np.float16)
        self._values = np.zeros((games, longest, game.max_players), np.float32)
        self.plies = 0  # played so far in every game
        self.wins = np.zeros(game.max_players)  # by seat, in whole games, since read
        self._search: GumbelSearch | None = None

    def collect(self, network: nn.Module, simulations: int, progress: float) -> Lessons:
        """Plays `horizon` plies of every game; the lessons of those that ended."""

        def answer(features: NDArray[Any]) -> tuple[Tensor, Tensor]:
            with torch.no_grad():
                logits, values = network(torch.from_numpy(features).to(self.device))
            return logits, values

        config, games = self.config, np.arange(self.config.num_envs)
        masks = np.empty((len(games), self.game.num_actions), np.int8)
        learned = [Lessons(self._states[0, :0], self._states[0, :0], *self._none())]
        for _ in range(config.horizon):
            seeds = [word(np.uint64(config.seed), _STREAM_SEEDS, self.plies, i) for i in games]
            found = self._searcher(simulations).run(
                self.states, np.array(seeds, np.uint64), answer, gumbel_scale=1.0
            )
            self._states[games, self.length] = self.states
            self._policy[games, self.length] = found.policy
            self._values[games, self.length] = found.values
            self.length += 1
            self.plies += 1
            kernels(self.game).play(self.states, found.actions, masks)
            finished = np.flatnonzero(self.states["seat"] < 0)
            learned += [self._lessons(game) for game in finished.tolist()]
            self._restart(finished, progress)
        return join(learned)

    def _none(self) -> tuple[NDArray[np.float16], NDArray[np.float32]]:
        return self._policy[0, :0], self._values[0, :0]

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
                margin_weight=config.margin_weight,
            )
        return self._search

    def _lessons(self, game: int) -> Lessons:
        """The positions of a game that has ended."""
        plies = slice(self.length[game])
        return Lessons(
            self._states[game, plies].copy(),
            self.states[[game] * self.length[game]],
            self._policy[game, plies].copy(),
            self._values[game, plies].copy(),
        )

    def _restart(self, rows: NDArray[np.int64], progress: float) -> None:
        """Counts the results of games that have ended, and begins others."""
        if not len(rows):
            return
        whole = self.states["winners"][rows[self.whole[rows]]]
        self.wins += ((whole[:, None] >> np.arange(len(self.wins), dtype=whole.dtype)) & 1).sum(0)
        self.length[rows] = 0
        self.states[rows], self.whole[rows], _ = self._starts.draw(rows, progress)

    def tensors(self) -> dict[str, Tensor]:
        """Everything to save, by name."""
        return {
            "play.states": as_bytes(self.states),
            "play.kept.states": as_bytes(self._states),
            "play.kept.policy": torch.from_numpy(self._policy.copy()),
            "play.kept.values": torch.from_numpy(self._values.copy()),
            "play.whole": torch.from_numpy(self.whole.copy()),
            "play.length": torch.from_numpy(self.length.copy()),
            "play.counters": torch.tensor([self.plies, self._starts.begun]),
        }

    def load(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.states = as_records(saved["play.states"], self.states)
        self._states = as_records(saved["play.kept.states"], self._states)
        self._policy[:] = saved["play.kept.policy"].numpy()
        self._values[:] = saved["play.kept.values"].numpy()
        self.whole[:] = saved["play.whole"].numpy()
        self.length[:] = saved["play.length"].numpy()
        self.plies, self._starts.begun = saved["play.counters"].tolist()


class LessonWorker(PartWorker[SelfPlay]):
    """Plays any of `parts` parts of a run's games."""

    def __init__(self, config: AlphaZeroConfig, parts: int) -> None:
        super().__init__()
        self._config, self._parts, self._device = config, parts, torch.device("cpu")
        self._game = get_game(config.game, config.options)
        network = make_network(self._game, config.network, config.width, config.blocks)
        self._network = frozen(network, use_bf16(config.precision, self._device))

    def begin(self, part: int) -> SelfPlay:
        """See PartWorker."""
        return SelfPlay(part_of(self._config, part, self._parts), self._game, self._device)

    def collect(self, games: SelfPlay, sent: Tensors) -> Tensors:
        """See PartWorker; the lessons, and the results of whole games."""
        self._network.load_state_dict(under("network.", sent))
        simulations, progress = sent["numbers"].tolist()
        games.wins[:] = 0
        lessons = games.collect(self._network, int(simulations), progress)
        return {"wins": torch.from_numpy(games.wins.copy()), **lessons.tensors()}


class LessonCrew(Crew):
    """Stands where SelfPlay does: searches are with the network of one iteration ago."""

    def __init__(self, config: AlphaZeroConfig, game: Game, engine: Engine) -> None:
        part_of(config, 0, engine.workers)  # raises if there is none
        super().__init__(engine, partial(LessonWorker, config, engine.workers))
        self.game, self.wins = game, np.zeros(game.max_players)  # see SelfPlay

    def collect(self, network: nn.Module, simulations: int, progress: float) -> Lessons:
        """An iteration's lessons; the workers search the next one's while the learner learns."""
        numbers = torch.tensor([simulations, progress], dtype=torch.float64)
        message = {"numbers": numbers, **named("network.", network.state_dict())}
        if not self.playing:
            self.send(message)
        results = self.receive()
        self.send(message)
        self.wins += torch.stack([result["wins"] for result in results]).sum(0).numpy()
        return join([lessons_of(result, self.game) for result in results])


def as_bytes(records: NDArray[Any]) -> Tensor:
    """Records as a tensor of bytes."""
    return torch.from_numpy(np.frombuffer(records.tobytes(), np.uint8).copy())


def as_records(saved: Tensor, like: NDArray[Any]) -> NDArray[Any]:
    """The records that `as_bytes` wrote, of the type and trailing shape of `like`."""
    return saved.numpy().view(like.dtype).reshape(-1, *like.shape[1:]).copy()


@dataclass(frozen=True)
class Losses:
    """Means over the batches of one iteration."""

    policy: float  # KL divergence of the improved policy from the network's
    value: float
    forecast: float
    entropy: float


class Trainer(trainer.Trainer):
    """One run: its network, games, lessons and counters. `iterate` is the algorithm."""

    def __init__(self, config: AlphaZeroConfig, engine: Engine | None = None) -> None:
        super().__init__(config, engine)
        self.config, self.margin_weight = config, config.margin_weight
        games = distributed.own(config)
        self.play: SelfPlay | LessonCrew = (
            SelfPlay(games, self.game, self.device)
            if engine is None
            else LessonCrew(games, self.game, engine)
        )
        self.map = FeatureMap(self.game.observation)
        self.forecast = Forecast(self.network).to(self.device)
        self.learned = [*self.network.parameters(), *self.forecast.parameters()]
        self.optimizer = torch.optim.Adam(
            self.learned, lr=config.learning_rate, weight_decay=config.weight_decay, fused=True
        )
        distributed.begin_equal(self.learned)
        self.actor = self.frozen(self.network)
        self.window: list[Lessons] = []  # one for each iteration, the oldest first

    @property
    def simulations(self) -> int:
        """Of every move, at this point of the run."""
        steps = self.config.simulations
        return steps[min(int(self.progress * len(steps)), len(steps) - 1)]

    def iterate(self) -> dict[str, float]:
        """One iteration: play and learn. Returns its metrics."""
        config, started = self.config, time.perf_counter()
        lessons = self.play.collect(self.actor, self.simulations, self.progress)
        self.window = [*self.window, lessons][-config.window :]
        played = time.perf_counter() - started
        losses = self.learn(self.due())
        simulations = self.simulations
        self.iteration += 1
        self.actor = self.frozen(self.network)
        spent = time.perf_counter() - started
        return {
            **self.progressed(spent),
            "simulations": simulations,
            "time playing": played / spent,
            "lessons": len(lessons),
            "loss/policy": losses.policy,
            "loss/value": losses.value,
            "loss/forecast": losses.forecast,
            "entropy": losses.entropy,
        }

    def due(self) -> Lessons:
        """The lessons of the window whose turn it is: each has `reuse` turns in `window` ages."""
        period = self.config.window // self.config.reuse
        newest = len(self.window) - 1
        return join([part[(newest - k) % period :: period] for k, part in enumerate(self.window)])

    def learn(self, lessons: Lessons) -> Losses:
        """Gradient steps on lessons, each of them once."""
        config, progress = self.config, self.progress
        rate = config.learning_rate
        for group in self.optimizer.param_groups:
            group["lr"] = rate + (config.learning_rate_final - rate) * progress
        order = np.random.Generator(np.random.PCG64([config.seed, self.iteration])).permutation(
            len(lessons)
        )
        totals: list[Tensor] = []
        fewest = distributed.fewest(len(order))
        parts = np.array_split(order, max(1, round(fewest / config.batch_size)))
        for index, rows in enumerate(parts if fewest else []):
            features, mask, policy, targets, margins, planes = self._batch(lessons[rows], index)
            with torch.autocast(self.device.type, torch.bfloat16, enabled=self.bf16):
                cells, whole = self.network.read(features)
                logits, values = self.network.answer(cells, whole)
                final_margins, final_planes = self.forecast(cells, whole)
            log_policy = torch.log_softmax(masked(logits, mask), -1)
            policy_loss = (policy * (policy.clamp(min=1e-30).log() - log_policy)).sum(-1).mean()
            value_loss = (values.float() - targets).square().mean()
            forecast_loss = (final_margins.float() - margins).square().mean()
            if self.forecast.planes is not None:
                forecast_loss = forecast_loss + (final_planes.float() - planes).square().mean()
            loss = policy_loss + config.value_weight * value_loss
            loss = loss + config.forecast_weight * forecast_loss
            self.optimizer.zero_grad(set_to_none=True)
            loss.backward()
            distributed.average_gradients(self.learned, len(rows))
            nn.utils.clip_grad_norm_(self.learned, config.max_grad_norm)
            self.optimizer.step()
            entropy = -(log_policy.exp() * log_policy).sum(-1).mean()
            totals.append(torch.stack([policy_loss, value_loss, forecast_loss, entropy]).detach())
        if not totals:
            return Losses(0.0, 0.0, 0.0, 0.0)
        return Losses(*distributed.average(torch.stack(totals).mean(0)).tolist())

    def _batch(self, lessons: Lessons, index: int) -> tuple[Tensor, ...]:
        """Lessons as tensors, each seen through a random symmetry.

        Features [M, F], mask and policy [M, A], the values to learn and the final margins [M, P]
        relative to the seat to act, the planes of the final board [M, C * H * W].
        """
        count, game, kernel = len(lessons), self.game, kernels(self.game)
        seat = lessons.states["seat"].copy()
        mask = np.empty((count, game.num_actions), np.int8)
        kernel.legal(lessons.states, mask)
        features, final = self._seen(lessons.states, seat), self._seen(lessons.finals, seat)
        policy = lessons.policy.astype(np.float32)
        policy /= policy.sum(1, keepdims=True)
        if self.config.symmetric:
            ply = self.iteration * _MOST_BATCHES + index
            every = symmetries(game)
            which = every.draw(count, np.uint64(self.config.seed), ply)
            every.turn(features, mask, which)
            every.turn_features(final, which)
            every.turn_actions(policy, which)
        payoff = np.zeros((count, game.max_players), np.float32)
        margins = np.zeros_like(payoff)
        kernel.outcome(lessons.finals, payoff, margins)
        share = self.config.root_share
        payoff += self.config.margin_weight * margins
        targets = (1 - share) * payoff + share * lessons.values
        players = lessons.states["num_players"]
        board = 0 if self.map.board is None else int(np.prod(self.map.board))
        planes = final[:, :board] * self.map.scale[:board]
        arrays = (
            features,
            mask,
            policy,
            relative(targets, seat, players),
            relative(margins, seat, players),
            planes,
        )
        return tuple(torch.from_numpy(array).to(self.device) for array in arrays)

    def _seen(self, states: NDArray[Any], seats: NDArray[Any]) -> NDArray[Any]:
        """What seats [M] see of records [M], as features [M, F]."""
        spec = self.game.observation
        flat = np.empty((len(states), spec.size), spec.dtype)
        kernels(self.game).observe(states, seats, flat)
        return self.map(flat)

    def tensors(self) -> dict[str, Tensor]:
        """The forecast, the games as they stand, and the lessons of the window."""
        saved = named("forecast.", self.forecast.state_dict())
        sizes = torch.tensor([len(part) for part in self.window])
        window = {"sizes": sizes, **join(self.window).tensors()}
        return saved | self.play.tensors() | named("window.", window)

    def restore(self, saved: dict[str, Tensor]) -> None:
        """Restores what `tensors` gave."""
        self.forecast.load_state_dict(under("forecast.", saved))
        self.play.load(saved)
        lessons = lessons_of(under("window.", saved), self.game)
        ends = np.cumsum(saved["window.sizes"].numpy())
        starts = np.concatenate([[0], ends[:-1]])
        self.window = [lessons[a:b] for a, b in zip(starts, ends, strict=True)]
        self.actor = self.frozen(self.network)


def relative(
    numbers: NDArray[np.float32], seat: NDArray[Any], players: NDArray[Any]
) -> NDArray[np.float32]:
    """Numbers [M, P] by absolute seat as numbers relative to `seat` [M], 0 beyond `players` [M]."""
    index = np.arange(numbers.shape[1])
    where = (seat[:, None].astype(np.int64) + index) % players[:, None]
    turned: NDArray[np.float32] = np.take_along_axis(numbers, where, 1)
    return np.where(index < players[:, None], turned, np.float32(0))
