"""Moves as text, such as `a1` for the upper left cell, and a position as text."""

from hex_6x6.rules import CELLS, OVER, SIZE
from linkzoo import Record

LETTERS = "abcdef"  # columns
STONES = "XO."  # seat 0's, seat 1's, and none (-1)


def action_to_text(state: Record, action: int) -> str:
    """Returns the cell's column and row; ValueError if there is no such cell."""
    if not 0 <= action < CELLS:
        raise ValueError(f"action: {action} is not in 0..{CELLS - 1}")
    return f"{LETTERS[action % SIZE]}{action // SIZE + 1}"


def text_to_action(state: Record, text: str) -> int:
    """Returns the cell of a text; ValueError if it is none."""
    cells = [action_to_text(state, action) for action in range(CELLS)]
    if text not in cells:
        raise ValueError(f"no move {text!r}; moves are {cells[0]} to {cells[-1]}")
    return cells.index(text)


def draw(state: Record, seat: int | None = None) -> str:
    """Returns the board, each row half a cell further right, and whose turn it is."""
    rows = []
    for number, row in enumerate(state.board):
        rows.append(" " * number + f"{number + 1} " + " ".join(STONES[owner] for owner in row))
    if state.seat == OVER:
        result = f"Player {state.winners - 1} ({STONES[state.winners - 1]}) wins"
    else:
        result = f"Player {state.seat} ({STONES[state.seat]}) to move"
    return "\n".join(["  " + " ".join(LETTERS), *rows, "", result]) + "\n"
