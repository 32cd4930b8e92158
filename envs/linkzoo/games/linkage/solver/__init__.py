"""The exact solver of Linkage: how a position ends when both sides play perfectly."""

from linkzoo.games.linkage.solver.solver import Solver, finish, forget, keep_best, memory

__all__ = ["Solver", "finish", "forget", "keep_best", "memory"]
