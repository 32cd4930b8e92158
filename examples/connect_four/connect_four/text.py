"""Moves as text, the letter of the column, and a position as text."""

from connect_four.rules import BOTH, COLUMNS, OVER
from linkzoo import Record

LETTERS = "abcdefg"
DISCS = "XO."  # seat 0's, seat 1's, and none (-1)


def action_to_text(state: Record, action: int) -> str:
    """Returns the column's letter; ValueError if there is no such column."""
    if not 0 <= action < COLUMNS:
        raise ValueError(f"action: {action} is not in 0..{COLUMNS - 1}")
    return LETTERS[action]


def text_to_action(state: Record, text: str) -> int:
    """Returns the column of a letter; ValueError if it is none."""
    if text not in list(LETTERS):
        raise ValueError(f"no move {text!r}; moves are {', '.join(LETTERS)}")
    return LETTERS.index(text)


def draw(state: Record, seat: int | None = None) -> str:
    """Returns the grid, the highest row first, and whose turn it is; both seats see the same."""
    rows = [" ".join(DISCS[owner] for owner in row) for row in state.board[::-1]]
    seat, does = (state.seat, "to move") if state.seat != OVER else (state.winners - 1, "wins")
    result = "A draw" if state.winners == BOTH else f"Player {seat} ({DISCS[seat]}) {does}"
    return "\n".join([*rows, " ".join(LETTERS), "", result]) + "\n"
