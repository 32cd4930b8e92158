"""Many games of one kind in lock-step, as arrays."""

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from linkzoo.core.arguments import boolean, integer, one_of, shown
from linkzoo.core.kernels import first_illegal, kernels
from linkzoo.core.state import Record
from linkzoo.engine.compiled import entry_point
from linkzoo.engine.rng import game_seed, game_seeds
from linkzoo.engine.threads import MAX_THREADS, RowKernel, get_num_threads
from linkzoo.envs.aec import REWARDS
from linkzoo.envs.reward import RewardFunction, RewardHook
from linkzoo.registry import get_game

_CHECKED = 1024  # games whose first positions are checked


@dataclass(frozen=True)
class VecStep:
    """The result of `reset` or `step`: arrays that the next call overwrites.

    For N games of up to P players with A actions. Where `done`, the game ended with this step and
    the next one has begun: `reward`, `score` and `episode_length` belong to the game that ended,
    `observation`, `action_mask` and `seat` to the new one.

    Attributes:
        observation: [N, *spec.shape], the observation of the seat to act.
        action_mask: int8[N, A], 1 for its legal actions.
        seat: int8[N], the seat to act.
        reward: float32[N, P], payoffs (or score margins) where done, else 0; and the rewards of
            a `reward_hook`.
        done: bool[N].
        episode_length: int32[N], plies of the game that the step belongs to.
        score: float32[N, P], score margins where done, else 0.
    """

    observation: NDArray[Any]
    action_mask: NDArray[np.int8]
    seat: NDArray[np.int8]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]
    episode_length: NDArray[np.int32]
    score: NDArray[np.float32]


class VecEnv:
    """N games in lock-step on CPU threads; finished games restart in the same step.

    Game i of a run with seed s is the AEC game with seed `seed_of(i, episode)`, bit for bit.

    Args:
        game: A name of `linkzoo.game_names()`, or `module:name` or `FILE.py:name` of another.
        num_envs: The number of games, N.
        num_players: The number of players. With several, say (2, 3, 4), the games take them in
            turn, and seats that a game doesn't have get rewards of 0.
        device: `"cpu"`.
        reward: `"win"` for payoffs, `"score"` for score margins.
        reward_hook: A function of the records before and after each step, [N] each, whose result
            [N, P] is added to `reward`. It gets copies; the record after the last step of a game is
            its end.
        check: Whether `step` refuses illegal actions; False is for trusted policies.
        num_threads: Threads of a step; None for as many as `linkzoo.engine.threads` says.
        options: Options of the game.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
        MemoryError: The games don't fit; the message names the bytes that they take.
    """

    device = "cpu"

    def __init__(
        self,
        game: str,
        num_envs: int,
        num_players: int | Sequence[int] | None = None,
        *,
        device: str = "cpu",
        reward: str = "win",
        reward_hook: RewardFunction | None = None,
        check: bool = True,
        num_threads: int | None = None,
        **options: Any,
    ) -> None:
        self.game = get_game(game, options)
        if not isinstance(device, str) or device != self.device:  # type: ignore[redundant-expr]
            raise ValueError(
                f"device={shown(device)}: {type(self).__name__} plays on {self.device!r}; "
                "make_vec takes 'cpu' and 'cuda'"
            )
        one_of("reward", reward, REWARDS)
        if reward_hook is not None and device != "cpu":
            raise ValueError(f"reward_hook needs device='cpu', not {device!r}")
        if num_threads is not None:
            num_threads = integer("num_threads", num_threads, 1, MAX_THREADS)
        num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        if isinstance(num_players, Sequence):
            several: Sequence[int | None] = num_players
        else:
            several = (num_players,)
        blanks = [self.game.blank(players, options) for players in several]
        if not blanks:
            raise ValueError("num_players is empty: give one number of players or more")
        self.num_envs = num_envs
        self.num_players = max(int(blank.num_players) for blank in blanks)  # P
        self.check = boolean("check", check)
        self.num_threads = num_threads
        self._seed = np.zeros(1, np.uint64)
        self._seeds = np.zeros(num_envs, np.uint64)  # of the first games
        self._started = self._rules_checked = False
        spec = self.game.observation.spec
        actions = self.game.num_actions
        try:
            states: NDArray[Any] = np.zeros(num_envs, self.game.state)
            for first, blank in enumerate(blanks):
                states[first :: len(blanks)] = blank
            self.states = self._put(states)
            self.episodes = self._zeros((num_envs,), np.int64)
            self._actions = self._zeros((num_envs,), np.int64)
            self._flat = self._zeros((num_envs, spec.size), spec.dtype)
            self._mask = self._zeros((num_envs, actions), np.int8)
            self._seat = self._zeros((num_envs,), np.int8)
            self._payoff = self._zeros((num_envs, self.num_players), np.float32)
            self._margin = self._zeros((num_envs, self.num_players), np.float32)
            self._hooked = self._zeros((num_envs, self.num_players), np.float32)
            self._done = self._zeros((num_envs,), np.bool_)
            self._length = self._zeros((num_envs,), np.int32)
        except MemoryError as error:
            size = self.game.state.itemsize + spec.size * np.dtype(spec.dtype).itemsize + actions
            raise MemoryError(
                f"num_envs: {num_envs} games take more than {num_envs * size:,} bytes, which can't "
                "be had: make fewer"
            ) from error
        self._reward = reward
        self._reward_hook = reward_hook
        self._show()

    def _zeros(self, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        return np.zeros(shape, dtype)

    def _put(self, states: NDArray[Any]) -> NDArray[Any]:
        """Returns the records on the device where the games are played."""
        return states

    def _show(self) -> None:
        """Makes the result of `reset` and `step` from the arrays that the kernels fill."""
        self._kernels = kernels(self.game)
        self._draw: Callable[[int], None] | None = None  # the kernel with its arrays, once used
        self._bound: tuple[Any, Any] = (None, None)  # arrays that `_step` is bound to
        reward = self._payoff
        if self._reward == "score":
            reward = self._margin
        self._hook: RewardHook | None = None
        self._unhooked = reward
        if self._reward_hook is not None:
            self._hook = RewardHook(self._reward_hook, self.game, self.num_players)
            reward = self._hooked
        self._now = VecStep(
            observation=self._flat.reshape(self.num_envs, *self.game.observation.spec.shape),
            action_mask=self._mask,
            seat=self._seat,
            reward=reward,
            done=self._done,
            episode_length=self._length,
            score=self._margin,
        )

    def _filled(self) -> tuple[Any, ...]:
        """Returns the arrays that a step fills, in the order of its kernel."""
        return (
            self.episodes,
            self._mask,
            self._flat,
            self._seat,
            self._payoff,
            self._margin,
            self._done,
            self._length,
        )

    def __getstate__(self) -> dict[str, Any]:
        """Leaves out views of the arrays and bound kernels: `_show` makes a copy's own."""
        derived = {
            "_kernels",
            "_now",
            "_draw",
            "_bound",
            "_step",
            "_first_of_illegal",
            "_hook",
            "_unhooked",
        }
        return {name: value for name, value in vars(self).items() if name not in derived}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._show()

    def __copy__(self) -> "VecEnv":
        """An independent `VecEnv`: two can't share arrays."""
        return deepcopy(self)

    def reset(self, seed: int = 0) -> VecStep:
        """Starts every game anew.

        Args:
            seed: Fixes all chance of the run, 0..2**64-1.

        Raises:
            ValueError: The seed is wrong or, at the first reset, the game's rules are.
        """
        self._seed[0] = integer("seed", seed, 0, 2**64 - 1)
        self._seeds[:] = game_seeds(self._seed[0], np.arange(self.num_envs))
        self._begin(self._seeds)
        filled = (self.episodes, self._payoff, self._margin, self._hooked, self._done, self._length)
        for array in filled:
            array[:] = 0
        self._started = True
        now = self.refresh()
        if not self._rules_checked:
            self._check_new_games()
        return now

    def _check_new_games(self) -> None:
        """Refuses a game whose first positions break the contract."""
        space = self.game.observation.spec.space()
        seat = self._on_host(self._seat[:_CHECKED])
        mask = self._on_host(self._mask[:_CHECKED])
        flat = self._on_host(self._flat[:_CHECKED])
        outside = (flat < space.low.ravel()) | (flat > space.high.ravel())
        for wrong, error in (
            ((seat < 0) | (seat >= self.num_players), "no seat is to act"),
            ((mask & ~1).any(1), "an element of the mask isn't 0 or 1"),
            (~mask.any(1), "no action is legal"),
            (outside.any(1), "the observation is out of its bounds"),
        ):
            if wrong.any():
                raise ValueError(
                    f"{self.game.name}: environment {wrong.argmax()}: {error} in a new game; "
                    "run linkzoo.testing.check_game"
                )
        self._rules_checked = True

    def _on_host(self, array: Any) -> NDArray[Any]:
        return np.asarray(array)

    def _begin(self, seeds: NDArray[np.uint64]) -> None:
        plies = np.zeros(self.num_envs, np.int64)
        self._run(self._kernels.reset_rows, self.states, self._mask, seeds, seeds, plies)

    def step(self, actions: ArrayLike) -> VecStep:
        """Plays an action in every game.

        Args:
            actions: Integers [N].

        Raises:
            ValueError: An action is illegal; the message names its environment. No game has moved.
            RuntimeError: `reset` wasn't called.
        """
        if not self._started:
            self._check_started("step")
        if type(actions) is np.ndarray:
            chosen: NDArray[Any] = actions
        else:
            chosen = _as_array("actions", actions)
        if chosen.shape != (self.num_envs,) or chosen.dtype.kind not in "iu":
            raise self._wrong_shape(chosen)
        states, episodes = self._bound
        if states is not self.states or episodes is not self.episodes:  # set from outside
            self._bind()
        self._actions[...] = chosen  # one type and layout; [...] is twice as fast as [:]
        if self.check:
            index = self._first_of_illegal(self._mask, self._actions)
            if index >= 0:
                self._refuse(index)
        if self._hook is not None:
            self._hooked[:] = self._hook(self.states, self._actions)
        self._step(self.num_threads or get_num_threads())
        if self._hook is not None:
            self._hooked += self._unhooked
        return self._now

    def _bind(self) -> None:
        """Binds the kernels of a step to its arrays."""
        self._bound = (self.states, self.episodes)
        self._first_of_illegal = entry_point(first_illegal, self._mask, self._actions)
        self._step = self._kernels.step.bind(
            self.states, self._actions, self._seed, *self._filled()
        )

    def random_actions(self, seed: int = 0) -> NDArray[np.int64]:
        """Returns uniformly random legal actions, int64[N].

        Args:
            seed: Another one each time, such as the number of the step, 0..2**63-1. The actions
                depend on it, on the masks and on the seed of the run.
        """
        index = integer("seed", seed, 0, 2**63 - 1)
        if self._draw is None:
            self._check_started("random_actions")
            self._index = np.zeros(1, np.int64)
            self._drawn = np.zeros(self.num_envs, np.int64)
            self._draw = self._kernels.random_actions.bind(
                self._mask, self._seeds, self._index, self._drawn
            )
        self._index[0] = index
        self._draw(self.num_threads or get_num_threads())
        return self._drawn.copy()

    def refresh(self, rows: NDArray[np.int64] | None = None) -> VecStep:
        """Makes masks, observations and seats anew after `states` were changed from outside.

        Args:
            rows: Integers [n], the changed games; None for all.

        Raises:
            ValueError: A row is no environment.
        """
        self._check_started("refresh")
        changed: Any = slice(None)
        if rows is not None:
            changed = self._checked(rows)
        states = self.states[changed]
        masks = self._mask[changed]
        flat = self._flat[changed]
        seats = np.ascontiguousarray(states["seat"])
        self._run(self._kernels.fill_masks, states, masks)
        self._run(self._kernels.observe, states, seats, flat)
        if rows is not None:  # these were copies
            self._mask[changed] = masks
            self._flat[changed] = flat
        self._seat[changed] = seats
        return self._now

    def _checked(self, rows: ArrayLike) -> NDArray[np.int64]:
        """Returns rows as an array of integers in 0..N-1."""
        numbers = _as_array("rows", rows)
        if numbers.ndim != 1 or (numbers.dtype.kind not in "iu" and numbers.size):
            raise ValueError(f"rows are {numbers.dtype}{list(numbers.shape)}, not integers [n]")
        wrong = numbers[(numbers < 0) | (numbers >= self.num_envs)]
        if wrong.size:
            raise ValueError(f"rows: environment {wrong[0]} is not in 0..{self.num_envs - 1}")
        return numbers.astype(np.int64, copy=False)

    def seed_of(self, index: int, episode: int) -> int:
        """Returns the seed of game `index` in its `episode`-th episode (from 0) of this run."""
        self._check_started("seed_of")
        index = integer("index", index, 0, self.num_envs - 1)
        return int(game_seed(self._seed[0], index, integer("episode", episode, 0, 2**63 - 1)))

    def _check_started(self, call: str) -> None:
        if not self._started:
            raise RuntimeError(f"{call} before reset: call reset() first")

    def _wrong_shape(self, actions: Any) -> ValueError:
        return ValueError(
            f"actions are {actions.dtype}{list(actions.shape)}, not integers [{self.num_envs}]"
        )

    def _refuse(self, index: int) -> None:
        action = int(self._actions[index])
        last = self.game.num_actions - 1
        text = f"outside 0..{last}"
        if 0 <= action <= last:
            text = self.game.notation.action_to_text(self._record(index), action)
        raise ValueError(f"environment {index}: action {action} ({text}) is illegal")

    def _record(self, index: int) -> Record:
        return self.states[index]  # type: ignore[no-any-return]  # a record

    def _run(self, rows: RowKernel, *arrays: Any) -> None:
        rows.on(self.num_threads or get_num_threads(), *arrays)


def _as_array(name: str, numbers: ArrayLike) -> NDArray[Any]:
    try:
        return np.asarray(numbers)
    except ValueError as error:  # lists of several lengths
        raise ValueError(f"{name}: {shown(numbers)} are not integers [N]") from error
