"""The agent protocol: takes a batch of positions, returns an action for each."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import shown
from linkzoo.core.game import Game
from linkzoo.core.history import Event, History
from linkzoo.core.kernels import kernels, observations
from linkzoo.engine.rng import STREAM_ACTION, as_words, random_u64s


@dataclass
class Positions:
    """Positions of one game in which a seat is to act.

    Attributes:
        game: The game.
        states: N full records. A fair agent uses only `observation`, `action_mask` and the game's
            `determinize`.
        seeds: uint64[N], the only source of randomness: equal positions and seeds give equal
            actions.
        past_of: Returns the past of the game with an index; None where the past isn't kept.
        comments: N texts, empty at first. An agent may give the reasons for its actions here; they
            are kept in the records of games.

    Raises:
        ValueError: The states aren't records of the game, there isn't a seed for each, or a game
            is over, so no seat is to act.
    """

    game: Game
    states: NDArray[Any]
    seeds: NDArray[np.uint64]
    past_of: Callable[[int], History] | None = field(default=None, repr=False, compare=False)
    comments: list[str] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        self.states = checked_states(self.game, self.states)
        check_unfinished(self.states)
        self.seeds = np.require(as_words("seeds", self.seeds), requirements=["C", "W"])
        if self.past_of is not None and not callable(self.past_of):
            raise ValueError(f"past_of: {shown(self.past_of)} is no function")
        if len(self.seeds) != len(self.states):
            raise ValueError(f"seeds: {len(self.seeds)} for {len(self.states)} positions")
        self.comments = [""] * len(self.states)

    def __len__(self) -> int:
        return len(self.states)

    def part(self, rows: NDArray[np.int64]) -> "Positions":
        """Returns the positions with these indices [M]."""
        past_of = self.past_of
        if past_of is None:
            return Positions(self.game, self.states[rows], self.seeds[rows])
        whole = past_of
        return Positions(
            self.game, self.states[rows], self.seeds[rows], lambda index: whole(int(rows[index]))
        )

    @property
    def num_players(self) -> NDArray[np.int64]:
        """int64[N], the players of each game."""
        return self.states["num_players"].astype(np.int64)

    @cached_property
    def action_mask(self) -> NDArray[np.int8]:
        """int8[N, num_actions], 1 for legal actions."""
        masks = np.empty((len(self), self.game.num_actions), np.int8)
        kernels(self.game).fill_masks(self.states, masks)
        return masks

    @cached_property
    def observation(self) -> NDArray[Any]:
        """[N, *spec.shape], the observation of the seat to act."""
        flat = observations(self.game, self.states, self.states["seat"])
        return flat.reshape(len(self), *self.game.observation.spec.shape)

    @property
    def history(self) -> list[list[Event]]:
        """The past of each game, N lists: the moves so far, as far as the seat to act knows them.

        It begins with the game, or with the position from which the game was started. It is
        computed when an agent asks for it. Observations alone may be enough: the pages of the games
        say what they keep of the past.

        Raises:
            ValueError: The past isn't kept.
        """
        past_of = self.past_of
        if past_of is None:
            raise ValueError(
                "history: these positions come without their past. GameEnv, SeatEnv, TextGame, "
                "matches and the page keep it; arrays of games, training and searches don't"
            )
        seats = self.states["seat"].tolist()
        return [past_of(index).events(seat) for index, seat in enumerate(seats)]


class Agent(Protocol):
    """Anything that chooses actions: random, greedy, search, a trained policy, a person."""

    @property
    def name(self) -> str:
        """A short name for tables, such as `uct-100`."""

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns a legal action for each position, int64[N]."""


def check_agent(agent: Agent, name: str = "agent") -> Agent:
    """Returns `agent`; raises ValueError, prefixed with `name`, unless it is an agent."""
    if isinstance(agent, str):
        raise ValueError(
            f"{name}: {shown(agent)} is a name: linkzoo_training.make_agent(NAME, GAME) makes an "
            "agent of it"
        )
    named = isinstance(getattr(agent, "name", None), str) and not isinstance(agent, type)
    if not named or not callable(getattr(agent, "act", None)):
        raise ValueError(
            f"{name}: {shown(agent)} is no agent: one has a `name` and a method `act(positions)`"
        )
    return agent


def checked_states(game: Game, states: Any) -> NDArray[Any]:
    """Returns records [N] as compiled code takes them; ValueError if they are none of the game."""
    if not isinstance(game, Game):
        raise ValueError(f"game: {shown(game)} is not a Game")
    if not isinstance(states, np.ndarray) or states.ndim != 1 or states.dtype != game.state:
        raise ValueError(f"states: {shown(states)} is no array [N] of records of {game}")
    if game.fixed.digest and (states["digest"] != game.fixed.digest).any():
        raise ValueError(f"states: made for another {' or '.join(game.fixed.values)} than {game}")
    return np.require(states, requirements=["C", "W"])


def check_unfinished(states: NDArray[Any]) -> None:
    """Raises ValueError unless a seat is to act in every record [N]."""
    over = np.flatnonzero(states["seat"] < 0)
    if len(over):
        raise ValueError(
            f"the game is over in position {over[0]} of {len(states)}: no seat is to act"
        )


def decision_seeds(seeds: NDArray[np.uint64], states: NDArray[Any]) -> NDArray[np.uint64]:
    """Returns the seeds of the next decisions in games [N] with these seeds, uint64[N]."""
    return random_u64s(seeds, STREAM_ACTION, states["ply"], states["seat"])


class RandomAgent:
    """Plays uniformly random legal actions."""

    name = "random"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns a uniformly random legal action for each position, int64[N]."""
        actions = np.empty(len(positions), np.int64)
        kernels(positions.game).random_actions(
            positions.action_mask, positions.seeds, np.zeros(1, np.int64), actions
        )
        return actions

    def probabilities(self, positions: Positions) -> NDArray[np.float64]:
        """Returns equal probabilities of the legal actions, float64[N, num_actions]."""
        masks = positions.action_mask
        return np.asarray(masks / masks.sum(1, keepdims=True), np.float64)
