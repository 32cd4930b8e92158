"""Equilibria of small games: counterfactual regret minimisation, and backward induction.

CFR+ is by Tammelin, "Solving large imperfect information games using CFR+", 2014: regrets are never
negative, the seats learn in turn, and the average weighs iteration t by t.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from linkzoo.core.arguments import integer
from linkzoo.engine.compiled import compiled
from linkzoo.exact.exploitability import Exploitability, exploitability_of
from linkzoo.exact.tree import GameTree
from linkzoo.exact.values import (
    Evaluator,
    Floats,
    Structure,
    edge_value,
    fill_both_reaches,
    fill_values,
)

MAX_ITERATIONS = 1_000_000
_CHECK_EVERY = 10  # iterations, at first; then a tenth of the iterations so far


@dataclass(frozen=True, eq=False)
class Solution:
    """A policy near an equilibrium.

    Attributes:
        policy: The average policy, float64[K].
        iterations: The iterations done; 0 for backward induction, which is exact.
        exploitability: The distance from an equilibrium.
    """

    policy: Floats
    iterations: int
    exploitability: Exploitability


def solve(
    tree: GameTree,
    nash_conv: float = 0.001,
    *,
    max_iterations: int = MAX_ITERATIONS,
    progress: Callable[[int, float], None] | None = None,
) -> Solution:
    """Returns an equilibrium, by CFR+; by backward induction where nothing is hidden.

    With three or more players CFR+ needn't converge to an equilibrium; the result says how far it
    came.

    Args:
        tree: The tree.
        nash_conv: The NashConv at which to stop.
        max_iterations: The largest number of iterations.
        progress: Called now and then with the iterations done and the NashConv.

    Raises:
        ValueError: An argument is out of range.
    """
    max_iterations = integer("max_iterations", max_iterations, 1, MAX_ITERATIONS)
    if not nash_conv >= 0:
        raise ValueError(f"nash_conv={nash_conv} is not 0 or more")
    evaluator = Evaluator(tree)
    if tree.merged:
        policy = backward_induction(evaluator, tree)
        return Solution(policy, 0, exploitability_of(evaluator, tree, policy))
    learner = CfrPlus(evaluator, tree)
    check = _CHECK_EVERY
    while True:
        learner.iterate()
        if learner.iterations < min(check, max_iterations):
            continue
        policy = learner.average()
        result = exploitability_of(evaluator, tree, policy)
        if progress is not None:
            progress(learner.iterations, result.nash_conv)
        if result.nash_conv <= nash_conv or learner.iterations == max_iterations:
            return Solution(policy, learner.iterations, result)
        check = learner.iterations + max(_CHECK_EVERY, learner.iterations // 10)


class CfrPlus:
    """CFR+ on a tree.

    Args:
        evaluator: The tree's evaluator.
        tree: The tree.

    Attributes:
        iterations: The iterations done.
    """

    def __init__(self, evaluator: Evaluator, tree: GameTree) -> None:
        nodes = len(tree.seats)
        entries = len(tree.actions)
        self.iterations = 0
        self._tree = tree
        self._structure = evaluator.structure
        self._regrets = np.zeros(entries)
        self._sums = np.zeros(entries)
        self._policy = tree.uniform()
        self._reaches = np.empty((nodes, 2))
        self._own = np.zeros(tree.num_infosets)
        self._values = np.empty(nodes)

    def iterate(self) -> None:
        """Lets each seat learn once."""
        self.iterations += 1
        for seat in range(self._tree.num_players):
            fill_both_reaches(self._structure, seat, self._policy, self._reaches)
            fill_values(self._structure, seat, self._policy, self._values)
            _add_regrets(
                self._structure, seat, self._reaches, self._values, self._own, self._regrets
            )
            _match_regrets(
                self._structure,
                seat,
                self._tree.infoset_seats,
                self._own,
                float(self.iterations),
                self._regrets,
                self._policy,
                self._sums,
            )

    def average(self) -> Floats:
        """Returns the average policy, float64[K]."""
        totals = np.add.reduceat(self._sums, self._tree.first_entry[:-1])
        counts = np.diff(self._tree.first_entry)
        spread = np.repeat(totals, counts)
        reached = spread > 0
        average = self._tree.uniform()
        average[reached] = self._sums[reached] / spread[reached]
        return average


@compiled
def _add_regrets(
    tree: Structure, seat: int, reaches: Floats, values: Floats, own: Floats, regrets: Floats
) -> None:
    """Adds a seat's regrets of an iteration, and notes its own reach of information sets."""
    for node in range(len(tree.seats)):
        if tree.seats[node] != seat:
            continue
        infoset = tree.infosets[node]
        own[infoset] = reaches[node, 1]  # equal for all its nodes: the seat remembers its actions
        first = tree.first_edge[node]
        for edge in range(first, tree.first_edge[node + 1]):
            gain = edge_value(tree, edge, values) - values[node]
            regrets[tree.first_entry[infoset] + edge - first] += reaches[node, 0] * gain


@compiled
def _match_regrets(
    tree: Structure,
    seat: int,
    infoset_seats: NDArray[np.int8],
    own: Floats,
    weight: float,
    regrets: Floats,
    policy: Floats,
    sums: Floats,
) -> None:
    """Adds a seat's policy to its average; then matches it to the regrets, which become >= 0."""
    for infoset in range(len(infoset_seats)):
        if infoset_seats[infoset] != seat:
            continue
        first = tree.first_entry[infoset]
        last = tree.first_entry[infoset + 1]
        total = 0.0
        for entry in range(first, last):
            sums[entry] += weight * own[infoset] * policy[entry]
            regrets[entry] = max(0.0, regrets[entry])
            total += regrets[entry]
        for entry in range(first, last):
            if total > 0:
                policy[entry] = regrets[entry] / total
            else:
                policy[entry] = 1 / (last - first)


def backward_induction(evaluator: Evaluator, tree: GameTree) -> Floats:
    """Returns the policy by which every seat plays best from every position, float64[K].

    Args:
        evaluator: The tree's evaluator.
        tree: A merged tree.
    """
    structure = evaluator.structure
    policy = np.zeros(len(tree.actions))
    values = tree.payoffs.copy()
    _induce(structure, values, policy)
    return policy


@compiled
def _induce(tree: Structure, values: Floats, policy: Floats) -> None:
    """Fills each seat's values [N, P] of all nodes, and the best actions."""
    for node in range(len(tree.seats) - 1, -1, -1):
        first = tree.first_edge[node]
        last = tree.first_edge[node + 1]
        if first == last:
            continue
        seat = max(0, tree.seats[node])
        best = first
        highest = -np.inf
        for edge in range(first, last):
            value = edge_value(tree, edge, values[:, seat])
            if value > highest:
                highest = value
                best = edge
        for other in range(values.shape[1]):
            values[node, other] = edge_value(tree, best, values[:, other])
        if tree.infosets[node] >= 0:
            policy[tree.first_entry[tree.infosets[node]] + best - first] = 1
