"""The variants of LINK-O."""

from dataclasses import dataclass, make_dataclass
from functools import cache
from typing import Literal

from linkzoo.core import options
from linkzoo.core.arguments import integer, string
from linkzoo.games.link_o.board import BOARDS, STANDARD_BOARD, Board

MAX_TARGET = 1000
MAX_BONUS = 100
MAX_ROUNDS = 100

# The record holds a Literal option as the index of its value. Of open_connectors:
ANY_MATCHING_COLOR = 0
ADJACENT_ONLY = 1
# Of dig:
UNTIL_PLAYABLE = 0
ONE = 1
# Of next_starter:
LEFT_OF_PREVIOUS_STARTER = 0
WINNER = 1
RANDOM = 2
FIRST_SEAT = 3
# Of blocked_tie:
NO_SCORE = 0
SPLIT = 1

EDITIONS = {
    name: {"board": name}
    for name in ("mini2x4a-h2", "mini2x4a-h3", "mini2x4b-h3", "mini2x4b-l2-h3")
}


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of LINK-O; the section Options of RULES.md explains them.

    Raises:
        ValueError: Names a value that isn't allowed.
    """

    board: str = STANDARD_BOARD
    target: int = 64
    circle_bonus: int = 0
    open_connectors: Literal["any_matching_color", "adjacent_only"] = "any_matching_color"
    dig: Literal["until_playable", "one"] = "until_playable"
    next_starter: Literal["left_of_previous_starter", "winner", "random", "first_seat"] = (
        "left_of_previous_starter"
    )
    blocked_tie: Literal["no_score", "split"] = "no_score"
    max_rounds: int = MAX_ROUNDS
    redeal_inference: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "board", BOARDS.full_name(string("board", self.board)))
        integer("target", self.target, 0, MAX_TARGET)
        integer("circle_bonus", self.circle_bonus, 0, MAX_BONUS)
        integer("max_rounds", self.max_rounds, 1, MAX_ROUNDS)


@cache
def options_on(board_name: str, board: Board) -> type[Options]:
    """Returns the options with the defaults of a board.

    Raises:
        ValueError: The board gives an option a default that isn't allowed.
    """
    if not board.defaults:
        return Options
    defaults = {**dict(board.defaults), "board": board_name}
    types = options.option_types(Options)
    fields = []
    for name, value in defaults.items():
        if name not in types:
            raise ValueError(f"options: {name!r} is not one of {list(types)}")
        fields.append((name, types[name], value))
    kind = make_dataclass("Options", fields, bases=(Options,), frozen=True)
    try:
        kind()
    except ValueError as error:
        raise ValueError(f"options: {error}") from error
    return kind
