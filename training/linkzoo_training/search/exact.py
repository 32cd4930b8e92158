"""Exact solutions, for games that have a solver: a module `exact_<game>` with a class `Solver`."""

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, games, get_game
from linkzoo.compiled import Record

LIMIT = 2**24  # positions in a search: about a minute
ENTRIES = 2**22  # positions that a solver remembers


class OutOfReachError(ValueError):
    """A position takes longer to solve than was allowed."""


class Solver(Protocol):
    """Solves positions of one game of two seats, with any options; remembers what it has found.

    `winner`, `score` and `end` raise OutOfReachError when they have searched more than about
    `limit` positions.
    """

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """The seat that wins if both play perfectly."""
        ...

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """What the players play for, at the end, if both play perfectly for it.

        None where it isn't settled yet who plays for what.
        """
        ...

    def end(self, state: Record, limit: int = LIMIT) -> Record | None:
        """A record of an end that pays what perfect play for the score would; None as `score`."""
        ...

    def forget(self) -> None:
        """Empties the memory."""
        ...


@dataclass(frozen=True)
class Solution:
    """How a position ends if both seats play perfectly.

    `winner` is a seat; `winning` are the actions that win for the seat to act, in their order;
    `score` is the solver's: what the players play for, at the end.
    """

    winner: int
    winning: tuple[int, ...]
    score: int | None


@cache
def solver(game: Game) -> Solver:
    """The solver of a game, one for the whole program; ValueError if the game has none."""
    return make_solver(game, ENTRIES)


def make_solver(game: Game, entries: int) -> Solver:
    """A solver of a game that remembers up to `entries` positions; ValueError as `solver`."""
    home = __name__ + "_"
    if find_spec(home + game.name) is None:
        solved = [name for name in games if find_spec(home + name)]
        raise ValueError(f"there is no solver for {game.name}; there are solvers for {solved}")
    made: Solver = import_module(home + game.name).Solver(entries)
    return made


def solve(game: str, state: Record, limit: int = LIMIT) -> Solution:
    """The exact solution of a position (a record of the game).

    ValueError if the game has no solver; OutOfReachError, a ValueError too, if one of the searches
    would take more than about `limit` positions.
    """
    rules = get_game(game)
    exact = solver(rules)
    winning = np.flatnonzero(label(rules, exact, state, limit) == 1)
    return Solution(exact.winner(state, limit), tuple(winning.tolist()), exact.score(state, limit))


def label(game: Game, exact: Solver, state: Record, limit: int = LIMIT) -> NDArray[np.int8]:
    """int8[num_actions]: 1 for actions that win, 0 for those that lose, -1 for illegal ones."""
    labels = np.full(game.num_actions, -1, np.int8)
    if state.seat < 0:
        return labels
    after = successors(game, state)
    labels[list(after)] = 0
    if exact.winner(state, limit) == state.seat:
        for action, one in after.items():
            labels[action] = exact.winner(one, limit) == state.seat
    return labels


def successors(game: Game, state: Record) -> dict[int, Record]:
    """The position after each legal action."""
    mask = np.zeros(game.num_actions, np.int8)
    game.legal_actions(state, mask)
    found = {}
    for action in np.flatnonzero(mask).tolist():
        found[action] = state.copy()
        game.apply(found[action], action)
    return found
