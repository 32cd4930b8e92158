"""Policies of agents in trees, and agents that play a policy."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import Positions, RandomAgent, exact, registry
from linkzoo.core.kernels import kernels
from tests.exact.games import BLIND, KUHN, only_bet

pytestmark = pytest.mark.slow  # quick: test_tree.py and test_values.py; solving compiles


@pytest.fixture(scope="module")
def tree() -> exact.GameTree:
    return exact.tree(KUHN)


@pytest.fixture(scope="module")
def solved(tree: exact.GameTree) -> exact.TabularAgent:
    solution = exact.solve(tree)
    return exact.tabular_agent(tree, solution.policy, {"nash_conv": 0.001}, "equilibrium")


def test_an_agent_plays_its_policy(tree: exact.GameTree, solved: exact.TabularAgent) -> None:
    """Its probabilities are those of the tree, and its actions are drawn by them."""
    policy = exact.policy_of(solved, tree)
    assert exact.exploitability(solved, tree).nash_conv < 1e-3
    states = np.repeat(tree.states[:1], 4000)
    positions = Positions(KUHN, states, np.arange(4000, dtype=np.uint64))
    share = (solved.act(positions) == 1).mean()
    assert share == pytest.approx(policy[1], abs=4 * 0.5 / np.sqrt(4000))


def test_a_file_plays_the_same(
    tree: exact.GameTree,
    solved: exact.TabularAgent,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(registry, "_known", dict(registry._known))
    registry.register(KUHN)
    path = tmp_path / "kuhn.npz"
    solved.save(path)
    loaded = exact.TabularAgent.load(path)
    np.testing.assert_array_equal(exact.policy_of(loaded, tree), exact.policy_of(solved, tree))
    assert loaded.card["nash_conv"] == 0.001
    assert loaded.name == f"tabular:{path}"


def test_values_of_actions_are_what_they_earn(
    tree: exact.GameTree, solved: exact.TabularAgent
) -> None:
    """In an equilibrium an action that is played is worth as much as the best one.

    Folding the lowest card to a bet costs the ante, half of the largest payoff.
    """
    positions = Positions(KUHN, tree.states.copy(), np.zeros(len(tree.states), np.uint64))
    values = solved.evaluate(positions)
    played = (solved.probabilities(positions) * values).sum(1)
    np.testing.assert_allclose(played, values.max(1), atol=0.02)
    observations = positions.observation
    folds = (observations[:, 0] == 1) & (observations[:, 1] == 0) & (observations[:, 2] == 1)
    assert values[folds, 0] == pytest.approx([-0.5])


def test_positions_without_a_choice_need_no_table(solved: exact.TabularAgent) -> None:
    """Forced moves are played; there may be no others among the positions, and none at all."""
    game = replace(KUHN, rules=replace(KUHN.rules, legal_actions=only_bet))
    states = np.zeros(3, KUHN.state)
    states[:] = KUHN.blank()
    kernels(KUHN).begin(states, np.arange(3, dtype=np.uint64), np.zeros((3, 2), np.int8))
    for count in (3, 0):
        positions = Positions(game, states[:count].copy(), np.zeros(count, np.uint64))
        assert (solved.act(positions) == 1).all()
        assert solved.evaluate(positions).shape == (count, 2)


@pytest.mark.parametrize("damage", ["missing", "short", "text"])
def test_a_damaged_file_is_named(solved: exact.TabularAgent, tmp_path: Path, damage: str) -> None:
    path = tmp_path / "kuhn.npz"
    if damage != "missing":
        solved.save(path)
        data = path.read_bytes()
        path.write_bytes(data[: len(data) // 2] if damage == "short" else b"policy")
    with pytest.raises(ValueError, match=r"tabular: .*kuhn\.npz"):
        exact.TabularAgent.load(path)


def test_positions_of_another_game_are_refused(solved: exact.TabularAgent) -> None:
    states = np.zeros(1, BLIND.state)
    states[0] = BLIND.blank()
    kernels(BLIND).begin(states, np.zeros(1, np.uint64), np.zeros((1, 2), np.int8))
    with pytest.raises(ValueError, match="equilibrium plays kuhn, not blind"):
        solved.act(Positions(BLIND, states, np.zeros(1, np.uint64)))


class Draws:
    """Bets at every third seed; it doesn't say so."""

    name = "draws"

    def act(self, positions: Positions) -> NDArray[np.int64]:
        """Returns the actions."""
        return np.asarray(positions.seeds % np.uint64(3) == 0, np.int64)


def test_an_agent_without_probabilities_is_asked_often(tree: exact.GameTree) -> None:
    once = exact.policy_of(Draws(), tree)
    assert set(once) == {0, 1}
    often = exact.policy_of(Draws(), tree, samples=600)
    np.testing.assert_allclose(often[1::2], 1 / 3, atol=0.1)
    with pytest.raises(ValueError, match="samples"):
        exact.policy_of(Draws(), tree, samples=0)


def test_a_random_agent_says_that_it_is_uniform(tree: exact.GameTree) -> None:
    np.testing.assert_array_equal(exact.policy_of(RandomAgent(), tree), tree.uniform())


@pytest.mark.parametrize("wrong", [np.ones(3), np.full(24, 0.4), np.full(24, -0.5)])
def test_what_is_no_policy_is_refused(tree: exact.GameTree, wrong: NDArray[np.float64]) -> None:
    with pytest.raises(ValueError, match="policy: "):
        exact.policy_of(wrong, tree)
