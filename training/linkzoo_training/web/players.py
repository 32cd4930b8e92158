"""The agents of the server: which ones a page may ask for, each with a thread of its own."""

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from linkzoo import Agent, Game, Positions
from linkzoo.core.kernels import kernels
from linkzoo.engine.rng import STREAM_ACTION, words
from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import integer, shown
from linkzoo_training.agents.answers import checked
from linkzoo_training.agents.specs import check_agent, make_agent
from linkzoo_training.resources import shipped
from linkzoo_training.search.solver import check_solver

HUMAN = "human"
MOST_SIMULATIONS = 10_000  # that a page may ask for
MOST_AGENTS = 16  # held at once
MOST_WAITING = 256  # for one agent
_SPEC = re.compile(r"[A-Za-z0-9_-]{1,64}(?:@([0-9]{1,4}))?(?:~[0-9.]{1,8})?(?::([0-9]{1,9}))?")
_SEARCH = re.compile(r"(?:uct|cheat|mc)-([0-9]{1,9})")

T = TypeVar("T")


class BusyError(Exception):
    """There is no room for more, now."""


def check_spec(spec: str, game: str, outside: Sequence[str] = ()) -> None:
    """ValueError unless a page may ask for an agent.

    A page may name the baselines, the checkpoints that ship, and `outside`, which the server's
    command line has named: no path and no module comes from a page.
    """
    if spec in outside:
        return
    parts = _SPEC.fullmatch(spec)
    if parts is None or spec == HUMAN:
        raise ValueError(f"agent {shown(spec)}: not one of those that the page offers")
    search = _SEARCH.fullmatch(spec)
    simulations = search[1] if search else parts[2]
    if simulations is not None:
        integer(f"agent {spec!r}: simulations", int(simulations), 1, MOST_SIMULATIONS)
    source = re.split("[@~:]", spec)[0]
    named = {"checkpoint", *checkpoints()}
    if search is None and source not in {"random", "greedy", "exact", *named}:
        raise ValueError(
            f"agent {shown(spec)}: there are random, greedy, uct-N, cheat-N, mc-N, exact, and the "
            f"checkpoints {sorted(named)}, with @N views, ~T temperature, :N simulations"
        )
    check_agent(spec, game)


def checkpoints() -> list[str]:
    """The checkpoints that ship, by name."""
    return sorted(path.parent.name for path in shipped("checkpoints").glob("*/card.json"))


def has_solver(game: Game) -> bool:
    """Whether a game is solved exactly."""
    try:
        check_solver(game.name)
    except ValueError:
        return False
    return True


class Player:
    """An agent and its thread: whoever else plays doesn't wait for it."""

    def __init__(self, spec: str, game: Game) -> None:
        self._spec, self._game = spec, game
        self._agent: Agent | None = None
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="agent")
        self._lock, self.waiting = threading.Lock(), 0

    def agent(self) -> Agent:
        """The agent; only its own thread asks. It is made at its first use."""
        if self._agent is None:
            self._agent = make_agent(self._spec, self._game.id)
        return self._agent

    def act(self, state: Record, seed: int) -> int:
        """The agent's legal action in a position, to be called in its thread."""
        agent, states = self.agent(), np.zeros(1, self._game.state)
        states[0] = state
        actions = np.asarray(agent.act(Positions(self._game, states, decision_seeds(state, seed))))
        masks = np.zeros((1, self._game.num_actions), np.int8)
        kernels(self._game).legal_one(states, masks)
        return int(checked(agent.name, actions, states, masks)[0])

    def submit(self, task: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Has the thread do `task(self, *arguments)` in its turn; BusyError if too many wait."""
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
        """Ends the thread after what it is doing."""
        self._thread.shutdown(wait=False, cancel_futures=True)


def decision_seeds(state: Record, seed: int) -> Any:
    """The seed of the decision that is to be made, uint64[1]: as `linkzoo play` has it."""
    ply, seat = np.array([state.ply]), np.array([state.seat])
    return words(np.array([seed], np.uint64), STREAM_ACTION, ply, seat)


class Players:
    """The agents in use; those unused for longest make room for others."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._held: OrderedDict[tuple[str, str], Player] = OrderedDict()

    def submit(self, spec: str, game: Game, task: Callable[..., T], *arguments: Any) -> "Future[T]":
        """Has an agent's thread do `task(player, *arguments)`; BusyError if there is no room."""
        key = (spec, game.key)
        with self._lock:
            if key not in self._held:
                self._make_room()
                self._held[key] = Player(spec, game)
            self._held.move_to_end(key)
            return self._held[key].submit(task, *arguments)

    def _make_room(self) -> None:
        if len(self._held) < MOST_AGENTS:
            return
        idle = next((key for key, player in self._held.items() if not player.waiting), None)
        if idle is None:
            raise BusyError(f"{MOST_AGENTS} other agents are at work: try again")
        self._held.pop(idle).close()

    def close(self) -> None:
        """Ends all threads."""
        with self._lock:
            for player in self._held.values():
                player.close()
            self._held.clear()
