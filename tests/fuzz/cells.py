"""What is fuzzed: every subject, by itself or with each game."""

from collections.abc import Sequence

from linkzoo.registry import NAMES
from tests.fuzz.runner import Cell

# Module, and whether it is tried with each game by itself.
SUBJECTS = {
    "api": True,
    "calls": True,
    "raw": True,
    "dicts": True,
    "records": True,
    "notation": True,
    "checkpoints": True,
    "configurations": False,
    "commands": False,
    "files": False,
}
EVERY = "every"  # stands for the game of a subject that chooses among games itself


def cells(subjects: Sequence[str] | None = None, games: Sequence[str] | None = None) -> list[Cell]:
    """Tries wrong and damaged input, and prints what was tried and what was found."""
    every = [*NAMES, EVERY]
    return [
        Cell(subject, game)
        for game in [*every, *(game for game in games or () if game not in every)]
        for subject in (SUBJECTS if subjects is None else subjects)
        if (games is None or game in games)
        and (subject not in SUBJECTS or (game in NAMES) == SUBJECTS[subject])
    ]
