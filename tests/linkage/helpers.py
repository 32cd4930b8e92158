"""Short ways to drive the game, and the option combinations that the tests run over."""

from functools import partial

import numpy as np

from linkzoo.registry import get_game
from tests import driving
from tests.linkage.oracle import ACTIONS, Setup, placement_cells
from tests.linkage.oracle import Place as PlaceMove

GAME = get_game("linkage")

legal_mask = partial(driving.legal_mask, game=GAME)
legal_list = partial(driving.legal_list, game=GAME)
clone = partial(driving.clone, game=GAME)
payoffs = partial(driving.payoffs, game=GAME)
margins = partial(driving.margins, game=GAME)
observe = partial(driving.observe, game=GAME)
piece = partial(driving.piece, game=GAME)
play = partial(driving.play, game=GAME)
play_random = partial(driving.play_random, game=GAME)

STANDARD = Setup()
SETUPS: tuple[Setup, ...] = (
    STANDARD,
    Setup(free_hole=True),
    Setup(threshold=8),
    Setup(threshold=30),
    Setup(board_size=3, threshold=3),
    Setup(board_size=4, threshold=6),
    Setup(board_size=5, threshold=8),
    Setup(board_size=6, threshold=10),
    Setup(free_hole=True, board_size=3, threshold=3),
    Setup(free_hole=True, board_size=4, threshold=6),
    Setup(free_hole=True, board_size=5, threshold=8),
    Setup(free_hole=True, board_size=6, threshold=10),
)

W, B, R, Y = range(4)


def start(setup: Setup = STANDARD, seed: int = 0) -> np.record:
    """A new game."""
    state = GAME.blank(options=setup.kwargs())
    GAME.rules.new_game(state, np.uint64(seed))
    return state


def place(colour: int, first: tuple[int, int], second: tuple[int, int]) -> int:
    """The action number of a placement, from section 5's table."""
    return ACTIONS[PlaceMove(colour, (first, second))]


def play_text(state: np.record, moves: str) -> np.record:
    """Plays moves written as `W a1-b1, B c1-d1`."""
    for text in moves.split(", "):
        play(state, [GAME.notation.text_to_action(state, text)])
    return state


def fitting_pairs(state: np.record) -> int:
    """Placements that fit when the counter is ignored, from the observation's empty cells."""
    empty = piece(state, "empty")
    cells = [placement_cells(index) for index in range(84)]
    return sum(int(empty[first] and empty[second]) for first, second in cells)
