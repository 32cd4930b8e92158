"""Policies across the border, both ways."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkzoo
from linkzoo import Positions, RandomAgent, SeatEnv
from linkzoo.integrations import FunctionAgent, OpponentPool
from linkzoo_training import play_match
from tests.driving import first_quick


class Fixed:
    """Plays its n-th legal action, and keeps the games that it was asked in."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.asked: set[tuple[int, int]] = set()  # seed and seat

    def act(self, positions: Positions) -> NDArray[np.int64]:
        self.asked |= {(int(s["seed"]), int(s["seat"])) for s in positions.states}
        first: NDArray[np.int64] = positions.action_mask.argmax(1)
        return first


def first(_features: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
    chosen: NDArray[Any] = mask.argmax(1)
    return chosen


@pytest.mark.parametrize("game", first_quick(linkzoo.game_names()))
def test_a_function_plays(game: str) -> None:
    shapes = set()

    def choose(features: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
        shapes.add((str(features.dtype), features.shape[1], str(mask.dtype), mask.shape[1]))
        return first(features, mask)

    result = play_match(game, FunctionAgent("first", choose), RandomAgent(), 2)
    twin = play_match(game, Fixed("first"), RandomAgent(), 2)
    assert (result.payoff == twin.payoff).all()
    ((dtype, width, mask_dtype, actions),) = shapes
    assert (dtype, mask_dtype) == ("float32", "int8")
    assert width > 10
    assert actions == linkzoo.get_game(game).num_actions


@pytest.mark.parametrize("game", linkzoo.game_names())
def test_an_illegal_action_of_a_function_is_named(game: str) -> None:
    for wrong in ("no", 0, None):
        with pytest.raises(ValueError, match=r"^features: .* is not true or false"):
            FunctionAgent("flagged", lambda _, mask: mask.argmax(1), features=wrong)  # type: ignore[arg-type]
    agent = FunctionAgent("careless", lambda _, mask: mask.argmin(1))
    env = SeatEnv(game, seat=1, opponent=agent)

    def play() -> None:
        env.reset(seed=1)
        while True:
            env.step(int(env.action_masks().argmax()))

    with pytest.raises(ValueError, match="careless chose an illegal action"):
        play()


@pytest.mark.parametrize("game", first_quick(linkzoo.game_names()))
def test_a_pool_keeps_one_agent_for_a_game(game: str) -> None:
    members = [Fixed("a"), Fixed("b"), Fixed("c")]
    pool = OpponentPool(members)
    env = SeatEnv(game, linkzoo.get_game(game).max_players, opponent=pool)
    for seed in range(12):
        env.reset(seed=seed)
        while not env.env.terminations[env.agent]:
            env.step(int(env.action_masks().argmax()))
    asked = [member.asked for member in members]
    assert all(asked)
    assert not asked[0] & asked[1]
    assert not asked[0] & asked[2]
    assert not asked[1] & asked[2]


def test_a_full_pool_gives_up_the_oldest_but_the_first() -> None:
    pool = OpponentPool([Fixed("0")], size=3)
    for name in "1234":
        pool.add(Fixed(name))
    assert [agent.name for agent in pool.agents] == ["0", "3", "4"]
    for agents in ([], [Fixed("0"), Fixed("1")]):
        with pytest.raises(ValueError, match=rf"agents: {len(agents)} of them, not 1\.\.1"):
            OpponentPool(agents, size=1)


def test_a_function_of_observations_as_they_are() -> None:
    """`features=False` shows the environment's observation."""
    seen = []

    def choose(observations: NDArray[Any], mask: NDArray[Any]) -> NDArray[Any]:
        seen.append(observations.copy())
        return first(observations, mask)

    env = linkzoo.make("love_links")
    env.reset(seed=1)
    states = np.frombuffer(bytearray(env.get_state()), env.game.state)
    positions = Positions(env.game, states, np.zeros(1, np.uint64))
    FunctionAgent("plain", choose, features=False).act(positions)
    assert (seen[0][0] == env.observe(env.agent_selection)["observation"]).all()
