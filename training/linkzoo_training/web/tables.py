"""Games in progress: record, position, players and viewer."""

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from dataclasses import asdict
from typing import Any, cast

import numpy as np

from linkzoo import Game, GameRecord, get_game
from linkzoo.core.arguments import shown
from linkzoo.core.kernels import kernels
from linkzoo.core.state import Record
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.web.players import HUMAN, BusyError, Player, Players, read_agent


class RefusedError(Exception):
    """An action that the person may not take now."""


class Table:
    """A game in progress.

    With one person at the screen, the view is that person's. With several people and hidden
    information, nobody sees the game until the next player confirms they are at the screen. Without
    people, the view is the referee's and agents move on request.

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
        custom: Sequence[str],
    ) -> None:
        safe_options(get_game(name), options)
        game = get_game(name, options)
        self.lock = threading.RLock()
        self._states = np.array([game.blank(len(seats), options)], game.state)
        self._mask = np.zeros((1, game.num_actions), np.int8)
        self.game, self._players = game, players
        self.seats = [
            AgentSpec(HUMAN) if who == HUMAN else read_agent(who, name, custom) for who in seats
        ]
        kernels(game).begin(self._states, np.array([seed], np.uint64), self._mask)
        self.record = GameRecord.of(game, self._states[0])
        self.log: list[tuple[int, str]] = []  # seat and text of each action
        self.humans = [seat for seat, who in enumerate(seats) if who == HUMAN]
        self.looking = self.humans[0] if len(self.humans) == 1 else None
        self.error, self._generation, self.thinking = "", 0, False
        self.thought: Future[None] | None = None  # pending while an agent is `thinking`
        self.shown: tuple[Any, bytes] | None = None  # latest view with its `key`
        self._turn()

    @property
    def state(self) -> Record:
        """The current position."""
        return cast(Record, self._states[0])

    @property
    def key(self) -> tuple[Any, ...]:
        """Cache key of a view."""
        return self._generation, self.looking, self.thinking, self.error

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.seat < 0)

    @property
    def secret(self) -> bool:
        """Whether information is hidden from a person at the screen."""
        hides = self.game.observation.privileged_spec is not None
        return hides and not self.over and bool(self.humans)

    @property
    def waiting(self) -> int | None:
        """The seat that must confirm they are at the screen before the game continues."""
        seat = int(self.state.seat)
        return seat if self.secret and seat in self.humans and seat != self.looking else None

    def legal(self) -> list[int]:
        """The legal actions, if the viewer is to act."""
        to_act = self.waiting is None and int(self.state.seat) in self.humans
        return np.flatnonzero(self._mask[0]).tolist() if to_act else []

    def look(self, seat: int) -> None:
        """Confirms that the person to act is at the screen."""
        if seat != self.waiting:
            raise RefusedError(f"player {seat} isn't the one to look now")
        self.looking = seat

    def play(self, text: str) -> None:
        """Plays the viewer's move; RefusedError if it isn't possible."""
        if self.waiting is not None:
            raise RefusedError(f"player {self.waiting} is to look first")
        moves = {self.game.notation.action_to_text(self.state, a).lower(): a for a in self.legal()}
        if not moves:
            raise RefusedError("the game is over" if self.over else "it isn't your turn")
        move = " ".join(text.split()).lower()
        if move not in moves:
            example = next(iter(moves))
            raise RefusedError(f"{shown(text)} isn't legal here; moves are like {example!r}")
        self._play(moves[move])
        self._turn()

    def step(self) -> None:
        """Lets an agent move, in a game without people."""
        if self.humans:
            raise RefusedError("people play here: the agents move by themselves")
        if not self.over and not self.thinking:
            self._ask()

    def take_back(self) -> None:
        """Takes back the viewer's last move and all moves after it."""
        last = self.last_own()
        if last is None:
            raise RefusedError("there is no move of yours to take back")
        if self.waiting is not None:
            raise RefusedError(f"player {self.waiting} is to look first")
        del self.record.actions[last:], self.log[last:]
        for state in self.record.replay():
            self._states[0] = state
        kernels(self.game).fill_masks.serial(self._states, self._mask)
        self._generation += 1
        self.thinking, self.error = False, ""
        self._turn()

    def last_own(self) -> int | None:
        """The index of the viewer's last action (any person's, if nothing is hidden)."""
        own = [self.looking] if self.game.observation.privileged_spec is not None else self.humans
        found = (index for index, (seat, _) in reversed([*enumerate(self.log)]) if seat in own)
        return next(found, None)

    def _play(self, action: int) -> None:
        outcome = np.zeros((2, len(self.seats)), np.float32)
        text = self.game.notation.action_to_text(self.state, action)
        self.log.append((int(self.state.seat), text))
        kernels(self.game).play_one(self._states, action, self._mask[0], *outcome)
        self.record.actions.append(action)
        self._generation += 1

    def _turn(self) -> None:
        """Updates the viewer, and starts an agent if it is its turn."""
        seat = int(self.state.seat)
        if seat in self.humans:
            self.looking = self.looking if self.secret else seat
        elif self.humans and not self.over:
            self._ask()

    def _ask(self) -> None:
        spec, state = self.seats[int(self.state.seat)], self.state.copy()
        self.error, generation = "", self._generation
        with self.lock:  # the agent waits for this lock before it moves
            try:
                self.thought = self._players.submit(spec, self.game, self._think, state, generation)
                self.thinking = True
            except BusyError as error:
                self.error = str(error)

    def _think(self, player: Player, state: Record, generation: int) -> None:
        if generation != self._generation:
            return
        error, action = "", -1
        try:
            action = player.act(state, self.record.seed)
        except Exception as raised:  # noqa: BLE001 - custom agents can raise anything
            error = " ".join(str(raised).split()) or type(raised).__name__
        with self.lock:
            if generation != self._generation:  # the move was taken back meanwhile
                return
            self.thinking, self.error = False, error
            if not error:
                self._play(action)
                if self.humans:
                    self._turn()


def safe_options(game: Game, options: Mapping[str, Any]) -> None:
    """Raises ValueError for a non-standard option that may name a file."""
    standard = asdict(game.options())
    for name in game.fixed.values:
        if name in options and options[name] != standard[name]:
            raise ValueError(f"{name}: {shown(options[name])}, but a page plays {standard[name]!r}")
