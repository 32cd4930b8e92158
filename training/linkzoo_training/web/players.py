"""Agents of the server: checks of requested names, and one thread per agent."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable
from concurrent.futures import Future
from functools import cached_property
from queue import SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np

from linkzoo import Agent, Game, Positions
from linkzoo.core.agent import decision_seeds
from linkzoo.core.arguments import shown
from linkzoo.core.history import History
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo.registry import id_of
from linkzoo_training.agents.make import make_agent
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.agents.specs import AgentSpec

HUMAN = "human"
MOST_AGENTS = 16  # loaded at once
MOST_WAITING = 256  # per agent

T = TypeVar("T")


class BusyError(Exception):
    """The server has no capacity left."""


class AbandonedError(Exception):
    """The request is gone, or the server ends."""

    def __init__(self) -> None:
        super().__init__("the server ended this")


class Task(Future[T], Generic[T]):
    """Work of an agent's thread, which can be abandoned."""

    abandoned = False

    def abandon(self) -> None:
        """Cancels the work before it begins; later it ends at the next `Player.check`."""
        self.abandoned = True
        self.cancel()


class Player:
    """An agent with its own thread, so that agents don't wait for one another.

    Attributes:
        ready: Whether the agent has acted: its code is compiled and its weights are loaded.
        waiting: The number of unfinished tasks.
        thread: Its thread.
    """

    def __init__(self, spec: AgentSpec, game: Game) -> None:
        self.ready = False
        self.waiting = 0
        self._spec = spec
        self._game = game
        self._lock = threading.Lock()
        self._tasks: SimpleQueue[tuple[Task[Any], Callable[..., Any]] | None] = SimpleQueue()
        self._now: Task[Any] | None = None
        # A daemon, so that the server can end while its agents work.
        self.thread = threading.Thread(target=self._work, name=f"agent {spec}", daemon=True)
        self.thread.start()

    @cached_property
    def agent(self) -> Agent:
        """The agent, created on first use; only its own thread reads this."""
        agent = make_agent(self._spec, id_of(self._game), self._game.fixed.values)
        policy = getattr(agent, "policy", agent)  # of a search
        if isinstance(policy, PolicyAgent):
            policy.warns = False  # the page shows it
        return agent

    def act(self, state: Record, seed: int, past: History | None = None) -> tuple[int, str]:
        """Returns a legal action of the agent and its comment. Call it in the agent's thread."""
        positions = one_position(self._game, state, seed)
        if past is not None:
            positions.past_of = lambda _: past
        action = int(checked_actions(self.agent, positions)[0])
        self.ready = True
        return action, positions.comments[0]

    @property
    def loaded(self) -> bool:
        """Whether the agent has been created."""
        return "agent" in vars(self)

    @property
    def running(self) -> bool:
        """Whether a task is running."""
        return self._now is not None and not self._now.done()

    def check(self) -> None:
        """Raises AbandonedError if the thread's current task was abandoned."""
        if self._now is not None and self._now.abandoned:
            raise AbandonedError

    def submit(self, task: Callable[..., T], *arguments: Any) -> Task[T]:
        """Queues `task(self, *arguments)` for the thread; BusyError if the queue is full."""
        with self._lock:
            if self.waiting >= MOST_WAITING:
                raise BusyError(f"{self._spec} has too much to do: try again")
            self.waiting += 1
        future: Task[T] = Task()
        future.add_done_callback(self._finished)
        self._tasks.put((future, lambda: task(self, *arguments)))
        return future

    def _work(self) -> None:
        while (item := self._tasks.get()) is not None:
            future, task = item
            if not future.set_running_or_notify_cancel():
                continue
            self._now = future
            try:
                future.set_result(task())
            except BaseException as error:  # noqa: BLE001 - raised again by `result`
                future.set_exception(error)

    def _finished(self, _: Future[Any]) -> None:
        with self._lock:
            self.waiting -= 1

    def close(self) -> None:
        """Stops the thread; its current task is abandoned, the others are cancelled."""
        while not self._tasks.empty():
            if (item := self._tasks.get()) is not None:
                item[0].abandon()
        if self._now is not None:
            self._now.abandon()
        self._tasks.put(None)


def one_position(game: Game, state: Record, seed: int) -> Positions:
    """Returns a position with the seed of its decision, as in `linkzoo play`."""
    states = np.array([state], game.state)
    return Positions(game, states, decision_seeds(np.array([seed], np.uint64), states))


def _first_move(player: Player, game: Game) -> None:
    """Plays a move and draws the next position, which compiles the game's code."""
    states = np.array([game.blank()], game.state)
    mask = np.zeros((1, game.num_actions), np.int8)
    kernels(game).begin(states, np.zeros(1, np.uint64), mask)
    action, _ = player.act(states[0], 0)
    kernels(game).play_one(states, action, mask[0])
    game.draw_svg(states[0], 0)


class Players:
    """The agents in use; the least recently used are dropped to make room."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._closed = False
        self._players: OrderedDict[tuple[AgentSpec, tuple[str, int, int]], Player] = OrderedDict()

    def submit(
        self, spec: AgentSpec, game: Game, task: Callable[..., T], *arguments: Any
    ) -> Task[T]:
        """Queues `task(player, *arguments)` in an agent's thread; BusyError if there is no room."""
        key = (spec, game.key)
        with self._lock:
            if self._closed:
                raise BusyError("the server is ending")
            if key not in self._players:
                if len(self._players) >= MOST_AGENTS:
                    self._drop_idle()
                self._players[key] = Player(spec, game)
            self._players.move_to_end(key)
            return self._players[key].submit(task, *arguments)

    def _drop_idle(self) -> None:
        """Drops the least recently used agent without tasks; BusyError if all have tasks."""
        for key, player in self._players.items():
            if not player.waiting:
                del self._players[key]
                player.close()
                return
        raise BusyError(f"{MOST_AGENTS} other agents are at work: try again")

    def load(self, agents: Iterable[tuple[AgentSpec, Game]]) -> None:
        """Loads agents that aren't loaded, and waits for them.

        Raises:
            ValueError: An agent can't be loaded.
            BusyError: There is no room.
        """
        for spec, game in agents:
            player = self._players.get((spec, game.key))
            if player is None or not player.loaded:
                try:
                    self.submit(spec, game, lambda player: player.agent and None).result()
                except BusyError:
                    raise
                except Exception as error:  # custom agents can raise anything
                    with self._lock:
                        failed = self._players.pop((spec, game.key), None)
                    if failed is not None:
                        failed.close()
                    raise ValueError(f"agent {shown(str(spec))}: {error}") from error

    def ready(self, spec: AgentSpec, game: Game) -> bool:
        """Returns whether an agent is loaded and compiled."""
        player = self._players.get((spec, game.key))
        return player is not None and player.ready

    def prepare(self, agents: Iterable[AgentSpec], game: Game) -> bool:
        """Begins to compile a game and agents; returns whether all are ready."""
        ready = True
        for spec in (AgentSpec("random"), *agents):
            if not self.ready(spec, game):
                ready = False
                player = self._players.get((spec, game.key))
                if player is None or not player.waiting:
                    self.submit(spec, game, _first_move, game)
        return ready

    def close(self) -> None:
        """Stops all agents for good."""
        with self._lock:
            self._closed = True
        for player in self._players.values():
            player.close()
