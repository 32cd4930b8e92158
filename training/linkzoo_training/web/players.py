"""Agents of the server: checks of requested names, and one thread per agent."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cached_property
from typing import Any, TypeVar

import numpy as np

from linkzoo import Agent, Game, Positions, get_game
from linkzoo.core.arguments import integer, shown
from linkzoo.core.state import Record
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import checked_actions, decision_seeds
from linkzoo_training.agents.specs import SHIPPED, AgentSpec
from linkzoo_training.checkpoints.checkpoint import load_card
from linkzoo_training.resources import find_checkpoint, shipped_checkpoints

HUMAN = "human"
MOST_SIMULATIONS = 10_000  # limit for requests from a page
MOST_AGENTS = 16  # loaded at once
MOST_WAITING = 256  # per agent
_NAME = re.compile(r"[A-Za-z0-9_@~:.-]{1,90}")  # no paths

T = TypeVar("T")


class BusyError(Exception):
    """The server has no capacity left."""


def read_agent(text: str, game: str, custom: Sequence[str] = ()) -> AgentSpec:
    """Parses the name of an agent requested by a page.

    It is a baseline, a shipped checkpoint, or one of `custom`, the agents named on the server's
    command line; pages can't request other paths or modules.

    Raises:
        ValueError: Pages may not request this agent, or it doesn't play the game.
    """
    spec = AgentSpec.parse(text) if text in custom else _requested(text)
    spec.check(game)
    checkpoint = spec.checkpoint(game)
    if checkpoint is not None:
        played, fixed = load_card(find_checkpoint(checkpoint))["game"], spec.fixed(game)
        if get_game(played).name != get_game(game).name:
            raise ValueError(f"agent {shown(text)} plays {played}, not {game}")
        if fixed:
            raise ValueError(f"agent {shown(text)} plays {fixed}, not this page's {game}")
    return spec


def _requested(text: str) -> AgentSpec:
    spec = AgentSpec.parse(text) if _NAME.fullmatch(text) else AgentSpec("custom", text)
    if spec.kind in (HUMAN, "custom") or (spec.kind == "linear" and spec.source):
        raise ValueError(f"agent {shown(text)}: not one of those that the page offers")
    checkpoints = [SHIPPED, *shipped_checkpoints()]
    if spec.kind == "checkpoint" and spec.source not in checkpoints:
        raise ValueError(
            f"agent {shown(text)}: there are random, greedy, linear, uct-N, hands-N, cheat-N, "
            f"mc-N, exact, and the checkpoints {sorted(checkpoints)}, with @N views, ~T "
            "temperature, :N simulations"
        )
    if spec.simulations is not None:
        integer(f"agent {text!r}: simulations", spec.simulations, 1, MOST_SIMULATIONS)
    return spec


class Player:
    """An agent with its own thread, so that agents don't wait for one another."""

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        self._spec, self._game = spec, game
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agent")
        self._lock, self.waiting = threading.Lock(), 0

    @cached_property
    def agent(self) -> Agent:
        """The agent, created on first use; only its own thread reads this."""
        return make_agent(self._spec, id_of(self._game), self._game.fixed.values)

    def act(self, state: Record, seed: int) -> int:
        """Returns a legal action of the agent. Call it in the agent's thread."""
        return int(checked_actions(self.agent, one_position(self._game, state, seed))[0])

    def submit(self, task: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Queues `task(self, *arguments)` for the thread; BusyError if the queue is full."""
        with self._lock:
            if self.waiting >= MOST_WAITING:
                raise BusyError(f"{self._spec} has too much to do: try again")
            self.waiting += 1
        future = self._thread.submit(task, self, *arguments)
        future.add_done_callback(self._finished)
        return future

    def _finished(self, _: Future[Any]) -> None:
        with self._lock:
            self.waiting -= 1

    def close(self) -> None:
        """Stops the thread after its current task."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def one_position(game: Game, state: Record, seed: int) -> Positions:
    """Returns a position with the seed of its decision, as in `linkzoo play`."""
    states = np.array([state], game.state)
    return Positions(game, states, decision_seeds(np.array([seed], np.uint64), states))


class Players:
    """The agents in use; the least recently used are dropped to make room."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[AgentSpec, tuple[str, int, int]], Player] = OrderedDict()

    def submit(
        self, spec: AgentSpec, game: Game, task: Callable[..., T], *arguments: Any
    ) -> "Future[T]":
        """Queues `task(player, *arguments)` in an agent's thread; BusyError if there is no room."""
        key = (spec, game.key)
        with self._lock:
            if key not in self._held:
                if len(self._held) >= MOST_AGENTS:
                    idle = next((key for key, it in self._held.items() if not it.waiting), None)
                    if idle is None:
                        raise BusyError(f"{MOST_AGENTS} other agents are at work: try again")
                    self._held.pop(idle).close()
                self._held[key] = Player(spec, game)
            self._held.move_to_end(key)
            return self._held[key].submit(task, *arguments)

    def close(self) -> None:
        """Stops all threads."""
        with self._lock:
            for player in self._held.values():
                player.close()
            self._held.clear()
