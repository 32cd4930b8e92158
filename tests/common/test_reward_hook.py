"""`make_vec(…, reward_hook=f)`: f of the records before and after a step adds to the rewards."""

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import linkzoo
from linkzoo.envs.vector import VecEnv

GAMES = 6


def plies(before: NDArray[Any], after: NDArray[Any]) -> NDArray[np.float64]:
    """Every seat gets the number of plies, and the seat that acted 100 more."""
    rewards = np.repeat((after["ply"] - before["ply"])[:, None], 2, axis=1).astype(float)
    rewards[np.arange(len(before)), before["seat"]] += 100
    before["ply"] = after["ply"] = 0  # copies
    return rewards


def steps(vec: VecEnv, count: int = 60) -> list[linkzoo.VecStep]:
    first = deepcopy(vec.reset(3))
    return [first, *(deepcopy(vec.step(vec.random_actions(number))) for number in range(count))]


@pytest.fixture
def plain() -> list[linkzoo.VecStep]:
    return steps(linkzoo.make_vec("linkage", GAMES, skip_forced=True))


def test_the_hook_adds_to_rewards_and_changes_nothing_else(plain: list[linkzoo.VecStep]) -> None:
    vec = linkzoo.make_vec("linkage", GAMES, skip_forced=True, reward_hook=plies)
    hooked = steps(deepcopy(vec))
    assert (hooked[0].reward == 0).all()
    assert sum(now.done.sum() for now in plain) > GAMES
    for before, now, then in zip(hooked, hooked[1:], plain[1:], strict=False):
        for name in ("observation", "action_mask", "seat", "done", "episode_length", "score"):
            np.testing.assert_array_equal(getattr(now, name), getattr(then, name))
        extra = now.reward - then.reward
        rows = np.arange(GAMES)
        # Forced actions are played in the same step, and the last record of a game is its end.
        played = now.episode_length - np.where(before.done, 0, before.episode_length)
        np.testing.assert_allclose(extra[rows, 1 - before.seat], played, atol=1e-5)
        np.testing.assert_allclose(extra[rows, before.seat], played + 100, atol=1e-5)


def test_score_margins_with_a_hook() -> None:
    scores = linkzoo.make_vec("linkage", GAMES, reward="score")
    both = linkzoo.make_vec("linkage", GAMES, reward="score", reward_hook=plies)
    scores.reset(1)
    both.reset(1)
    for number in range(30):
        actions = scores.random_actions(number)
        extra = both.step(actions).reward - scores.step(actions).reward
        assert ((extra > 99).sum(1) == 1).all()
    assert (both.reset(1).reward == 0).all()


@pytest.mark.parametrize(
    ("hook", "message"),
    [
        (lambda before, after: np.zeros(GAMES), rf"float64\[{GAMES}\], and rewards are float"),
        (lambda before, after: np.full((GAMES, 2), np.nan), "isn't finite"),
        (lambda before, after: [["a", "b"]] * GAMES, "its result is <U1"),
    ],
)
def test_a_wrong_result_moves_no_game(hook: Any, message: str) -> None:
    vec = linkzoo.make_vec("linkage", GAMES, reward_hook=hook)
    vec.reset(0)
    before = vec.states.copy()
    with pytest.raises(ValueError, match=message):
        vec.step(vec.random_actions())
    assert (vec.states == before).all()


def test_a_wrong_hook() -> None:
    with pytest.raises(ValueError, match="reward_hook=3 is not a function"):
        linkzoo.make_vec("linkage", GAMES, reward_hook=3)
