"""Games in progress: record, position, players and the screen that they share."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import shown
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record, winners_of
from linkzoo.record import new_file_name
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.history import History
from linkzoo_training.web.players import HUMAN, BusyError, Player, Players, Task, read_agent
from linkzoo_training.web.safety import without_paths

MOST_NAME = 40  # characters of a player's name


class RefusedError(Exception):
    """An action that the person may not take now."""


class Table:
    """A game in progress, and the next one at the same table.

    People share a screen, unless each has an own one (`apart`). With one person at a screen, the
    view is that person's. With several people and hidden information, nobody sees the game until
    the next player confirms they are at the screen. Without people, the view is the referee's and
    agents move on request.

    Attributes:
        version: Counts the changes of the table.
        changed: Done at the next change.
        thinking: Whether an agent is to move, and does so by itself.
        busy: Why it has to wait for its turn to think, else "".
        error: Why it failed, else "".
        resigned: The seat that gave up, else None.
        file: The name of the game's file, once it is saved.

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
        self.lock = threading.RLock()
        self._start = game.blank(len(seats), options)
        self._states = np.array([self._start], game.state)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self.game, self._players, self.apart = game, players, apart
        self.seats = [
            AgentSpec(HUMAN) if who == HUMAN else read_agent(who, name, custom) for who in seats
        ]
        self.names = [" ".join(name.split())[:MOST_NAME] for name in names][: len(seats)]
        self.names += [""] * (len(seats) - len(self.names))
        self.humans = [seat for seat, who in enumerate(seats) if who == HUMAN]
        self.version, self.changed, self._generation = 0, Future[None](), 0
        self.shown: dict[tuple[int | None, bool], tuple[int, bytes]] = {}  # views, see table_routes
        self.thought: Task[None] | None = None  # pending while an agent is `thinking`
        players.load((spec, game) for spec in self.agents())
        self.deal(seed)

    def agents(self) -> Iterator[AgentSpec]:
        """Yields the agents at the table, each once."""
        return iter(dict.fromkeys(spec for spec in self.seats if spec.kind != HUMAN))

    def deal(self, seed: int) -> None:
        """Begins a game with a seed."""
        self._states[0] = self._start
        kernels(self.game).begin(self._states, np.array([seed], np.uint64), self._mask)
        self.record = GameRecord.of(self.game, self.state)
        self.history = History(self.game, self.humans)
        self.looking = self.humans[0] if len(self.humans) == 1 else None
        self.resigned: int | None = None
        self.file = new_file_name(self.record)
        self._moved()

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
        """The seats that have won: those of the other sides if one has resigned."""
        if self.resigned is None:
            return winners_of(self.state)
        sides = self.game.facts.sides(len(self.seats))
        return [seat for seat, side in enumerate(sides) if side != sides[self.resigned]]

    @property
    def secret(self) -> bool:
        """Whether information is hidden from a person at a screen."""
        return self.game.hides and not self.over and bool(self.humans)

    @property
    def waiting(self) -> int | None:
        """The seat that must confirm they are at the shared screen before the game continues."""
        seat = int(self.state.seat)
        shared = self.secret and not self.apart and seat in self.humans
        return seat if shared and seat != self.looking else None

    @property
    def preparing(self) -> bool:
        """Whether the agent to move still loads, or compiles its code."""
        spec = self.seats[int(self.state.seat)]
        return self.thinking and not self._players.ready(spec, self.game)

    def legal(self) -> list[int]:
        """The legal actions of a person who is to act."""
        to_act = not self.over and int(self.state.seat) in self.humans
        return np.flatnonzero(self._mask[0]).tolist() if to_act else []

    def look(self, seat: int) -> None:
        """Confirms that the person to act is at the shared screen."""
        if seat != self.waiting:
            raise RefusedError(f"player {seat} isn't the one to look now")
        self.looking = seat
        self.touch()

    def action(self, text: str) -> int:
        """Returns the action of a person's move; RefusedError if it isn't possible."""
        moves = {self.game.notation.action_to_text(self.state, a).lower(): a for a in self.legal()}
        if not moves:
            raise RefusedError("the game is over" if self.over else "it isn't your turn")
        move = " ".join(text.split()).lower()
        if move not in moves:
            example = next(iter(moves))
            raise RefusedError(f"{shown(text)} isn't legal here; moves are like {example!r}")
        return moves[move]

    def play(self, text: str) -> None:
        """Plays a person's move; RefusedError if it isn't possible."""
        self._play(self.action(text))

    def step(self) -> None:
        """Lets an agent move, in a game without people."""
        if self.humans:
            raise RefusedError("people play here: the agents move by themselves")
        if not self.over and not self.thinking:
            self.ask()

    def take_back(self, ply: int) -> None:
        """Takes back the move after `ply` moves, and all that followed it."""
        del self.record.actions[ply:]
        said = self.record.comments.items()
        self.record.comments = {index: text for index, text in said if index < ply}
        self.history.cut(ply)
        for state in self.record.replay():
            self._states[0] = state
        kernels(self.game).fill_masks.serial(self._states, self._mask)
        self._moved()

    def resign(self, seat: int) -> None:
        """Ends the game: the other sides win."""
        self.resigned = seat
        self._moved()

    def close(self) -> None:
        """Drops what agents still think about."""
        with self.lock:
            self._generation += 1
            if self.thought is not None:
                self.thought.abandon()
            self.touch()

    def touch(self) -> None:
        """Tells all who wait that the table has changed."""
        self.version += 1
        changed, self.changed = self.changed, Future()
        changed.set_result(None)

    def _play(self, action: int) -> None:
        outcome = np.zeros((2, len(self.seats)), np.float32)
        self.history.add(self.state, action)
        kernels(self.game).play_one(self._states, action, self._mask[0], *outcome)
        self.record.actions.append(action)
        self._moved()

    def _moved(self) -> None:
        """Updates who looks, and starts an agent if it is its turn."""
        self._generation += 1
        self.thinking, self.busy, self.error = False, "", ""
        seat = int(self.state.seat)
        if not self.over and seat in self.humans:
            self.looking = self.looking if self.secret else seat
        elif self.humans and not self.over:
            self.ask()
        self.touch()

    def ask(self) -> None:
        """Asks the agent to move. While all are busy it stays `thinking` without a `thought`."""
        spec, state = self.seats[int(self.state.seat)], self.state.copy()
        busy, self.busy, self.error, self.thinking = self.busy, "", "", True
        with self.lock:  # the agent waits for this lock before it moves
            try:
                self.thought = self._players.submit(
                    spec, self.game, self._think, state, self._generation
                )
            except BusyError as error:
                self.thought, self.busy = None, str(error)
        if self.busy != busy:
            self.touch()

    def _think(self, player: Player, state: Record, generation: int) -> None:
        if generation != self._generation:
            return
        error, action, comment = "", -1, ""
        try:
            action, comment = player.act(state, self.record.seed)
        except Exception as raised:  # noqa: BLE001 - custom agents can raise anything
            error = without_paths(str(raised)) or type(raised).__name__
        with self.lock:
            if generation != self._generation:  # the move was taken back meanwhile
                return
            if error:
                self.thinking, self.error = False, error
                self.touch()
            else:
                if comment:  # kept for the record, not for the others at the table
                    self.record.comments[len(self.record.actions)] = comment
                self._play(action)


def safe_options(game: Game, options: Mapping[str, Any]) -> None:
    """Raises ValueError for a non-standard option that may name a file."""
    standard = asdict(game.options())
    for name in game.fixed.values:
        if name in options and options[name] != standard[name]:
            raise ValueError(f"{name}: {shown(options[name])}, but a page plays {standard[name]!r}")
