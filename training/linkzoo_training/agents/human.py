"""An agent that asks a person at the terminal."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.state import Record
from linkzoo.text import MoveError, list_moves, read_move

_HELP = "Type a move, or its number in the list of moves; ? for the list, help, or quit."


class QuitError(Exception):
    """The person at the terminal quits."""


class HumanAgent:
    """A person at the terminal, who sees the view of the seat to act.

    Args:
        read: Called as `read(prompt)`; returns a line, or raises EOFError at the end of input.
        write: Prints a text.
    """

    name = "human"

    def __init__(
        self, read: Callable[[str], str] = input, write: Callable[[str], None] = print
    ) -> None:
        self._read = read
        self.write = write

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Asks for a move in each position, int64[N]; raises QuitError if the person quits."""
        actions = [self._ask(positions.game, state) for state in positions.states]
        return np.array(actions, np.int64)

    def _ask(self, game: Game, state: Record) -> int:
        self.write(game.drawing.text(state, int(state.seat)))
        while True:
            try:
                text = self._read(f"Player {state.seat}, your move: ").strip()
            except EOFError:
                text = "quit"
            if text.lower() in ("quit", "exit", "q"):
                raise QuitError
            if text == "?":
                self.write(list_moves(game, state))
            elif text.lower() in ("help", ""):
                self.write(_HELP)
            else:
                try:
                    return read_move(game, state, text)
                except MoveError as error:
                    self.write(f"{error}. {_HELP}")
