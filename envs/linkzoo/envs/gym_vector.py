"""One seat of many games in lock-step, as a gymnasium vector environment."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium.spaces import Discrete, Space
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space, iterate
from numpy.typing import ArrayLike, NDArray

from linkzoo.core.agent import Agent, Positions, RandomAgent, check_agent
from linkzoo.core.arguments import integer, one_of
from linkzoo.core.kernels import first_illegal, kernels, observations
from linkzoo.core.state import Records
from linkzoo.engine.rng import SEED_LIMIT, game_seeds
from linkzoo.envs.aec import ILLEGAL, RENDER_MODES, REWARDS, render_state
from linkzoo.registry import get_game


class SeatVectorEnv(VectorEnv[Any, Any, NDArray[Any]]):
    """N games, each seen from one seat; the opponents of all games act in batches.

    Arguments and observations are as in `SeatEnv`; the mask of legal actions is in
    `infos["action_mask"]` (int8[N, A]) and from `action_masks()`. A finished game restarts in the
    same step (`AutoresetMode.SAME_STEP`): its last observation is in `infos["final_obs"]`.
    With `autoreset_mode=AutoresetMode.NEXT_STEP`, which some wrappers of gymnasium need, the end is
    the observation, the mask is 0, and the next step starts a game whatever the action.
    With `illegal="raise"` an illegal action raises ValueError naming its environment, and no game
    has moved; otherwise it ends its game with -1.

    Game i starts its episodes from the seeds `seed_of(i, episode)`.
    """

    # gymnasium reads it from the class, and types it as an instance's.
    metadata = {  # noqa: RUF012
        "autoreset_mode": AutoresetMode.SAME_STEP,
        "render_modes": RENDER_MODES,
        "render_fps": 1,
    }

    def __init__(  # noqa: PLR0913  # gymnasium's arguments and ours, by name
        self,
        game: str,
        num_envs: int,
        num_players: int | None = None,
        *,
        seat: int | None = 0,
        opponent: Agent | None = None,
        reward: str = "win",
        illegal: str = "terminate",
        render_mode: str | None = None,
        autoreset_mode: str | AutoresetMode = AutoresetMode.SAME_STEP,
        **options: Any,
    ) -> None:
        self.game = get_game(game, options)
        mode = getattr(autoreset_mode, "value", autoreset_mode)
        one_of("autoreset_mode", mode, ("SameStep", "NextStep"))
        self.metadata = {**self.metadata, "autoreset_mode": AutoresetMode(mode)}
        self._restarts_now = mode == "SameStep"
        one_of("reward", reward, REWARDS)
        one_of("illegal", illegal, ILLEGAL)
        one_of("render_mode", render_mode, (None, *RENDER_MODES))
        self.render_mode = render_mode
        self.num_envs = num_envs = integer("num_envs", num_envs, 1, 2**31 - 1)
        self.states: Records = np.zeros(num_envs, self.game.state)
        self.states[:] = self.game.blank(num_players, options)
        self.num_players = int(self.states["num_players"][0])
        if seat is not None:
            seat = integer("seat", seat, 0, self.num_players - 1)
        self._fixed_seat = seat
        if opponent is None:
            opponent = RandomAgent()
        self.opponent = check_agent(opponent, "opponent")
        self._reward = reward
        self._illegal = illegal
        self._kernels = kernels(self.game)
        self.seats = np.zeros(num_envs, self.states["seat"].dtype)  # the learner's, in every game
        self._mask = np.zeros((num_envs, self.game.num_actions), np.int8)
        self._seeds = np.zeros(num_envs, np.uint64)
        self._listed = False  # whether each game was given its first seed
        self._over = np.zeros(num_envs, np.bool_)  # games that restart in their next step
        self._episodes = np.zeros(num_envs, np.int64)  # that were begun
        self.single_action_space: Space[Any] = Discrete(self.game.num_actions)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self._show(self.game.observation.spec.space())

    def reset(
        self,
        *,
        seed: int | Sequence[int] | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> tuple[Any, dict[str, Any]]:
        """Starts every game anew and plays until the seats are to act.

        Games that end before are skipped. A `seed` is the run's, or a list of N, the seeds of the
        first games. `options={"reset_mask": bool[N]}` restarts these games alone, with their next
        seeds (no `seed` then).
        """
        listed = isinstance(seed, Sequence | np.ndarray) and not isinstance(seed, str | bytes)
        given: list[Any] = []
        if listed:
            given = [*seed]  # type: ignore[misc]  # a sequence
            if len(given) != self.num_envs:
                raise ValueError(f"seed: {len(given)} seeds for {self.num_envs} games")
        elif seed is not None:
            given = [seed]
        seeds = [integer("seed", number, 0, 2**64 - 1) for number in given]
        chosen = (options or {}).get("reset_mask")
        if chosen is not None:
            self._restart(self._rows(chosen, seed))
        else:
            first_seed = None
            if seeds:
                first_seed = seeds[0]
            super().reset(seed=first_seed)
            self._seeds[:] = seeds or self.np_random.integers(SEED_LIMIT)
            self._listed = listed
            self._episodes[:] = 0
            self._restart(np.arange(self.num_envs))
        return self._now()

    def step(
        self, actions: ArrayLike, rows: ArrayLike | None = None
    ) -> tuple[Any, NDArray[np.float64], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Plays an action, integers [N], in every game, and the other seats up to the next ones.

        With `rows`, the numbers of some of the games, the actions are theirs and the other games
        stay as they are; all are shown.
        """
        self._check_started("step")
        games = np.arange(self.num_envs)
        if rows is not None:
            games = np.asarray(rows, np.int64)
        given = np.asarray(actions)
        if given.shape != games.shape or given.dtype.kind not in "iu":
            raise ValueError(
                f"actions are {given.dtype}{list(given.shape)}, not integers [{len(games)}]"
            )
        if self._over.any():
            late = self._over[games]
            self._restart(games[late])
            games = games[~late]
            given = given[~late]
        forfeited = self._illegal_rows(games, given.astype(np.int64))
        chosen = np.full(self.num_envs, -1)  # the game stays as it is
        chosen[games] = given
        chosen[forfeited] = -1
        self._kernels.play(self.states, chosen, self._mask)
        self._play_others(forfeited)
        terminated = (self.states["seat"] < 0) & ~self._over
        terminated[forfeited] = True
        reward = np.zeros(self.num_envs)
        infos = {}
        if terminated.any():
            over = np.flatnonzero(terminated)
            payoff = np.zeros((len(over), self.num_players), np.float32)
            margin = np.zeros((len(over), self.num_players), np.float32)
            self._kernels.outcome(self.states[over], payoff, margin)
            rewards = payoff
            if self._reward == "score":
                rewards = margin
            reward[over] = rewards[np.arange(len(over)), self.seats[over]]
            reward[forfeited] = -1.0
            if self._restarts_now:
                infos = self._final(over, terminated)
                self._restart(over)
            else:
                self._over[over] = True
                self._mask[over] = 0
        truncated = np.zeros(self.num_envs, np.bool_)
        seen, now = self._now()
        return seen, reward, terminated, truncated, {**now, **infos}

    def render(self) -> tuple[Any, ...] | None:
        """Shows the position of every game as its seat sees it (`SeatEnv.render`).

        Returns:
            N texts, SVG documents or pictures uint8[H, W, 3]; None for `"human"`, which prints.

        Raises:
            ValueError: There is no `render_mode`.
        """
        mode = self.render_mode
        if mode is None:
            raise ValueError(f"no render_mode was given; there are {RENDER_MODES}")
        self._check_started("render")
        frames = tuple(
            render_state(self.game, state, mode, int(seat))
            for state, seat in zip(self.states, self.seats, strict=True)
        )
        if mode == "human":
            return None
        return frames

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, bool[N, A] (the convention of sb3-contrib)."""
        self._check_started("action_masks")
        return self._mask.astype(np.bool_)

    def seed_of(self, index: int, episode: int) -> int:
        """Returns the seed of game `index` in its `episode`-th episode (from 0) since a reset."""
        self._check_started("seed_of")
        index = integer("index", index, 0, self.num_envs - 1)
        return int(self._game_seeds([index], [integer("episode", episode, 0, 2**63 - 1)])[0])

    def _game_seeds(self, rows: Any, episodes: ArrayLike) -> NDArray[np.uint64]:
        run_seeds = self._seeds[rows]
        first = self._listed & (np.asarray(episodes) == 0)
        return np.where(first, run_seeds, game_seeds(run_seeds, rows, episodes))

    def _check_started(self, call: str) -> None:
        if not self._episodes[0]:
            raise RuntimeError(f"{call} before reset: call reset() first")

    def _show(self, space: Space[Any]) -> None:
        """Sets the spaces of observations, from the space of one game."""
        self.single_observation_space = space
        self.observation_space = batch_space(space, self.num_envs)

    def _shown(self, flat: NDArray[Any], _mask: NDArray[np.int8]) -> Any:
        """Returns flat observations [N, size] and masks [N, A] in the shape of the space."""
        return flat.reshape(-1, *self.game.observation.spec.shape)

    def _now(self) -> tuple[Any, dict[str, Any]]:
        """Returns the observations of all games, and the masks as gymnasium's infos."""
        seen = self._shown(observations(self.game, self.states, self.seats), self._mask.copy())
        have = np.ones(self.num_envs, np.bool_)
        return seen, {"action_mask": self._mask.copy(), "_action_mask": have}

    def _final(self, over: NDArray[np.int64], terminated: NDArray[np.bool_]) -> dict[str, Any]:
        """Returns gymnasium's infos about games that are over, with their last observations."""
        masks = np.zeros((len(over), self.game.num_actions), np.int8)
        flat = observations(self.game, self.states[over], self.seats[over])
        last = self._shown(flat, masks)
        final = np.full(self.num_envs, None, object)
        for index, seen in zip(over, iterate(self.observation_space, last), strict=True):
            final[index] = seen
        info = {"action_mask": np.zeros_like(self._mask), "_action_mask": terminated.copy()}
        return {
            "final_obs": final,
            "_final_obs": terminated.copy(),
            "final_info": info,
            "_final_info": terminated.copy(),
        }

    def _rows(self, chosen: ArrayLike, seed: Any) -> NDArray[np.int64]:
        mask = np.asarray(chosen)
        if mask.shape != (self.num_envs,) or mask.dtype != np.bool_ or not mask.any():
            raise ValueError(
                f"reset_mask is {mask.dtype}{list(mask.shape)} with {np.count_nonzero(mask)} set, "
                f"not bool[{self.num_envs}] with some"
            )
        if seed is not None:
            raise ValueError("reset_mask continues with the run's seeds: give no seed with it")
        self._check_started("reset_mask")
        return np.flatnonzero(mask)

    def _illegal_rows(
        self, games: NDArray[np.int64], actions: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Returns the games whose action is illegal; ValueError for a number out of range."""
        masks = self._mask[games]
        first = first_illegal(masks, actions)
        if first < 0:
            return np.empty(0, np.int64)
        last = self.game.num_actions - 1
        outside = np.flatnonzero((actions < 0) | (actions > last))
        if len(outside):
            row = games[outside[0]]
            raise ValueError(f"environment {row}: action {actions[outside[0]]} is not in 0..{last}")
        if self._illegal == "raise":
            row = games[first]
            action = int(actions[first])
            text = self.game.notation.action_to_text(self.states[row], action)
            raise ValueError(f"environment {row}: action {action} ({text}) is illegal")
        return np.asarray(games[masks[np.arange(len(games)), actions] == 0])

    def _restart(self, rows: NDArray[np.int64]) -> None:
        """Starts the next games of these rows, and plays until their seats are to act."""
        self._over[rows] = False
        while len(rows):
            seeds = self._game_seeds(rows, self._episodes[rows])
            self._episodes[rows] += 1
            seat: Any = self._fixed_seat
            if seat is None:
                seat = self.np_random.integers(self.num_players, size=len(rows))
            self.seats[rows] = seat
            states = self.states[rows]
            masks = self._mask[rows]
            self._kernels.begin(states, seeds, masks)
            self.states[rows] = states
            self._mask[rows] = masks
            self._play_others()
            rows = rows[self.states["seat"][rows] < 0]

    def _play_others(self, stopped: ArrayLike = ()) -> None:
        """Plays the opponent's moves, except in `stopped` games, up to the learner's seats."""
        going = np.ones(self.num_envs, np.bool_)
        going[np.asarray(stopped, np.int64)] = False
        actions = np.empty(self.num_envs, np.int64)
        while True:
            seat = self.states["seat"]
            rows = np.flatnonzero((seat >= 0) & (seat != self.seats) & going)
            if not len(rows):
                return
            seeds = self.np_random.integers(SEED_LIMIT, size=len(rows), dtype=np.uint64)
            masks = self._mask[rows]
            positions = Positions(self.game, self.states[rows], seeds)
            positions.action_mask = masks.copy()  # known already
            chosen = np.asarray(self.opponent.act(positions), np.int64)
            index = first_illegal(masks, chosen)
            if index >= 0:
                raise ValueError(
                    f"environment {rows[index]}: {self.opponent.name} chose {chosen[index]}, "
                    "an illegal action"
                )
            actions[:] = -1
            actions[rows] = chosen
            self._kernels.play(self.states, actions, self._mask)
