"""Wrong values that the JSON position of every game has to refuse, and that it does."""

import copy
import re
from typing import Any

import pytest

from linkzoo import Game

# (field, wrong value, what the error names): for the middle of a game of three players.
FIELDS: list[tuple[str, Any, str]] = [
    ("game", "linkage", "game"),
    ("game", None, "game"),
    ("version", 2, "version"),
    ("version", "1", "version"),
    ("options", None, "options"),
    ("options", [], "options"),
    ("seed", -1, "seed"),
    ("seed", 2**64, "seed"),
    ("seed", "5", "seed"),
    ("seed", 1.5, "seed"),
    ("num_players", 1, "num_players"),
    ("num_players", "3", "num_players"),
    ("num_players", None, "num_players"),
    ("seat", 3, "seat"),
    ("seat", -1, "seat"),
    ("seat", "1", "seat"),
    ("seat", True, "seat"),
    ("ply", -1, "ply"),
    ("ply", 2.0, "ply"),
    ("ply", None, "ply"),
    ("ply", 10**9, "ply"),
]

# In games that keep scores.
SCORES: list[tuple[str, Any, str]] = [
    ("scores", None, "scores"),
    ("scores", [12, 0], "scores"),
    ("scores", [12, 0, 35, 0], "scores"),
    ("scores", [12, -1, 35], "scores"),
    ("scores", [12, "0", 35], "scores"),
    ("scores", [12, 1.5, 35], "scores"),
    ("scores", [12, True, 35], "scores"),
    ("scores", [10**6, 0, 0], "scores"),
]


def refuses(game: Game, data: Any, named: str) -> None:
    """The position is refused with one of these words (`a|b`) in the message, and left alone."""
    kept = copy.deepcopy(data)
    with pytest.raises(ValueError, match=rf"(?<![\w-])({named})(?![\w-])"):
        game.from_dict(data)
    assert data == kept


def refuses_text(game: Game, state: Any, text: str) -> None:
    """The text is no move: it is refused with the text in the message, and nothing changes."""
    before = state.tobytes()
    with pytest.raises(ValueError, match=re.escape(repr(text))):
        game.notation.text_to_action(state, text)
    assert state.tobytes() == before
