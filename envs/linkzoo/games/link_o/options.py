"""The variants of LINK-O."""

from dataclasses import dataclass
from typing import Literal

from linkzoo.core import options
from linkzoo.core.arguments import integer, string
from linkzoo.games.link_o.board import STANDARD_BOARD, full_name

MAX_TARGET = 1000
MAX_BONUS = 100
MAX_ROUNDS = 100

# The record holds a Literal option as the index of its value.
ANY_MATCHING_COLOR, ADJACENT_ONLY = 0, 1
UNTIL_PLAYABLE, ONE = 0, 1
LEFT_OF_PREVIOUS_STARTER, WINNER, RANDOM = 0, 1, 2
NO_SCORE, SPLIT = 0, 1


@dataclass(frozen=True)
class Options(options.Options):
    """Variants of LINK-O.

    Attributes:
        board: A board of the package, or a JSON file of the user's own.
        target: Points that win the match (R20), 0..1000; 0: one round is the whole game.
        circle_bonus: Points for completing a circle (R23), 0..100.
        open_connectors: On first turns, any empty connector of the colour, or only an adjacent one
            (R6).
        dig: A seat that can't place draws until it can, or draws one tile (R7, R16).
        next_starter: Who starts a later round (R3).
        blocked_tie: Nobody scores, or those who tie share (R19).
        max_rounds: The number of rounds after which the highest total wins (R21), 1..100.
        redeal_inference: `determinize` gives no seat a tile that it certainly lacks.

    Raises:
        ValueError: Names a value that isn't allowed.
    """

    board: str = STANDARD_BOARD
    target: int = 64
    circle_bonus: int = 0
    open_connectors: Literal["any_matching_color", "adjacent_only"] = "any_matching_color"
    dig: Literal["until_playable", "one"] = "until_playable"
    next_starter: Literal["left_of_previous_starter", "winner", "random"] = (
        "left_of_previous_starter"
    )
    blocked_tie: Literal["no_score", "split"] = "no_score"
    max_rounds: int = MAX_ROUNDS
    redeal_inference: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "board", full_name(string("board", self.board)))
        integer("target", self.target, 0, MAX_TARGET)
        integer("circle_bonus", self.circle_bonus, 0, MAX_BONUS)
        integer("max_rounds", self.max_rounds, 1, MAX_ROUNDS)
