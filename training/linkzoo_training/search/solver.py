"""Exact solutions, of games that declare a solver (`Game.solver`, `linkzoo.core.solver`)."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from linkzoo import Game, game_names, get_game
from linkzoo.engine.compiled import Record, compiled
from linkzoo.core.solver import ENTRIES, LIMIT, Solver


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
    made: Solver = _declared(game).Solver(ENTRIES)
    return made


def check_solver(game: str) -> None:
    """ValueError if the game of that name has no solver."""
    _declared(get_game(game))


def _declared(game: Game) -> ModuleType:
    if game.solver is None:
        solved = [name for name in game_names() if get_game(name).solver is not None]
        raise ValueError(f"there is no solver for {game.name}; there are solvers for {solved}")
    return game.solver


class SideSolver(NamedTuple):
    """What searches that solve many positions side by side take of a solver (`linkzoo.core.solver`)."""

    memory: Callable[[int, int], tuple[NDArray[Any], ...]]
    functions: dict[str, Callable[..., Any]]


_SIDE_FUNCTIONS = ("forget", "finish", "keep_best")


@cache
def side_solver(game: Game) -> SideSolver:
    """The side solver of a game; one that solves nothing if the game has no solver."""
    if game.solver is None:
        return SideSolver(lambda *_: (), dict.fromkeys(_SIDE_FUNCTIONS, _unsolved))
    functions = {name: getattr(game.solver, name) for name in _SIDE_FUNCTIONS}
    return SideSolver(game.solver.memory, functions)


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
