"""Games in progress: record, position, players and the screen that they share."""

import asyncio
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, field
from typing import Any, NoReturn, cast

import numpy as np

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import shown
from linkzoo.core.game import SPECTATOR
from linkzoo.core.history import History as Past
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record, winners_of
from linkzoo.record import new_file_name
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.agents.trained_on import TrainedOn
from linkzoo_training.web.certainty import was_certain
from linkzoo_training.web.clock import Clock, TimeControl
from linkzoo_training.web.game_store import StoredGame, player_names
from linkzoo_training.web.history import History
from linkzoo_training.web.offers import judges, read_agent, reporters
from linkzoo_training.web.players import HUMAN, BusyError, Player, Players, Task
from linkzoo_training.web.safety import without_paths

MOST_NAME = 40  # characters of a player's name
LOCK_SECONDS = 0.2  # that the end of the server waits for a game


class RefusedError(Exception):
    """An action that the person may not take now."""


@dataclass
class Wish:
    """A person's wish to take back a move, which the other people have to agree to.

    Attributes:
        seat: The seat of the person.
        ply: The number of moves that stay.
        agreed: The seats that agree.
    """

    seat: int
    ply: int
    agreed: set[int] = field(default_factory=set)


class GameSession:
    """A game in progress, and its rematches with the same seats. `start` lets the players begin.

    People share a screen, or each has their own (`apart`). With one person at a screen, the view is
    that person's. With several people and hidden information, the shared screen is covered until
    the next player confirms they are at the screen. Without people, the view is the referee's and
    agents move on request.

    Callers hold `lock` while they change or read the session.

    Args:
        players: The agents of the server.
        name: The name of the game.
        seats: `human` or an agent's name for each seat.
        options: Options of the game.
        seed: Seed of the game.
        custom: The agents of the server's command line.
        names: People's names, by seat; may be fewer than the seats.
        apart: Whether each person has an own screen.

    Attributes:
        notes: Sentences about agents that weren't trained for the options or players.
        judges: The names of offered agents that analyse its positions.
        reports: Whether an offered agent writes reports on such games.
        rematches: The number of games before this one.
        version: Counts the changes of the session.
        changed: Done at the next change.
        thinking: Whether an agent has to move and does so by itself.
        thought: The agent's task; None while all agents are busy.
        busy: The reason why the agent has to wait, else "".
        error: The reason why the agent failed, else "".
        looking: The seat whose person looks at the shared screen, else None.
        resigned: The seat that gave up or ran out of time, else None.
        clock: The clocks of people, else None.
        wish: A person's wish to take back a move, else None.
        file: The name of the game's file, once it is saved.
        replay: The link of the game's replay, once it is opened.
        drawing: Held by the request that draws a view; see `session_routes`.
        rendered: The latest views by (seat of the screen, tall).
        began: When the game began, in seconds since 1970.
        keep: Called with each change of the game.
        seen: The latest view, without its drawing, and its number by the seat of the screen.

    Raises:
        ValueError: An option or agent isn't available.
    """

    def __init__(
        self,
        players: Players,
        name: str,
        seats: Sequence[str],
        options: Mapping[str, Any],
        seed: int,
        custom: Mapping[str, AgentSpec],
        *,
        names: Sequence[str] = (),
        apart: bool = False,
    ) -> None:
        safe_options(get_game(name), options)
        game = get_game(name, options)
        self.game = game
        self.lock = threading.RLock()
        self.keep: Callable[[StoredGame], None] = _ignore
        self._wanted = list(seats)
        self._options = dict(options)
        self._players = players
        self._start = game.blank(len(seats), options)
        self._states = np.array([self._start], game.state)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self.humans = [seat for seat, player in enumerate(seats) if player == HUMAN]
        self.apart = apart and bool(self.humans)
        self.seats = [_read_player(player, game, len(seats), options, custom) for player in seats]
        self.judges = judges(game, len(seats), options, custom)
        self.reports = bool(reporters(game, len(seats), options, custom))
        self.names = [" ".join(name.split())[:MOST_NAME] for name in names][: len(seats)]
        self.names += [""] * (len(seats) - len(self.names))
        self.rematches = 0
        self.version = 0
        self.changed = Future[None]()
        self.drawing = asyncio.Lock()
        self.rendered: dict[tuple[int | None, bool], Any] = {}
        self.seen: dict[int | None, tuple[int, dict[str, Any]]] = {}
        self.thought: Task[None] | None = None
        self.clock: Clock | None = None
        self._generation = 0  # counts the moves, so that agents notice outdated tasks
        players.load((spec, game) for spec in self.agents())
        self.notes = [note for spec in self.agents() for note in self._untrained(spec)]
        self._set_up(seed)

    def _untrained(self, spec: AgentSpec) -> list[str]:
        """Returns how an agent's training games differ from this game, as sentences."""
        trained_on = TrainedOn.of(self.game, spec.card(self.game.name))
        return [f"{spec} was {note}" for note in trained_on.notes(self.game, self._states)]

    def agents(self) -> Iterator[AgentSpec]:
        """Yields the agents of the game, each once."""
        return iter(dict.fromkeys(spec for spec in self.seats if spec.kind != HUMAN))

    def deal(self, seed: int) -> None:
        """Begins another game with a seed."""
        self.rematches += 1
        self._set_up(seed)
        self._moved()

    def _set_up(self, seed: int) -> None:
        self._states[0] = self._start
        kernels(self.game).begin(self._states, np.array([seed], np.uint64), self._mask)
        self._first: Record = self._states.copy()[0]
        self.record = GameRecord.of(self.game, self.state)
        self.history = History(self.game, [*self.humans, SPECTATOR])
        self._certain: list[bool] = []  # by ply: neither luck nor hidden information had a part
        self.wish: Wish | None = None
        self.looking: int | None = None
        if len(self.humans) == 1:
            self.looking = self.humans[0]
        self.resigned: int | None = None
        if self.clock is not None:
            self.use_clock(self.clock.control)
        self.file = new_file_name(self.record)
        self.replay: str | None = None
        self.began = time.time()
        self.record.names = player_names(list(map(str, self.seats)), self.names)

    def use_clock(self, control: TimeControl) -> Clock:
        """Gives each person a budget of time, before the first move; returns the clock.

        Raises:
            ValueError: No person plays, or a clock would show whose turn it is.
        """
        if not self.humans:
            raise ValueError("clock: only people have one")
        if not has_clock(self.game):
            title = self.game.title
            raise ValueError(f"clock: it would show whose turn it is, which {title} keeps secret")
        if self.clock is not None:
            self.clock.stop()
        self.clock = Clock(control, self.humans, self._run_out)
        return self.clock

    def start(self, keep: Callable[[StoredGame], None]) -> None:
        """Lets the players begin; `keep` is called with each change of the game."""
        with self.lock:
            self.keep = keep
            self._moved()

    def resume(self, stored: StoredGame) -> None:
        """Plays the actions of a stored game with the same seed, before the start."""
        self.file = stored.file
        self.began = stored.began
        for action in stored.actions:
            self._apply(action)
        self.record.comments = {int(index): text for index, text in stored.comments.items()}
        self.resigned = stored.resigned
        if stored.clock is not None:
            control = TimeControl(stored.clock["minutes"], stored.clock["increment"])
            self.use_clock(control).restore(stored.clock, len(stored.actions))

    def stored(self) -> StoredGame:
        """Returns the game as it is stored."""
        return StoredGame(
            file=self.file,
            game=self.game.name,
            seats=self._wanted,
            players=list(map(str, self.seats)),
            names=self.names,
            apart=self.apart,
            options=self._options,
            seed=self.record.seed,
            actions=list(self.record.actions),
            comments={str(index): text for index, text in self.record.comments.items()},
            resigned=self.resigned,
            over=self.over,
            winners=self.winners if self.over else [],
            began=self.began,
            changed=time.time(),
            clock=None if self.clock is None else self.clock.to_dict(),
        )

    @property
    def state(self) -> Record:
        """The current position."""
        return cast(Record, self._states[0])

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.seat < 0) or self.resigned is not None

    @property
    def winners(self) -> list[int]:
        """The seats that have won; after a resignation, the seats of the other sides."""
        if self.resigned is None:
            return winners_of(self.state)
        sides = self.game.facts.sides(len(self.seats))
        return [seat for seat, side in enumerate(sides) if side != sides[self.resigned]]

    @property
    def timed_out(self) -> bool:
        """Whether the seat that gave up had no time left."""
        if self.clock is None or self.resigned is None:
            return False
        return self.clock.left(self.resigned) == 0

    @property
    def secret(self) -> bool:
        """Whether information is hidden from a person at a screen."""
        return self.game.hides and not self.over and bool(self.humans)

    @property
    def waiting(self) -> int | None:
        """The seat that must confirm they are at the shared screen before the game continues."""
        if not self.secret or self.apart:
            return None
        seat = int(self.state.seat)
        if seat in self.humans and seat != self.looking:
            return seat
        if self.looking is None:  # an agent moves first: nobody is at the screen yet
            return self.humans[0]
        return None

    @property
    def preparing(self) -> bool:
        """Whether the agent to move still loads, or compiles its code."""
        spec = self.seats[int(self.state.seat)]
        return self.thinking and not self._players.ready(spec, self.game)

    def legal(self) -> list[int]:
        """The legal actions of a person who is to act."""
        if self.over or int(self.state.seat) not in self.humans:
            return []
        return np.flatnonzero(self._mask[0]).tolist()

    def look(self, seat: int) -> None:
        """Confirms that the person to act is at the shared screen."""
        if seat != self.waiting:
            raise RefusedError(f"it isn't player {seat}'s turn to look")
        self.looking = seat
        self._run_clock()
        self.touch()

    def action(self, text: str) -> int:
        """Returns the action of a person's move; RefusedError if it isn't possible."""
        to_text = self.game.notation.action_to_text
        moves = {to_text(self.state, action).lower(): action for action in self.legal()}
        if not moves:
            self.refuse_turn()
        move = " ".join(text.split()).lower()
        if move not in moves:
            example = next(iter(moves))
            raise RefusedError(f"{shown(text)} isn't legal here; moves are like {example!r}")
        return moves[move]

    def refuse_turn(self) -> NoReturn:
        """Raises RefusedError with the reason why the person can't move."""
        if self.over:
            raise RefusedError("the game is over")
        raise RefusedError("it isn't your turn")

    def play(self, text: str) -> None:
        """Plays a person's move; RefusedError if it isn't possible."""
        action = self.action(text)
        if self.clock is not None:
            self.clock.reward(len(self.record.actions))
        self.wish = None
        self._play(action)

    def step(self) -> None:
        """Lets an agent move, in a game without people."""
        if self.humans:
            raise RefusedError("people play here: the agents move by themselves")
        if not self.over and not self.thinking:
            self.ask()
            self.touch()

    def can_return(self, ply: int) -> bool:
        """Returns whether neither luck nor hidden information had a part in the moves since."""
        return not self.over and all(self._certain[ply:])

    def take_back(self, ply: int) -> None:
        """Returns to the position after `ply` moves."""
        self.wish = None
        del self._certain[ply:]
        del self.record.actions[ply:]
        comments = self.record.comments.items()
        self.record.comments = {index: text for index, text in comments if index < ply}
        self.history.cut(ply)
        for state in self.record.replay():
            self._states[0] = state
        kernels(self.game).fill_masks.serial(self._states, self._mask)
        self._moved()

    def resign(self, seat: int) -> None:
        """Ends the game: the other sides win."""
        self.wish = None
        self.resigned = seat
        self._moved()

    def close(self) -> None:
        """Abandons the task of an agent, and stops the clock."""
        with self.lock:
            self._generation += 1
            if self.thought is not None:
                self.thought.abandon()
            self.pause()
            self.touch()

    def pause(self) -> None:
        """Stops the clock until the game is read from the disk; not while the game is locked."""
        if self.clock is None or self.over or not self.lock.acquire(timeout=LOCK_SECONDS):
            return
        try:
            self.clock.stop()
            self.keep(self.stored())
        finally:
            self.lock.release()

    def touch(self) -> None:
        """Wakes all requests that wait for a change."""
        self.version += 1
        changed = self.changed
        self.changed = Future()
        changed.set_result(None)

    def _play(self, action: int) -> None:
        self._apply(action)
        if not self._certain[-1] or self.over:
            self.wish = None
        self._moved()

    def _apply(self, action: int) -> None:
        """Plays an action; nobody is asked for the next one."""
        before: Record = self._states.copy()[0]
        self.history.add(before, action)
        kernels(self.game).play_one(self._states, action, self._mask[0])
        self.record.actions.append(action)
        self._certain.append(was_certain(self.game, before, action, self.state))

    def _moved(self) -> None:
        """Updates the seat at the shared screen, and asks the agent to move, if there is one."""
        self._generation += 1
        self.thinking = False
        self.busy = ""
        self.error = ""
        seat = int(self.state.seat)
        if not self.over and seat in self.humans:
            if not self.secret:
                self.looking = seat
        elif self.humans and not self.over:
            self.ask()
        self._run_clock()
        self.keep(self.stored())
        self.touch()

    def _run_clock(self) -> None:
        """Lets the time of the person to move run, from that person's second move on."""
        if self.clock is None:
            return
        self.clock.stop()
        seat = int(self.state.seat)
        has_moved = self.history.last_of([seat]) is not None
        if not self.over and has_moved and seat in self.humans and self.waiting is None:
            self.clock.run(seat)

    def _run_out(self, seat: int) -> None:
        """Ends the game for a person without time, in the clock's thread."""
        with self.lock:
            clock = self.clock
            if clock is not None and clock.running == seat and clock.left(seat) == 0:
                self.resign(seat)

    def ask(self) -> None:
        """Asks the agent to move. While all are busy it stays `thinking` without a `thought`."""
        spec = self.seats[int(self.state.seat)]
        state = self.state.copy()
        past = Past(self.game, self._first, list(self.record.actions))
        was_busy = self.busy
        self.thinking = True
        self.busy = ""
        self.error = ""
        with self.lock:  # the agent waits for this lock before it moves
            try:
                self.thought = self._players.submit(
                    spec, self.game, self._think, state, past, self._generation
                )
            except BusyError as error:
                self.thought = None
                self.busy = str(error)
        if self.busy != was_busy:
            self.touch()

    def _think(self, player: Player, state: Record, past: Past, generation: int) -> None:
        """Plays an agent's move, in the agent's thread, unless the position has changed."""
        if generation != self._generation:
            return
        action: int | None = None
        try:
            action, comment = player.act(state, self.record.seed, past)
        except Exception as error:  # noqa: BLE001 - custom agents can raise anything
            reason = without_paths(str(error)) or type(error).__name__
        with self.lock:
            if generation != self._generation:  # the move was taken back meanwhile
                return
            if action is None:
                self.thinking = False
                self.error = reason
                self.touch()
                return
            if comment:  # kept for the record, not shown to the other players
                self.record.comments[len(self.record.actions)] = comment
            self._play(action)


def _ignore(_: StoredGame) -> None:
    """Keeps a game nowhere."""


def _read_player(
    name: str,
    game: Game,
    players: int,
    options: Mapping[str, Any],
    custom: Mapping[str, AgentSpec],
) -> AgentSpec:
    if name == HUMAN:
        return AgentSpec(HUMAN)
    return read_agent(name, game, players, options, custom)


def has_clock(game: Game) -> bool:
    """Returns whether everybody knows whose turn it is, so that a clock tells nothing new."""
    return not game.guide.secret


def safe_options(game: Game, options: Mapping[str, Any]) -> None:
    """Raises ValueError for an option that may name a file, unless it is an edition's."""
    for name, allowed in offered_values(game).items():
        if name in options and options[name] not in allowed:
            raise ValueError(f"{name}: {shown(options[name])}, but a page plays {allowed}")


def offered_values(game: Game) -> dict[str, list[Any]]:
    """Returns the values of each compiled-in option that a page offers, the standard one first."""
    standard = asdict(game.options())
    return {
        name: [
            standard[name],
            *(edition[name] for edition in game.editions.values() if name in edition),
        ]
        for name in game.fixed.values
    }
