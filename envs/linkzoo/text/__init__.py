"""Games through text alone, for language models: `TextGame`, and its parts over a position."""

from linkzoo.text.answers import MoveError, read_move
from linkzoo.text.env import TextEnv, TextStep
from linkzoo.text.game import TextGame
from linkzoo.text.moves import list_moves
from linkzoo.text.prompts import PromptSettings, ask, describe, rules_text
from linkzoo.text.turn import TextTurn

__all__ = [
    "MoveError",
    "PromptSettings",
    "TextEnv",
    "TextGame",
    "TextStep",
    "TextTurn",
    "ask",
    "describe",
    "list_moves",
    "read_move",
    "rules_text",
]
