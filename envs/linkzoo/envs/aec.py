"""One game as a PettingZoo AEC environment."""

import sys
from collections.abc import Mapping, Sequence
from functools import cached_property
from secrets import randbelow
from typing import Any

import numpy as np
from gymnasium.spaces import Box, Dict, Discrete, Space
from numpy.typing import NDArray
from pettingzoo import AECEnv

from linkzoo.core.arguments import boolean, integer, is_integer, one_of, shown, string
from linkzoo.core.game import Game
from linkzoo.core.history import History
from linkzoo.core.kernels import kernels, make_play_one
from linkzoo.core.protocols import ObserveOne, PlayOne
from linkzoo.core.state import Record
from linkzoo.engine.compiled import entry_point
from linkzoo.engine.rng import SEED_LIMIT, game_seed
from linkzoo.envs.order import before_reset
from linkzoo.record import GameRecord
from linkzoo.registry import get_game
from linkzoo.svg.raster import rasterise

RENDER_MODES = ["human", "ansi", "rgb_array", "svg"]
METADATA = {"render_modes": RENDER_MODES, "render_fps": 1, "is_parallelizable": True}
ILLEGAL = ("terminate", "raise")
REWARDS = ("win", "score")


def render_state(
    game: Game, state: Record, render_mode: str, viewer: int | None
) -> str | NDArray[np.uint8] | None:
    """Returns a position as a seat (None: the referee) sees it: text, SVG or RGB uint8[H, W, 3].

    `"human"` prints it.
    """
    if render_mode == "svg":
        return game.draw_svg(state, viewer)
    if render_mode == "rgb_array":
        return rasterise(game.draw_svg(state, viewer))
    text = game.drawing.text(state, viewer)
    if render_mode == "ansi":
        return text
    encoding = sys.stdout.encoding or "utf-8"  # a console may not have every character
    print(text.encode(encoding, "replace").decode(encoding))
    return None


class GameEnv(AECEnv[str, dict[str, Any], int | None]):
    """A game of linkzoo as a PettingZoo AEC environment.

    Agents are `player_0` … in the order of the seats. Observations are dicts of `observation` (of
    the agent's seat, by the game's ObservationSpec) and `action_mask` (int8[num_actions], zeros for
    an agent that isn't to act); the mask is in `infos[agent]["action_mask"]` too. Rewards
    are zero before the end; then payoffs (+1 and -1 for two sides, zero-sum) or, with
    `reward="score"`, the margin on the scale of the game's rules. All agents end on the same step.

    Args:
        game: A name of `linkzoo.game_names()`, or `module:name` or `FILE.py:name` of another.
        num_players: The number of players; None for the game's smallest.
        reward: `"win"` for payoffs, `"score"` for score margins.
        illegal: The effect of an illegal action: `"terminate"` ends the game with -1 for the agent
            and 0 for the others, `"raise"` raises ValueError and changes nothing. Anything but an
            integer in 0..num_actions-1 raises in either case.
        render_mode: None, `"human"` (prints), `"ansi"`, `"rgb_array"` or `"svg"`.
        checks: False (`raw_env`) trusts the caller that actions are legal.
        options: Options of the game.

    Attributes:
        viewer: The seat whose view `render` shows; None, at first, for the referee's, which hides
            nothing.

    Raises:
        ValueError: An argument or option is wrong; the message names the allowed values.
    """

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        reward: str = "win",
        illegal: str = "terminate",
        render_mode: str | None = None,
        checks: bool = True,
        **options: Any,
    ) -> None:
        super().__init__()
        self.game = get_game(game, options)
        one_of("reward", reward, REWARDS)
        one_of("illegal", illegal, ILLEGAL)
        one_of("render_mode", render_mode, (None, *RENDER_MODES))
        self.render_mode = render_mode
        self.viewer: int | None = None
        self.metadata = {"name": self.game.versioned_name, **METADATA}
        self._reward = reward
        self._illegal = illegal
        self._checks = boolean("checks", checks)
        self._kernels = kernels(self.game)
        self._states: NDArray[Any] = np.zeros(1, self.game.state)
        self._blank = self.game.blank(num_players, options)
        self._states[0] = self._blank
        players = int(self._blank.num_players)
        self.possible_agents = [f"player_{seat}" for seat in range(players)]
        self._seats = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        spec = self.game.observation.spec
        self._shape = spec.shape
        self._dtype = np.dtype(spec.dtype)
        self._num_actions = self.game.num_actions
        action_space: Space[Any] = Discrete(self._num_actions)
        mask_space = Box(0, 1, (self.game.num_actions,), np.int8)
        observation_space = Dict(observation=spec.space(), action_mask=mask_space)
        self.action_spaces = dict.fromkeys(self.possible_agents, action_space)
        self.observation_spaces = dict.fromkeys(self.possible_agents, observation_space)
        self.state_space = self.game.state_space()
        self._no_actions = np.zeros(self.game.num_actions, np.int8)
        self._no_actions.flags.writeable = False
        self._payoff = np.zeros(players, np.float32)
        self._margin = np.zeros(players, np.float32)
        self._seed: int | None = None
        self._episode = 0
        self._started = False
        self._actions: list[int] = []  # taken since the start
        self._past: History | None = None  # made when it is asked for
        self._origin: bytes | None = None  # the start, if it was a given position
        self.agents = []
        self.rewards = before_reset("rewards")
        self._cumulative_rewards = before_reset("_cumulative_rewards")
        self.terminations = before_reset("terminations")
        self.truncations = before_reset("truncations")
        self.infos = before_reset("infos")
        self.agent_selection = self.possible_agents[0]  # `last` before reset names the missing call

    def observation_space(self, agent: str) -> Space[dict[str, Any]]:
        """The space of an agent's observation dict: the same object each time."""
        self._seat_of(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Space[int | None]:
        """Discrete(num_actions): the same object each time."""
        self._seat_of(agent)
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Starts a new game.

        Args:
            seed: Fixes all chance of the game, 0..2**64-1. None continues from the last seed given.
            options: `{"state": ...}` starts from a position, as bytes of `get_state` or a dict of
                `to_dict`. Its options hold for this game. Other keys are ignored.

        Raises:
            ValueError: The seed or the position is wrong. Nothing changes.
        """
        if seed is not None:
            seed = integer("seed", seed, 0, 2**64 - 1)
        record = None
        start = start_of(options)
        if start is not None:
            record = self._read_state(start)
        if seed is None:
            if self._seed is None:
                self._seed = randbelow(SEED_LIMIT)
            self._episode += 1
            seed = int(game_seed(np.uint64(self._seed), 0, self._episode))
        else:
            self._seed = seed
            self._episode = 0
        if record is not None:
            self._go_to(record)
            return
        self._states[0] = self._blank  # a given position may have had other options
        mask = np.empty((1, self.game.num_actions), np.int8)
        self._kernels.begin(self._states, np.array([seed], np.uint64), mask)
        self._origin = None
        self._start(mask[0])

    def step(self, action: int | None) -> None:
        """Plays the action of the agent to act.

        Args:
            action: An action in 0..num_actions-1; None for an agent whose game is over.

        Raises:
            RuntimeError: The environment isn't reset, or the game is over.
            ValueError: The action isn't one, or is illegal with `illegal="raise"`. Nothing changes.
        """
        if not self.agents:
            self.require_start("step")
            raise RuntimeError("step after the end of the game: call reset() first")
        agent = self.agent_selection
        if self.terminations[agent]:
            if action is not None:
                raise ValueError(f"the game is over: {agent} can only step with None")
            self._was_dead_step(None)
            return
        if type(action) is not int or not 0 <= action < self._num_actions:
            action = self._to_action(agent, action)
        mask = self._mask
        legal = not self._checks or mask[action]
        if not legal and self._illegal == "raise":
            text = self.action_to_text(action)
            raise ValueError(f"action {action} ({text}) of {agent} is illegal")
        infos = self.infos
        infos[agent] = {"action_mask": self._no_actions}
        self._cumulative_rewards[agent] = 0.0
        if not legal:
            self._forfeit(agent)
            return
        seat = self._play_one(self._states, action, mask)
        self._actions.append(action)
        if seat < 0:
            self._end_with_result()
        else:
            agent = self.possible_agents[seat]
            self.agent_selection = agent
            infos[agent] = {"action_mask": mask.copy()}  # callers may write into theirs
        if self.render_mode == "human":
            self.render()

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Yields the agent to act, up to the end of the game or `max_iter` times."""
        self.require_start("agent_iter")
        return super().agent_iter(max_iter)

    def state(self) -> NDArray[Any]:
        """Returns the observation of seat 0, flat, then the information hidden from it.

        Returns:
            [size of the observation + size of the hidden part], in `state_space`.
        """
        self.require_start("state")
        flat = np.empty(self.state_space.shape, self._dtype)
        size = self.game.observation.spec.size
        self._observe_one(self._states, 0, flat[:size].reshape(self._shape))
        if self._kernels.reveal_one is not None:
            self._kernels.reveal_one(self._states, 0, flat[size:])
        return flat

    def observe(self, agent: str) -> dict[str, Any]:
        """Returns the observation of an agent's seat.

        Args:
            agent: The agent, also one that isn't to act.

        Returns:
            New arrays: `observation` and `action_mask` (int8[num_actions]).

        Raises:
            KeyError: There is no such agent.
            RuntimeError: `reset` wasn't called.
        """
        if not self._started:
            self.require_start("observe")
        observation = np.empty(self._shape, self._dtype)
        self._observe_one(self._states, self._seat_of(agent), observation)
        mask = self._no_actions
        if agent == self.agent_selection:
            mask = self._mask
        return {"observation": observation, "action_mask": mask.copy()}

    def render(self) -> str | NDArray[np.uint8] | None:
        """Shows the position as `viewer` sees it; ValueError without a `render_mode`.

        Returns:
            Text for `"ansi"`, SVG for `"svg"`, RGB uint8[H, W, 3] for `"rgb_array"`; `"human"`
            prints.
        """
        if self.render_mode is None:
            raise ValueError(f"no render_mode was given to env(); there are {RENDER_MODES}")
        self.require_start("render")
        return render_state(self.game, self._states[0], self.render_mode, self.viewer)

    def _repr_html_(self) -> str:
        if not self._started:
            return f"<p>{self.game.title}: reset() begins a game</p>"
        return self.game.draw_svg(self._states[0])

    def close(self) -> None:
        """Does nothing: no window or file is held open."""

    def get_state(self) -> bytes:
        """Returns the whole position, chance included, as bytes."""
        self.require_start("get_state")
        return self._states.tobytes()

    def set_state(self, state: bytes | Mapping[str, Any]) -> None:
        """Goes to a position. Its options hold up to the next reset.

        Args:
            state: Bytes of `get_state`, or a dict of `to_dict`.

        Raises:
            ValueError: Names a wrong field or another number of players. Nothing changes.
        """
        self._go_to(self._read_state(state))

    def clone(self) -> "GameEnv":
        """Returns an independent copy, the position and its future chance included."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        copy._states = np.frombuffer(bytearray(self._states.tobytes()), self.game.state)
        copy._payoff = self._payoff.copy()
        copy._margin = self._margin.copy()
        copy._actions = list(self._actions)
        copy._past = None
        copy.agents = list(self.agents)
        if self._started:
            for name in ("rewards", "_cumulative_rewards", "terminations", "truncations"):
                setattr(copy, name, getattr(self, name).copy())
            copy.infos = {agent: info.copy() for agent, info in self.infos.items()}
            copy._mask = self._mask.copy()
        return copy

    def __deepcopy__(self, memo: dict[int, Any]) -> "GameEnv":
        return self.clone()

    __copy__ = clone

    def __getstate__(self) -> dict[str, Any]:
        compiled = ("_kernels", "_play_one", "_observe_one")
        state = {name: value for name, value in self.__dict__.items() if name not in compiled}
        return {**state, "_past": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._kernels = kernels(self.game)
        self._no_actions.flags.writeable = False

    def to_dict(self, agent: str | None = None) -> dict[str, Any]:
        """Returns the position as JSON data: an agent's view, or the referee's (`set_state`)."""
        self.require_start("to_dict")
        return self.game.to_dict(self._states[0], None if agent is None else self._seat_of(agent))

    def record(self) -> GameRecord:
        """Returns the game so far: its options, seed and actions, enough to replay it."""
        self.require_start("record")
        start = None
        if self._origin is not None:
            start = self.game.to_dict(self.game.from_bytes(self._origin))
        record = GameRecord.of(self.game, self._states[0], start)
        record.actions += self._actions
        return record

    @property
    def past(self) -> History:
        """The game so far, as far as each seat may know it."""
        self.require_start("past")
        if self._past is None:
            start = next(self.record().replay())
            self._past = History(self.game, start, self._actions)
        return self._past

    def action_to_text(self, action: int) -> str:
        """Returns an action in the game's notation; ValueError if it is none."""
        self.require_start("action_to_text")
        action = integer("action", action, 0, self.game.num_actions - 1)
        return self.game.notation.action_to_text(self._states[0], action)

    def text_to_action(self, text: str) -> int:
        """Returns the action of a move in the game's notation; ValueError if it is none."""
        self.require_start("text_to_action")
        return self.game.notation.text_to_action(self._states[0], string("move", text))

    @cached_property
    def _play_one(self) -> PlayOne:
        return entry_point(make_play_one(self.game), self._states, 0, self._mask)

    @cached_property
    def _observe_one(self) -> ObserveOne:
        observation = np.empty(self._shape, self._dtype)
        return entry_point(self._kernels.observe_one, self._states, 0, observation)

    def _seat_of(self, agent: str) -> int:
        """Returns the seat of an agent; KeyError lists the agents."""
        try:
            return self._seats[agent]
        except (KeyError, TypeError):
            raise KeyError(f"no agent {shown(agent)}; there are {self.possible_agents}") from None

    def require_start(self, call: str) -> None:
        """Raises RuntimeError before the first `reset`.

        Args:
            call: The name of the method that was called.
        """
        if not self._started:
            raise RuntimeError(f"{call} before reset: call reset() first")

    def _read_state(self, state: bytes | Mapping[str, Any]) -> Record:
        if isinstance(state, bytes | bytearray):
            record = self.game.from_bytes(bytes(state))
        else:
            record = self.game.from_dict(state)
        players = int(record["num_players"])
        if players != len(self.possible_agents):
            raise ValueError(
                f"a position of {players} players in an environment of {len(self.possible_agents)}"
            )
        return record

    def _go_to(self, record: Record) -> None:
        self._states[0] = record
        mask = np.empty((1, self.game.num_actions), np.int8)
        self._kernels.fill_masks.serial(self._states, mask)
        self._origin = self._states.tobytes()
        self._start(mask[0])

    def _start(self, mask: NDArray[np.int8]) -> None:
        """Sets PettingZoo's attributes at the start of a game."""
        self._started = True
        self._actions = []
        self._past = None
        self._mask = mask
        self.agents = self.possible_agents.copy()
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": self._no_actions} for agent in self.agents}
        self._skip_agent_selection = None  # type: ignore[assignment]  # as in AECEnv itself
        seat = int(self._states[0].seat)
        self.agent_selection = self.agents[max(seat, 0)]
        if seat < 0:
            self._end_with_result()
        else:
            self.infos[self.agent_selection] = {"action_mask": mask.copy()}

    def _to_action(self, agent: str, action: Any) -> int:
        """Returns an integer of any type as an int: every type would be compiled anew.

        Raises:
            ValueError: It is no integer, or out of range.
        """
        if is_integer(action):
            action = int(action)  # a number of NumPy is shown with its type
            if 0 <= action < self._num_actions:
                return int(action)
        last = self._num_actions - 1
        raise ValueError(f"action {shown(action)} of {agent} is not an integer in 0..{last}")

    def _end_with_result(self) -> None:
        """Ends the game with the rewards of the rules."""
        self._kernels.outcome.serial(self._states, self._payoff[None], self._margin[None])
        rewards = self._payoff
        if self._reward == "score":
            rewards = self._margin
        self._end(rewards.tolist())

    def _forfeit(self, agent: str) -> None:
        """Ends the game with -1 for an agent and 0 for the others."""
        rewards = [0.0] * len(self.agents)
        rewards[self._seats[agent]] = -1.0
        self._end(rewards)

    def _end(self, rewards: Sequence[float]) -> None:
        """Ends the game with a reward for each agent."""
        for agent, reward in zip(self.agents, rewards, strict=True):
            self.rewards[agent] = reward
            self._cumulative_rewards[agent] += reward
            self.terminations[agent] = True
        self._mask[:] = 0  # nobody is to act, even after an illegal action
        self.agent_selection = self.agents[0]


def start_of(options: Mapping[str, Any] | None) -> Any:
    """Returns the position that the options of `reset` name, or None."""
    if options is not None and not isinstance(options, Mapping):
        raise ValueError(f"options={shown(options)} is not a dict, such as {{'state': ...}}")
    return (options or {}).get("state")
