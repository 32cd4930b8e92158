"""The variants of LINK-O."""

from dataclasses import dataclass
from typing import Literal

from linkzoo.core import game
from linkzoo.core.arguments import integer, string
from linkzoo.games.link_o.board import load_board

BOARD = "ring4x16"  # the usual one
MAX_TARGET = 1000
MAX_BONUS = 100
MAX_ROUNDS = 100

# What the record holds of the Literal options: their index.
ANY_MATCHING_COLOR, ADJACENT_ONLY = 0, 1
UNTIL_PLAYABLE, ONE = 0, 1
LEFT_OF_PREVIOUS_STARTER, WINNER, RANDOM = 0, 1, 2
NO_SCORE, SPLIT = 0, 1


@dataclass(frozen=True)
class Options(game.Options):
    """Variants of LINK-O; ValueError names a value that isn't allowed.

    - `board`: a board of the package, or a JSON file of the user's own.
    - `target`: points that win the match (R20), 0..1000; 0: one round is the whole game.
    - `circle_bonus`: points for whoever completes a circle (R23), 0..100.
    - `open_connectors`: on first turns, any empty connector of the colour, or only an adjacent one
      (R6).
    - `dig`: whoever can't place draws until he can, or one tile (R7, R16).
    - `next_starter`: of a later round (R3).
    - `blocked_tie`: nobody scores, or those who tie share (R19).
    - `max_rounds`: after so many the highest total wins (R21), 1..100.
    - `redeal_inference`: `redeal` gives nobody a tile that he certainly lacks.
    """

    board: str = BOARD
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
        load_board(string("board", self.board))
        integer("target", self.target, 0, MAX_TARGET)
        integer("circle_bonus", self.circle_bonus, 0, MAX_BONUS)
        integer("max_rounds", self.max_rounds, 1, MAX_ROUNDS)
