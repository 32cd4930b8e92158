"""A game that is played through text alone."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from linkzoo.core.agent import Positions, decision_seeds
from linkzoo.core.arguments import integer
from linkzoo.core.game import Game
from linkzoo.core.history import History
from linkzoo.core.kernels import kernels
from linkzoo.core.state import OVER, Record
from linkzoo.record import GameRecord
from linkzoo.registry import get_game
from linkzoo.text.prompts import STANDARD, PromptSettings, ask, describe, rules_text
from linkzoo.text.turn import TextTurn


class TextGame:
    """One game: prompts for the seats, moves from free-text answers.

        game = TextGame("linkage", seed=1, board_size=3)
        while not game.over:
            answer = model(game.rules(), game.prompt())
            game.play(answer)  # a MoveError's message teaches; ask again
        print(game.payoffs)

    Args:
        game: The game's name, `module:name` or `FILE.py:name`.
        num_players: The number of players; None for the game's smallest.
        seed: The seed of the game, 0..2**64-1: of its chance, and of the agents' draws.
        start: A position to begin with (`Game.to_dict`); None for the set-up.
        prompts: The contents of prompts; None for the standard ones.
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
        prompts: PromptSettings | None = None,
        **options: Any,
    ) -> None:
        self.game = get_game(game, options)
        self._seed = np.uint64(integer("seed", seed, 0, 2**64 - 1))
        self._states = np.zeros(1, self.game.state)
        self._mask = np.empty((1, self.game.num_actions), np.int8)
        kernel = kernels(self.game)
        origin = None
        if start is None:
            self._states[0] = self.game.blank(num_players, options)
            kernel.begin(self._states, np.array([self._seed], np.uint64), self._mask)
        else:
            origin = dict(start)
            self._states[0] = self.game.from_dict(start)
            kernel.fill_masks.serial(self._states, self._mask)
        self.state = self._states[0]
        self.record = GameRecord.of(self.game, self.state, origin)
        players = int(self.state.num_players)
        self._payoff = np.zeros(players, np.float32)
        self._margin = np.zeros(players, np.float32)
        self._past = History(self.game, self.state, self.record.actions)
        self._prompts = prompts or STANDARD
        self._turn: TextTurn | None = None

    @property
    def seat(self) -> int | None:
        """The seat to act; None when the game is over."""
        if self.over:
            return None
        return int(self.state.seat)

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return bool(self.state.seat == OVER)

    @property
    def payoffs(self) -> list[float]:
        """The payoff of each seat, -1 to 1; zeros before the end."""
        payoffs: list[float] = self._payoff.tolist()
        return payoffs

    @property
    def score_margins(self) -> list[float]:
        """The score margin of each seat (`reward="score"`); zeros before the end."""
        margins: list[float] = self._margin.tolist()
        return margins

    @property
    def positions(self) -> Positions:
        """The position as an argument of agents: `agent.act(game.positions)[0]` is an action."""
        seeds = decision_seeds(np.array([self._seed]), self._states)
        return Positions(self.game, self._states.copy(), seeds, lambda _: self._past)

    def rules(self, *, full: bool = False) -> str:
        """Returns the rules in words: in short, or `full` with numbers and the notation.

        Where prompts don't list the legal moves, the rules in short have the notation, too.
        """
        options = self.game.chosen_options(self.state)
        notation = self._prompts.moves != "listed"
        return rules_text(self.game, options, full=full, notation=notation)

    def prompt(self) -> str:
        """Returns the prompt for the seat to act: its view, its history, its legal moves.

        Raises:
            ValueError: The game is over.
        """
        self._check_running()
        return ask(self.game, self.state, self.lines(int(self.state.seat)), self._prompts)

    def view(self, seat: int) -> str:
        """Returns a seat's role and its view of the position, with the outcome at the end."""
        seat = integer("seat", seat, 0, int(self.state.num_players) - 1)
        return describe(self.game, self.state, seat)

    def events(self, seat: int) -> list[str]:
        """Returns the moves so far, as far as a seat may know them, a sentence each."""
        seat = integer("seat", seat, 0, int(self.state.num_players) - 1)
        return [event.words for event in self._past.events(seat) if event.words]

    def lines(self, seat: int) -> list[str]:
        """Returns the moves so far in notation, as far as a seat may know them, a line each."""
        return self._past.lines(seat)

    def play(self, answer: str | int) -> int:
        """Plays the move of an answer, or an action by its number.

        Args:
            answer: A free text (`read_move`), or an action of the game.

        Returns:
            The action.

        Raises:
            MoveError: The text is no legal move, or asks for the legal moves; nothing is played.
            ValueError: The game is over, or the action isn't legal.
        """
        self._check_running()
        if isinstance(answer, str):
            if self._turn is None:
                self._turn = TextTurn(self.game, self.state, settings=self._prompts)
            action = self._turn.read(answer)
        else:
            action = integer("action", answer, 0, self.game.num_actions - 1)
            if not self._mask[0, action]:
                raise ValueError(f"the action {action} is not legal here")
        kernels(self.game).play_one(self._states, action, self._mask[0])
        if self.seat is None:
            outcome = self._payoff[None], self._margin[None]
            kernels(self.game).outcome.serial(self._states, *outcome)
        self.record.actions.append(action)
        self._turn = None
        return action

    def _check_running(self) -> None:
        """Raises ValueError if the game is over."""
        if self.over:
            raise ValueError("the game is over: no seat is to act")
