"""Values, best responses and equilibria, against known values and a slow way to compute them."""

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import RandomAgent, exact
from linkzoo.exact.tree import CHANCE, GameTree
from linkzoo.exact.values import Evaluator
from tests.exact.games import DRAWS, KUHN, LIARS_DICE


def value(tree: GameTree, policy: NDArray[np.float64], seat: int, node: int = 0) -> float:
    """The slow way: the expected payoff of a seat, by the definition."""
    total = float(tree.payoffs[node, seat])
    for edge in range(tree.first_edge[node], tree.first_edge[node + 1]):
        share = 1.0
        if tree.seats[node] != CHANCE:
            first = tree.first_entry[tree.infosets[node]]
            share = policy[first + edge - tree.first_edge[node]]
        for outcome in range(tree.first_outcome[edge], tree.first_outcome[edge + 1]):
            chance = share * tree.probabilities[outcome]
            total += chance * value(tree, policy, seat, tree.children[outcome])
    return total


def best_value(tree: GameTree, policy: NDArray[np.float64], seat: int) -> float:
    """The slow way: the best of all plans that name an action for every information set."""
    own = np.flatnonzero(tree.infoset_seats == seat)
    values = []
    for plan in product((0, 1), repeat=len(own)):
        response = policy.copy()
        for infoset, action in zip(own, plan, strict=True):
            first = tree.first_entry[infoset]
            response[first : first + 2] = 0
            response[first + action] = 1
        values.append(value(tree, response, seat))
    return max(values)


def random_policy(tree: GameTree, seed: int) -> NDArray[np.float64]:
    """Random probabilities."""
    weights = np.random.default_rng(seed).random(len(tree.actions))
    totals = np.add.reduceat(weights, tree.first_entry[:-1])
    return np.asarray(weights / np.repeat(totals, np.diff(tree.first_entry)))


@pytest.mark.parametrize("seed", range(3))
def test_best_responses_are_the_best_of_all_plans(seed: int) -> None:
    tree = exact.tree(KUHN)
    policy = random_policy(tree, seed)
    result = exact.exploitability(policy, tree)
    for seat in range(2):
        assert result.values[seat] == pytest.approx(value(tree, policy, seat), abs=1e-12)
        best = result.values[seat] + result.gains[seat]
        assert best == pytest.approx(best_value(tree, policy, seat), abs=1e-12)
        response = result.best_responses[seat]
        assert value(tree, response, seat) == pytest.approx(best, abs=1e-12)


def test_uniform_kuhn_poker_has_its_known_distance() -> None:
    """OpenSpiel's nash_conv of uniform play is 11/12 of a chip; 1 is two chips here."""
    tree = exact.tree(KUHN)
    result = exact.exploitability(RandomAgent(), tree)
    assert result.nash_conv == pytest.approx(11 / 12 / 2, abs=1e-12)
    assert result.exploitability == pytest.approx(11 / 48, abs=1e-12)


def test_cfr_finds_the_value_of_kuhn_poker() -> None:
    """-1/18 of a chip for the first seat (Kuhn 1950)."""
    solution = exact.solve(exact.tree(KUHN), nash_conv=1e-3)
    assert solution.exploitability.nash_conv <= 1e-3
    assert solution.exploitability.values[0] == pytest.approx(-1 / 18 / 2, abs=1e-3)
    assert solution.iterations > 1


@pytest.mark.nightly  # quick: the values of Kuhn poker; slow: test_editions.py
def test_liars_dice_has_its_known_values() -> None:
    """They equal OpenSpiel's liars_dice(numdice=1,dice_sides=3), by nash_conv and by CFR+."""
    tree = exact.tree(LIARS_DICE)
    assert exact.exploitability(RandomAgent(), tree).nash_conv == pytest.approx(10 / 9, abs=1e-12)
    solution = exact.solve(tree, nash_conv=1e-3)
    assert solution.exploitability.values[0] == pytest.approx(1 / 9, abs=1e-3)


def test_backward_induction_leaves_nothing_to_gain() -> None:
    """Where nothing is hidden, the best plan from every position is exact."""
    tree = exact.tree(DRAWS)
    assert tree.merged
    solution = exact.solve(tree)
    assert solution.iterations == 0
    assert abs(solution.exploitability.gains).max() < 1e-12
    uniform = exact.exploitability(tree.uniform(), tree)
    assert uniform.gains[0] > 0.1
    assert uniform.values[0] + uniform.gains[0] == pytest.approx(solution.exploitability.values[0])


def test_an_equilibrium_of_a_merged_tree_needs_no_reaches() -> None:
    """The slow value agrees where positions are shared."""
    tree = exact.tree(DRAWS)
    policy = random_policy(tree, 5)
    assert Evaluator(tree).values(policy)[0] == pytest.approx(value(tree, policy, 0), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"nash_conv": -1}, "nash_conv"), ({"max_iterations": 0}, "max_iterations")],
)
def test_solve_checks_its_arguments(arguments: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        exact.solve(exact.tree(KUHN), **arguments)  # type: ignore[arg-type]  # wrong on purpose
