"""Exact solutions: by a game's solver (`Game.solver`, `linkzoo.core.solver`), or by its rules."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from linkzoo import Game, game_names, get_game
from linkzoo.core.agent import checked_states
from linkzoo.core.arguments import integer
from linkzoo.core.solver import ENTRIES, LIMIT, ExactSolver, Memory, SideSolver, Solver
from linkzoo.core.state import Mask, Record
from linkzoo.engine.compiled import compiled
from linkzoo_training.arrays import Int8s
from linkzoo_training.search import proof

__all__ = ["solve"]


@dataclass(frozen=True)
class Solution:
    """The outcome of a position under perfect play of both seats.

    `winner` is a seat or DRAW; `winning` are the winning actions of the seat to act, in order;
    `score` is the final score by the solver's definition.
    """

    winner: int
    winning: tuple[int, ...]
    score: int | None


def new_solver(game: Game) -> Solver:
    """Returns a solver of a game, for one thread; ValueError if the game has none."""
    return _declared(game).make(ENTRIES)


class _Solvers(threading.local):
    """The solvers of a thread."""

    def __init__(self) -> None:
        self.by_game: dict[Game, Solver] = {}


_solvers = _Solvers()


def solver(game: Game) -> Solver:
    """Returns this thread's solver of a game, which keeps its table; raises as `new_solver`."""
    solvers = _solvers.by_game
    if game not in solvers:
        solvers[game] = new_solver(game)
    return solvers[game]


def check_solver(game: str) -> None:
    """Raises ValueError if the game of that name has no solver."""
    _declared(get_game(game))


def _declared(game: Game) -> ExactSolver:
    if game.solver is None:
        solved = [name for name in game_names() if get_game(name).solver is not None]
        raise ValueError(f"there is no solver for {game.name}; there are solvers for {solved}")
    return game.solver


@cache
def side_solver(game: Game) -> SideSolver:
    """Returns a game's own side solver, else proof-number search, else one that solves nothing."""
    if game.solver is not None:
        return game.solver.side_by_side
    if proof.applies(game):
        return by_proof(game)
    return SideSolver(_no_memory, _no_solve, _no_finish)


def by_proof(game: Game) -> SideSolver:
    """Returns a proof-number search of a game, whether it has a solver of its own or not."""
    prove = proof.make_prove(game)
    return SideSolver(proof.make_memory(game), proof.make_solve(prove), proof.make_finish(prove))


def check_side_solver(game: str) -> None:
    """Raises ValueError if positions of the game of that name can't be solved side by side."""
    if side_solver(get_game(game)).solve is _no_solve:
        raise ValueError(
            f"there is no solver for {game}: it needs two seats, no secrets, no chance, and no "
            "payoffs or scores beyond won, drawn and lost, or a solver of its own"
        )


def _no_memory(count: int, limit: int) -> Memory:  # noqa: ARG001 - MakeMemory
    return ()


@compiled
def _no_solve(state: Record, memory: Memory, row: int, limit: int, mask: Mask) -> bool:  # noqa: ARG001 - Solve
    return False


@compiled
def _no_finish(state: Record, memory: Memory, row: int, limit: int) -> bool:  # noqa: ARG001 - Finish
    return False


def solve(
    game: str, state: Record, limit: int = LIMIT, options: Mapping[str, Any] | None = None
) -> Solution:
    """Returns the exact solution of a position (a record of the game with these options).

    Raises:
        ValueError: The game has no solver, or the position is none of the game.
        OutOfReachError: A search would visit more than about `limit` positions.
    """
    rules = get_game(game, options)
    exact = new_solver(rules)
    limit = integer("limit", limit, 0, 2**63 - 1)
    checked_states(rules, np.asarray(state)[None])
    winning = np.flatnonzero(winning_actions(rules, exact, state, limit) == 1)
    return Solution(exact.winner(state, limit), tuple(winning.tolist()), exact.score(state, limit))


def winning_actions(game: Game, exact: Solver, state: Record, limit: int = LIMIT) -> Int8s:
    """Returns int8 [num_actions]: 1 for winning, 0 for other legal, -1 for illegal actions."""
    wins = np.full(game.num_actions, -1, np.int8)
    if state.seat < 0:
        return wins
    after = successors(game, state)
    wins[list(after)] = 0
    if exact.winner(state, limit) == state.seat:
        for action, successor in after.items():
            wins[action] = exact.winner(successor, limit) == state.seat
    return wins


def successors(game: Game, state: Record) -> dict[int, Record]:
    """Returns the position after each legal action."""
    mask = np.zeros(game.num_actions, np.int8)
    game.rules.legal_actions(state, mask)
    positions = {}
    for action in np.flatnonzero(mask).tolist():
        positions[action] = state.copy()
        game.rules.apply(positions[action], action)
    return positions
