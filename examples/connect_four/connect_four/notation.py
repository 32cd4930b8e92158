"""Moves as text: the letter of the column, `a` to `g`."""

from linkzoo.engine.compiled import Record
from linkzoo.core.arguments import integer, shown, string

LETTERS = "abcdefg"


def action_to_text(state: Record, action: int) -> str:
    """The column's letter; ValueError outside 0..6."""
    return LETTERS[integer("action", action, 0, len(LETTERS) - 1)]


def text_to_action(state: Record, text: str) -> int:
    """The column of a letter; ValueError if it is none."""
    if string("move", text) not in list(LETTERS):
        raise ValueError(f"no move {shown(text)}; moves are {', '.join(LETTERS)}")
    return LETTERS.index(text)
