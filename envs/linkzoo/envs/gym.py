"""One seat of a game as a gymnasium environment; agents play the other seats."""

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Discrete, Space
from numpy.typing import NDArray

from linkzoo.core.agent import Agent, Positions, RandomAgent, check_agent
from linkzoo.core.arguments import integer
from linkzoo.engine.rng import SEED_LIMIT
from linkzoo.envs.aec import RENDER_MODES, GameEnv, start_of
from linkzoo.envs.order import SetByReset


class SeatEnv(SetByReset, gymnasium.Env[NDArray[Any], int]):
    """A game from one seat: the opponent plays all others between two of its decisions.

    The observation is the seat's own; the mask of legal actions (int8[num_actions]) is in
    `info["action_mask"]` and from `action_masks()`. The reward is the seat's payoff at the end,
    else 0. An illegal action ends the game with -1, or raises ValueError with `illegal="raise"`.

    Args:
        game: A name of `linkzoo.game_names()`, or `module:name` or `FILE.py:name` of another.
        num_players: The number of players; None for the game's smallest.
        seat: The seat; None for another one each game, drawn at random.
        opponent: The `Agent` of the other seats; None for uniformly random play.
        kwargs: Keyword arguments of `GameEnv`, the game's options included.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
    """

    # gymnasium reads it from the class, and types it as an instance's.
    metadata = {"render_modes": RENDER_MODES, "render_fps": 1}  # noqa: RUF012
    aec = GameEnv  # the environment that is seen from one seat

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        seat: int | None = 0,
        opponent: Agent | None = None,
        **kwargs: Any,
    ) -> None:
        self.env = self.aec(game, num_players, **kwargs)
        players = len(self.env.possible_agents)
        if seat is not None:
            seat = integer("seat", seat, 0, players - 1)
        self._fixed_seat = seat
        if opponent is None:
            opponent = RandomAgent()
        self.opponent = check_agent(opponent, "opponent")
        spaces: Any = self.env.observation_space(self.env.possible_agents[0])
        self.observation_space = spaces["observation"]
        self.action_space: Space[Any] = Discrete(self.env.game.num_actions)
        self.render_mode = self.env.render_mode

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[Any], dict[str, Any]]:
        """Starts a game and plays until the seat is to act; games that end before are skipped.

        Args:
            seed: Fixes all chance of the game, 0..2**64-1. None continues from the last one.
            options: `{"state": ...}` starts from a position, as in `GameEnv.reset`.

        Returns:
            The observation, and a dict with `action_mask`.

        Raises:
            ValueError: The seed or the position is wrong, or the seat has no decision after it.
        """
        if seed is not None:
            seed = integer("seed", seed, 0, 2**64 - 1)
        start = start_of(options)
        if start is not None:
            self.env.clone().set_state(start)  # refused before anything changes
        super().reset(seed=seed)
        while True:
            game_seed = seed
            if game_seed is None:
                game_seed = int(self.np_random.integers(SEED_LIMIT))
            seat = self._fixed_seat
            if seat is None:
                seat = int(self.np_random.integers(len(self.env.possible_agents)))
            self.agent = self.env.possible_agents[seat]
            self.env.viewer = seat
            self.env.reset(seed=game_seed, options=options)
            self._play_others()
            if not self.env.terminations[self.agent]:
                return self._observation(), self._info()
            if start is not None:
                raise ValueError(f"{self.agent} has no decision after the given position")
            seed = None

    def step(self, action: int) -> tuple[NDArray[Any], float, bool, bool, dict[str, Any]]:
        """Plays the seat's action, and the other seats' up to its next decision or the end.

        Returns:
            Observation, reward, terminated, truncated (always False), and a dict with
            `action_mask`.

        Raises:
            RuntimeError: `reset` wasn't called, or the game is over.
            ValueError: The action isn't one, or is illegal with `illegal="raise"`.
        """
        if not self.env.agents or self.env.terminations[self.agent]:
            raise RuntimeError("step before reset or after the end of the game: call reset() first")
        self.env.step(action)
        self._play_others()
        over = self.env.terminations[self.agent]
        return self._observation(), self.env.rewards[self.agent], over, False, self._info()

    def action_masks(self) -> NDArray[np.bool_]:
        """Returns the legal actions, bool[num_actions] (the convention of sb3-contrib)."""
        self.env.require_start("action_masks")
        return np.asarray(self.env.infos[self.agent]["action_mask"], np.bool_)

    def render(self) -> Any:
        """Shows the position as the seat sees it (`GameEnv.render`)."""
        return self.env.render()

    def _play_others(self) -> None:
        while self.env.agent_selection != self.agent and not self.env.terminations[self.agent]:
            seed = self.np_random.integers(SEED_LIMIT, dtype=np.uint64)
            # A bytearray makes the states writable: the kernels are compiled for such arrays.
            states = np.frombuffer(bytearray(self.env.get_state()), self.env.game.state)
            seeds = np.array([seed], np.uint64)
            positions = Positions(self.env.game, states, seeds, lambda _: self.env.past)
            self.env.step(int(self.opponent.act(positions)[0]))

    def _observation(self) -> Any:
        return self.env.observe(self.agent)["observation"]

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self.env.infos[self.agent]["action_mask"].copy()}
