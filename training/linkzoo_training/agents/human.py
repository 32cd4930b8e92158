"""An agent that asks a person at the terminal."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, Positions
from linkzoo.core.state import Record

_COLUMNS = 4  # in the list of legal moves
_HELP = "Type a move, its number, ? for the legal moves, help, or quit."


class QuitError(Exception):
    """The person at the terminal quits."""


class HumanAgent:
    """A person at the terminal, who sees the view of the seat to act.

    `read(prompt)` returns a line, or raises EOFError at the end of input.
    """

    name = "human"

    def __init__(
        self, read: Callable[[str], str] = input, write: Callable[[str], None] = print
    ) -> None:
        self._read, self.write = read, write

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Asks for a move in each position, int64[N]; raises QuitError if the person quits."""
        chosen = [
            self._prompt(positions.game, state, np.flatnonzero(mask).tolist())
            for state, mask in zip(positions.states, positions.action_mask, strict=True)
        ]
        return np.array(chosen, np.int64)

    def _prompt(self, game: Game, state: Record, legal: list[int]) -> int:
        self.write(game.drawing.text(state, int(state.seat)))
        moves = {game.notation.action_to_text(state, action): action for action in legal}
        while True:
            try:
                text = " ".join(self._read(f"Player {state.seat}, your move: ").split())
            except EOFError:
                text = "quit"
            if text.lower() in ("quit", "exit", "q"):
                raise QuitError
            if text == "?":
                self.write(_listed(moves))
            elif text.lower() in ("help", ""):
                self.write(f"{_HELP} For example: {next(iter(moves))}")
            else:
                try:
                    return _read_move(game, state, moves, text)
                except ValueError as error:
                    self.write(f"{error}. {_HELP}")


def _read_move(game: Game, state: Record, moves: dict[str, int], text: str) -> int:
    """Returns the action of a typed move, or raises ValueError with a message for the person."""
    for move, action in moves.items():
        if text.lower() == move.lower():
            return action
    if text.isdecimal():
        action = int(text)
        if action in moves.values():
            return action
        if action >= game.num_actions:
            raise ValueError(f"no action {action}; actions are 0..{game.num_actions - 1}")
        text = f"{action} ({game.notation.action_to_text(state, action)})"
    else:
        game.notation.text_to_action(state, text)
    raise ValueError(f"{text} is not legal here")


def _listed(moves: dict[str, int]) -> str:
    items = [f"{action:>5}  {text}" for text, action in moves.items()]
    width = max(map(len, items)) + 2
    rows = -(-len(items) // _COLUMNS)
    lines = ["".join(item.ljust(width) for item in items[row::rows]) for row in range(rows)]
    return "\n".join(line.rstrip() for line in lines)
