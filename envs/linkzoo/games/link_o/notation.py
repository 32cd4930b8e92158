"""Moves of LINK-O as text, both ways (section "Notation" of RULES.md)."""

from linkzoo.core.arguments import integer, shown, string
from linkzoo.core.state import Record
from linkzoo.games.link_o.board import Board
from linkzoo.games.link_o.components import ENDS, KIND, LINKO, WILD

_CODES = [*(f"{left}-{right}" for left, right in ENDS), "LINK-O"]
_KINDS = [*_CODES[:LINKO], _CODES[WILD]]


def tile_texts(board: Board) -> list[str]:
    """Returns the text of each type of tile."""
    return [f"{colour} {kind}" for colour in board.colours for kind in _KINDS]


def laid_texts(board: Board) -> list[list[str]]:
    """Returns the texts of a tile on each space, by space and code."""
    colours = [board.colours[space.circle] for space in board.spaces]
    return [[f"{colour} {code}" for code in _CODES] for colour in colours]


class MoveTexts:
    """The moves on a board as text, both ways."""

    def __init__(self, board: Board) -> None:
        self._moves = [
            f"@{space} {text}" for space, texts in enumerate(laid_texts(board)) for text in texts
        ]
        self._actions = {text: action for action, text in enumerate(self._moves)}

    def action_to_text(self, state: Record, action: int) -> str:
        """Returns `@5 red 1-3`: on space 5, left end 1, right end 3."""
        return self._moves[integer("action", action, 0, len(self._moves) - 1)]

    def action_parts(self, state: Record, action: int) -> tuple[str, ...]:
        """Returns the tile in the hand, the space, and how the tile lies there, left end first."""
        space, colour, ends = self.action_to_text(state, action).split(" ")
        kind = _KINDS[KIND[_CODES.index(ends)]]
        return f"{colour} {kind}", space, ends

    def text_to_action(self, state: Record, text: str) -> int:
        """Returns the action of a move's text; ValueError if the board has no such move."""
        if string("move", text) not in self._actions:
            raise ValueError(
                f"no move {shown(text)}; moves are like {self._moves[1]!r} and "
                f"{self._moves[WILD]!r}: a space, its colour, and a tile, left end first"
            )
        return self._actions[text]
