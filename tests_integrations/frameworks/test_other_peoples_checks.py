"""Frameworks' own checks of environments, on every game."""

import warnings
from typing import Any

import pytest
import supersuit
from ray.rllib.env.wrappers.pettingzoo_env import PettingZooEnv
from ray.rllib.utils.pre_checks.env import check_multiagent_environments
from stable_baselines3.common.env_checker import check_env

import linkzoo
from linkzoo import SeatEnv
from linkzoo.integrations import FeatureEnv, FeatureSeatEnv

every_game = pytest.mark.parametrize("game", linkzoo.game_names())


@every_game
def test_rllib_checks_environments(game: str) -> None:
    """It plays actions without the mask: forfeits are taken, and errors passed on."""
    players = linkzoo.get_game(game).max_players
    check_multiagent_environments(PettingZooEnv(FeatureEnv(game, players)))
    env = PettingZooEnv(FeatureEnv(game, players, illegal="raise"))

    def often() -> None:
        for _ in range(20):  # one of its actions may be legal
            check_multiagent_environments(env)

    with pytest.raises(ValueError, match=r"the `step\(\)` method seems to be faulty") as caught:
        often()
    assert "is illegal" in str(caught.value.__cause__)


@every_game
def test_sb3_checks_environments(game: str) -> None:
    """It takes observations of a board for an image; features are none."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(FeatureSeatEnv(game))
    board = len(linkzoo.get_game(game).observation.spec.shape) == 3
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        check_env(SeatEnv(game))
    assert any("image" in str(warning.message) for warning in caught) == board


@every_game
def test_supersuit_wraps_flat_observations(game: str) -> None:
    players = linkzoo.get_game(game).max_players
    env: Any = supersuit.frame_stack_v1(FeatureEnv(game, players, observation="flat"), 2)
    env = supersuit.pad_observations_v0(supersuit.pad_action_space_v0(env))
    plain = FeatureEnv(game, players, observation="flat")
    for each in (env, plain):
        each.reset(seed=1)
    while plain.agents and not all(plain.terminations.values()):
        seen, _, over, _, info = env.last()
        assert not over
        assert (seen[-len(plain.features) :] == plain.last()[0]).all()
        action = int(info["action_mask"].argmax())
        for each in (env, plain):
            each.step(action)
    assert env.rewards == plain.rewards
