"""Flat Monte Carlo: expectations where they can be reckoned, and nothing that a seat can't see."""

from math import inf, nan, sqrt
from typing import Any

import numpy as np
import pytest
import torch
from connect_four import GAME as CONNECT_FOUR
from numpy.typing import NDArray

from linkzoo import Game, Positions, RandomAgent, get_game
from linkzoo_training.agents import baselines
from linkzoo_training.agents.baselines import MonteCarloAgent
from linkzoo_training.search.solver import successors
from linkzoo_training.selfplay.teacher import target_format, teacher_targets
from tests.common.play import spread_positions
from tests.common.variants import Variant, every_size
from tests.training.helpers import begin, midgame
from tests.training.toys import COIN, SURE

LINKAGE = get_game("linkage")


def expected(game: Game, state: Any, seat: int) -> float:
    """The value of a position for a seat under random play, over all lines of play."""
    if state.seat < 0:
        payoff = np.zeros(int(state.num_players), np.float32)
        game.payoffs(state, payoff)
        return float(payoff[seat])
    after = successors(game, state).values()
    return sum(expected(game, then, seat) for then in after) / len(after)


@pytest.mark.slow  # quick: test_does_not_peek
def test_values_of_connect_four_are_expectations_over_random_play() -> None:
    """Abramson 1990, where all lines can be reckoned: Connect Four's last five cells."""
    positions = midgame(CONNECT_FOUR, 2000, 37)
    late = np.flatnonzero(positions.states["ply"] == 37)[:20]
    positions = Positions(CONNECT_FOUR, positions.states[late], positions.seeds[late])
    playouts = 2000
    values = MonteCarloAgent(playouts).action_values(positions, 0.0)
    compared = 0
    for state, mask, estimates in zip(positions.states, positions.action_mask, values, strict=True):
        seat, after = int(state["seat"]), successors(CONNECT_FOUR, state)
        assert (estimates[mask == 0] == 0).all()
        for action, then in after.items():
            exact = expected(CONNECT_FOUR, then, seat)
            error = 5 * sqrt((1 - exact**2) / playouts)  # payoffs are -1, 0 and 1
            assert estimates[action] == pytest.approx(exact, abs=error + 1e-5)
            compared += 1
    assert compared >= 40


def test_margins_count_as_much_as_is_asked() -> None:
    """The same playouts: payoffs, and so many times the margins."""
    positions, agent = midgame(LINKAGE, 10, 12), MonteCarloAgent(5)
    plain, half, whole = (agent.action_values(positions, weight) for weight in (0.0, 0.5, 1.0))
    np.testing.assert_allclose(half - plain, (whole - plain) / 2, atol=1e-5)
    assert (half != plain).any()
    assert (agent.act(positions) == best(half, positions)).all()
    assert (MonteCarloAgent(5, 0.0).act(positions) == best(plain, positions)).all()


def best(values: NDArray[Any], positions: Positions) -> NDArray[np.int64]:
    """The first of the best legal actions."""
    return np.array(
        [
            max(np.flatnonzero(mask), key=lambda action: row[action])
            for row, mask in zip(values, positions.action_mask, strict=True)
        ]
    )


@pytest.mark.slow
def test_does_not_peek() -> None:
    """The sure half is worth more than calling a coin, unless one looks at it."""
    positions = begin(COIN, 40)
    assert set(positions.states["coin"]) == {1, 2}
    assert MonteCarloAgent(200).act(positions).tolist() == [SURE] * 40


@pytest.mark.nightly  # quick: test_does_not_peek
@every_size
def test_worlds_that_look_alike_are_worth_the_same(variant: Variant) -> None:
    """To the last bit, whatever others hold and whatever the bag or the deck has in store."""
    game = variant.game
    *played, _ = spread_positions(variant, 5, 6)  # the last one is the end
    states = np.frombuffer(b"".join(played), game.state)
    worlds, seeds = states.copy(), np.arange(len(states), dtype=np.uint64)
    for i in range(len(states)):
        game.determinize(worlds[i], worlds[i].seat, np.uint64(7))
    values = [
        MonteCarloAgent(2).action_values(Positions(game, alike, seeds), 0.5)
        for alike in (states, worlds)
    ]
    assert values[0].tobytes() == values[1].tobytes()
    assert values[0].any()


def test_many_positions_are_valued_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that Ctrl-C is heard between them; each is valued as it would be beside others."""
    positions, agent = midgame(LINKAGE, 50, 3), MonteCarloAgent(3)
    expected = agent.action_values(positions, 0.5)
    monkeypatch.setattr(baselines, "_AT_ONCE", 1)
    assert agent.action_values(positions, 0.5).tobytes() == expected.tobytes()
    assert agent.action_values(begin(LINKAGE, 0), 0.5).shape == (0, LINKAGE.num_actions)


def test_senseless_settings_are_refused() -> None:
    with pytest.raises(ValueError, match=r"playouts: 0 is not in 1\.\.1000000"):
        MonteCarloAgent(0)
    for wrong in (-0.1, inf, nan):
        with pytest.raises(ValueError, match="score_margin_weight"):
            MonteCarloAgent(1, wrong)


def test_a_teacher_with_values_tells_them() -> None:
    """Others tell the moves that they would play."""
    positions = midgame(LINKAGE, 8, 4)
    agent = MonteCarloAgent(4)
    assert (teacher_targets(agent, positions, 0.25) == agent.action_values(positions, 0.25)).all()
    assert target_format(agent, LINKAGE) == ((LINKAGE.num_actions,), torch.float16)
    greedy = baselines.GreedyAgent()
    assert (teacher_targets(greedy, positions, 0.25) == greedy.act(positions)).all()
    assert target_format(greedy, LINKAGE) == target_format(None, LINKAGE) == ((), torch.int64)


@pytest.mark.parametrize(
    "told", [np.zeros((8, 3)), *(np.full((8, LINKAGE.num_actions), wrong) for wrong in (nan, 1e5))]
)
def test_values_of_a_teacher_from_outside_are_checked(told: NDArray[np.float64]) -> None:
    class Odd(RandomAgent):
        name = "odd"

        def action_values(self, _: Positions, __: float) -> NDArray[np.float64]:
            return told

    positions = midgame(LINKAGE, 8, 4)
    with pytest.raises(ValueError, match=r"odd: its action values .* are not finite numbers \[8"):
        teacher_targets(Odd(), positions, 0.0)
