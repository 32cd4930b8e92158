"""Games through text alone, for language models: `TextGame`, and functions over a position."""

from linkzoo.text.answers import MoveError, read_move
from linkzoo.text.game import TextGame
from linkzoo.text.moves import list_moves
from linkzoo.text.prompts import ask, describe, rules_text

__all__ = ["MoveError", "TextGame", "ask", "describe", "list_moves", "read_move", "rules_text"]
