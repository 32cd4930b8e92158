"""Boards that are solved from the start: groups and winners in perfect play, as in RULES.md."""

import numpy as np
import pytest

from linkzoo import get_game
from linkzoo_training.search.solver import solve
from tests.driving import first_quick

GAME = get_game("linkage")
SOLVED = {"3x3": (3, 1), "4x4": (6, 0), "5x5": (8, 0)}  # groups, and the seat that wins


@pytest.mark.parametrize("name", first_quick(sorted(SOLVED), 2, 0))
def test_the_solution_of_an_edition(name: str) -> None:
    """R10: More is seat 0."""
    state = GAME.blank(2, GAME.editions[name])
    GAME.rules.new_game(state, np.uint64(0))
    solution = solve("linkage", state, 10**8)
    assert (solution.score, solution.winner) == SOLVED[name]


def test_the_editions_are_solved() -> None:
    assert set(GAME.editions) == set(SOLVED)
