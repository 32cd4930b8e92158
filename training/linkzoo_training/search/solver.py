"""Exact solutions, for games that have a solver: a module `solver_<game>` with a class `Solver`."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, games, get_game
from linkzoo.compiled import Record, compiled

LIMIT = 2**24  # positions in a search: about a minute
ENTRIES = 2**22  # positions that a solver remembers
DRAW = -1  # in the place of the seat that wins


class OutOfReachError(ValueError):
    """A position takes longer to solve than was allowed."""


class Solver(Protocol):
    """Solves positions of one game of two seats, with any options; remembers what it has found.

    `winner` and `score` raise OutOfReachError when they have searched more than about
    `limit` positions.
    """

    def winner(self, state: Record, limit: int = LIMIT) -> int:
        """The seat that wins if both play perfectly, or DRAW."""
        ...

    def score(self, state: Record, limit: int = LIMIT) -> int | None:
        """What the players play for, at the end, if both play perfectly for it.

        None where it isn't settled yet who plays for what.
        """
        ...

    def forget(self) -> None:
        """Empties the memory."""
        ...


@dataclass(frozen=True)
class Solution:
    """How a position ends if both seats play perfectly.

    `winner` is a seat or DRAW; `winning` are the actions that win for the seat to act, in order;
    `score` is the solver's: what the players play for, at the end.
    """

    winner: int
    winning: tuple[int, ...]
    score: int | None


@cache
def solver(game: Game) -> Solver:
    """The solver of a game, one for the whole program; ValueError if the game has none."""
    check_solver(game.name)
    made: Solver = import_module(f"{__name__}_{game.name}").Solver(ENTRIES)
    return made


def check_solver(game: str) -> None:
    """ValueError if the game of that name has no solver."""
    home, game = __name__ + "_", get_game(game).name
    if find_spec(home + game) is None:
        solved = [name for name in games if find_spec(home + name)]
        raise ValueError(f"there is no solver for {game}; there are solvers for {solved}")


@dataclass(frozen=True)
class SideSolver:
    """A solver's compiled functions, for searches that solve many positions side by side.

    `memory(count, limit)` makes the working memory of `count` rows, which the `functions` take:
    `forget(memory, row)` empties a row's; `finish(state, memory, row, limit)` makes a record end as
    perfect play would; `keep_best(state, memory, row, limit, mask)` leaves the best of the legal
    actions in a mask. The latter two return whether the position was solved.
    """

    memory: Callable[[int, int], tuple[NDArray[Any], ...]]
    functions: dict[str, Callable[..., Any]]


_SIDE_FUNCTIONS = ("forget", "finish", "keep_best")


@cache
def side_solver(game: Game) -> SideSolver:
    """The side solver of a game; one that solves nothing if the game has no solver."""
    home = f"{__name__}_{game.name}"
    if find_spec(home) is None:
        return SideSolver(lambda *_: (), dict.fromkeys(_SIDE_FUNCTIONS, _unsolved))
    module = import_module(home)
    return SideSolver(module.memory, {name: getattr(module, name) for name in _SIDE_FUNCTIONS})


@compiled
def _unsolved(*_: Any) -> bool:
    return False


def solve(game: str, state: Record, limit: int = LIMIT) -> Solution:
    """The exact solution of a position (a record of the game).

    ValueError if the game has no solver; OutOfReachError, a ValueError too, if one of the searches
    would take more than about `limit` positions.
    """
    rules = get_game(game)
    exact = solver(rules)
    winning = np.flatnonzero(winning_actions(rules, exact, state, limit) == 1)
    return Solution(exact.winner(state, limit), tuple(winning.tolist()), exact.score(state, limit))


def winning_actions(
    game: Game, exact: Solver, state: Record, limit: int = LIMIT
) -> NDArray[np.int8]:
    """int8[num_actions]: 1 for actions that win, 0 for those that don't, -1 for illegal ones."""
    wins = np.full(game.num_actions, -1, np.int8)
    if state.seat < 0:
        return wins
    after = successors(game, state)
    wins[list(after)] = 0
    if exact.winner(state, limit) == state.seat:
        for action, one in after.items():
            wins[action] = exact.winner(one, limit) == state.seat
    return wins


def successors(game: Game, state: Record) -> dict[int, Record]:
    """The position after each legal action."""
    mask = np.zeros(game.num_actions, np.int8)
    game.legal_actions(state, mask)
    found = {}
    for action in np.flatnonzero(mask).tolist():
        found[action] = state.copy()
        game.apply(found[action], action)
    return found
