"""A game that is played through text alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.core.agent import Positions, decision_seeds
from linkzoo.core.arguments import integer
from linkzoo.core.game import Game
from linkzoo.core.kernels import kernels
from linkzoo.core.state import OVER, Record
from linkzoo.record import GameRecord
from linkzoo.registry import get_game
from linkzoo.text.answers import read_move
from linkzoo.text.prompts import ask, describe, rules_text


class TextGame:
    """One game: prompts for the seats, moves from free-text answers.

        game = TextGame("linkage", seed=1, board_size=3)
        while not game.over:
            answer = model(game.rules(), game.prompt())
            game.play(answer)  # a MoveError's message teaches; ask again
        print(game.payoffs)

    Args:
        game: The game's name, or `module:name`.
        num_players: The number of players; None for the game's smallest.
        seed: The seed of the game, 0..2**64-1: of its chance, and of what agents draw.
        start: A position to begin with (`Game.to_dict`); None for the set-up.
        options: Options of the game.

    Attributes:
        game: The game.
        state: The position, a record; read it only.
        record: The game so far, as `GameRecord`; `record.save(path)`.

    Raises:
        ValueError: There is no such game, number of players, option or position.
    """

    game: Game
    state: Record
    record: GameRecord

    def __init__(
        self,
        game: str,
        num_players: int | None = None,
        *,
        seed: int = 0,
        start: Mapping[str, Any] | None = None,
        **options: Any,
    ) -> None:
        self.game = get_game(game, options)
        self._seed = np.uint64(integer("seed", seed, 0, 2**64 - 1))
        self._states = np.zeros(1, self.game.state)
        self._mask = np.empty((1, self.game.num_actions), np.int8)
        kernel = kernels(self.game)
        if start is None:
            self._states[0] = self.game.blank(num_players, options)
            kernel.begin(self._states, np.array([self._seed], np.uint64), self._mask)
        else:
            self._states[0] = self.game.from_dict(start)
            kernel.fill_masks.serial(self._states, self._mask)
        self.state = self._states[0]
        self.record = GameRecord.of(self.game, self.state, None if start is None else dict(start))
        self._outcome = np.zeros((2, int(self.state.num_players)), np.float32)
        self._before: list[Record] = []  # the position before each move
        self._told: list[list[str]] = [[] for _ in self.payoffs]  # events by seat and move

    @property
    def seat(self) -> int | None:
        """The seat to act; None when the game is over."""
        return None if self.over else int(self.state.seat)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.seat == OVER)

    @property
    def payoffs(self) -> list[float]:
        """The payoff of each seat, -1 to 1; zeros before the end."""
        payoffs: list[float] = self._outcome[0].tolist()
        return payoffs

    @property
    def score_margins(self) -> list[float]:
        """The score margin of each seat (`reward="score"`); zeros before the end."""
        margins: list[float] = self._outcome[1].tolist()
        return margins

    @property
    def positions(self) -> Positions:
        """The position as an agent takes it: `agent.act(game.positions)[0]` is its action."""
        seeds = decision_seeds(np.array([self._seed]), self._states)
        return Positions(self.game, self._states.copy(), seeds)

    def rules(self, *, full: bool = False) -> str:
        """Returns the rules in words: in short, or `full` with numbers and the notation."""
        return rules_text(self.game, self.game.chosen_options(self.state), full=full)

    def prompt(self) -> str:
        """Returns what the seat to act is told: its view, what happened, its legal moves.

        Raises:
            ValueError: The game is over.
        """
        return ask(self.game, self.state, [] if self.over else self.events(int(self.state.seat)))

    def view(self, seat: int) -> str:
        """Returns who a seat is and what it sees, at any time; at the end, the outcome."""
        seat = integer("seat", seat, 0, int(self.state.num_players) - 1)
        return describe(self.game, self.state, seat)

    def events(self, seat: int) -> list[str]:
        """Returns what a seat may know of the moves so far, a sentence each."""
        seat = integer("seat", seat, 0, int(self.state.num_players) - 1)
        told = self._told[seat]
        for index in range(len(told), len(self._before)):
            state, action = self._before[index], self.record.actions[index]
            told.append(self.game.guide.event(state, action, seat))
        return [event for event in told if event]

    def play(self, answer: str | int) -> int:
        """Plays the move of an answer, or an action by its number.

        Args:
            answer: A free text (`read_move`), or an action of the game.

        Returns:
            The action.

        Raises:
            MoveError: The text is no legal move; nothing is played.
            ValueError: The game is over, or the action isn't legal.
        """
        if self.over:
            raise ValueError("the game is over: no seat is to act")
        if isinstance(answer, str):
            action = read_move(self.game, self.state, answer)
        else:
            action = integer("action", answer, 0, self.game.num_actions - 1)
            if not self._mask[0, action]:
                raise ValueError(f"the action {action} is not legal here")
        self._before.append(self._states.copy()[0])
        kernels(self.game).play_one(self._states, action, self._mask[0], *self._outcome)
        self.record.actions.append(action)
        return action
