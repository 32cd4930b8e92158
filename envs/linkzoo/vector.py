"""Many games of one kind in lock-step, as arrays."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from linkzoo.batch import kernels
from linkzoo.chance import game_seed
from linkzoo.fields import integer
from linkzoo.games import get_game

# numba.config takes its names from the environment.
MAX_THREADS: int = numba.config.NUMBA_NUM_THREADS  # type: ignore[attr-defined]


@dataclass(frozen=True)
class VecStep:
    """What every game shows after `reset` or `step`: arrays that the next call overwrites.

    For N games of P players with A actions. Where `done`, the game has ended with this step and
    the next one has begun: `reward`, `score` and `episode_length` belong to the game that ended,
    `observation`, `action_mask` and `seat` to the new one.
    """

    observation: NDArray[Any]  # [N, *observation.shape]: what the seat to act sees
    action_mask: NDArray[np.int8]  # [N, A]: 1 for its legal actions
    seat: NDArray[np.int8]  # [N]: the seat to act
    reward: NDArray[np.float32]  # [N, P]: payoffs where done, else 0
    done: NDArray[np.bool_]  # [N]
    episode_length: NDArray[np.int32]  # [N]: plies of the game that the step belongs to
    score: NDArray[np.float32]  # [N, P]: margins on the scale of the rules where done, else 0


class VecEnv:
    """N games in lock-step on CPU threads; finished games restart in the same step.

    Game i of a run with seed s is the AEC game with seed `seed_of(i, episode)`, bit for bit.
    """

    def __init__(
        self,
        game: str,
        num_envs: int,
        num_players: int | None = None,
        *,
        device: str = "cpu",
        reward: str = "win",
        check: bool = True,
        num_threads: int | None = None,
        **options: Any,
    ) -> None:
        self.game = get_game(game, options)
        if device != "cpu":
            raise ValueError(f"device={device!r}: the simulator runs on 'cpu' only")
        if reward not in ("win", "score"):
            raise ValueError(f"reward={reward!r} is none of ['win', 'score']")
        if num_threads is not None:
            num_threads = integer("num_threads", num_threads, 1, MAX_THREADS)
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        blank = self.game.blank(num_players, options)
        self.num_envs, self.num_players = num_envs, int(blank.num_players)
        self.check, self.num_threads = check, num_threads
        self._kernels = kernels(self.game)
        self.states: NDArray[Any] = np.zeros(num_envs, self.game.state)
        self.states[:] = blank
        self.episodes = np.zeros(num_envs, np.int64)
        self._seed = np.uint64(0)
        self._started = False
        spec = self.game.observation
        self._actions = np.zeros(num_envs, np.int64)
        self._flat = np.zeros((num_envs, spec.size), spec.dtype)
        self._payoff = np.zeros((num_envs, self.num_players), np.float32)
        self._margin = np.zeros((num_envs, self.num_players), np.float32)
        self._now = VecStep(
            observation=self._flat.reshape(num_envs, *spec.shape),
            action_mask=np.zeros((num_envs, self.game.num_actions), np.int8),
            seat=np.zeros(num_envs, np.int8),
            reward=self._payoff if reward == "win" else self._margin,
            done=np.zeros(num_envs, np.bool_),
            episode_length=np.zeros(num_envs, np.int32),
            score=self._margin,
        )

    def reset(self, seed: int = 0) -> VecStep:
        """Starts every game anew; `seed` (0 <= seed < 2**64) fixes all chance of the run."""
        self._seed = np.uint64(integer("seed", seed, 0, 2**64 - 1))
        self.episodes[:] = 0
        seeds = np.array([self.seed_of(i, 0) for i in range(self.num_envs)], np.uint64)
        with self._threads():
            self._kernels.begin(self.states, seeds, self._now.action_mask)
        self._started = True
        for array in (self._payoff, self._margin, self._now.done, self._now.episode_length):
            array[:] = 0
        return self.refresh()

    def step(self, actions: ArrayLike) -> VecStep:
        """Plays an action in every game.

        `actions` are integers [N]. An illegal one raises ValueError naming its environment, and no
        game has moved (`check=False` skips this for trusted policies).
        """
        if not self._started:
            raise RuntimeError("step before reset: call reset() first")
        chosen = np.asarray(actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {chosen.dtype}{list(chosen.shape)}, not integers [{self.num_envs}]"
            )
        self._actions[:] = chosen  # one type and layout of array: others are compiled anew
        if self.check:
            self._check(self._actions)
        now = self._now
        with self._threads():
            self._kernels.step(
                self.states,
                self._actions,
                self._seed,
                self.episodes,
                now.action_mask,
                self._flat,
                now.seat,
                self._payoff,
                self._margin,
                now.done,
                now.episode_length,
            )
        return now

    def refresh(self) -> VecStep:
        """Shows the games again after `states` was changed from outside."""
        now = self._now
        now.seat[:] = self.states["seat"]
        with self._threads():
            self._kernels.legal(self.states, now.action_mask)
            self._kernels.observe(self.states, now.seat, self._flat)
        return now

    def seed_of(self, index: int, episode: int) -> int:
        """The seed of game `index` in its `episode`-th episode (from 0) of this run."""
        return int(game_seed(self._seed, index, episode))

    def _check(self, actions: NDArray[np.int64]) -> None:
        inside = (actions >= 0) & (actions < self.game.num_actions)
        rows = np.arange(self.num_envs)
        legal = inside & (self._now.action_mask[rows, np.where(inside, actions, 0)] == 1)
        if not legal.all():
            index = int(np.argmin(legal))
            action = int(actions[index])
            text = (
                self.game.action_to_text(self.states[index], action)
                if inside[index]
                else f"outside 0..{self.game.num_actions - 1}"
            )
            raise ValueError(f"environment {index}: action {action} ({text}) is illegal")

    @contextmanager
    def _threads(self) -> Iterator[None]:
        if self.num_threads is None:
            yield
            return
        before = numba.get_num_threads()
        numba.set_num_threads(self.num_threads)
        try:
            yield
        finally:
            numba.set_num_threads(before)
