"""Many games in lock-step as an environment of Stable-Baselines3."""

from typing import Any

import numpy as np
import pytest
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.evaluation import evaluate_policy
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor

import linkzoo
from linkzoo.integrations import FeatureSeatVectorEnv
from linkzoo.integrations.sb3 import SB3VecEnv

every_game = pytest.mark.parametrize("game", linkzoo.game_names())


def build(game: str, **kwargs: Any) -> SB3VecEnv:
    players = linkzoo.get_game(game).max_players
    return SB3VecEnv(FeatureSeatVectorEnv(game, 16, players, seat=None, illegal="raise", **kwargs))


@every_game
def test_steps_are_those_of_the_games(game: str) -> None:
    envs, twin = build(game), build(game).envs
    assert is_masking_supported(envs)
    envs.seed(3)
    seen = envs.reset()
    expected, _ = twin.reset(seed=3)
    over = np.zeros(16, np.bool_)
    while not over.any():
        assert (seen == expected).all()
        masks = get_action_masks(envs)
        assert (masks == twin.action_masks()).all()
        assert (envs.env_method("action_masks", indices=[2, 5]) == masks[[2, 5]]).all()
        seen, reward, over, infos = envs.step(masks.argmax(1))
        expected, twin_reward, twin_over, _, found = twin.step(masks.argmax(1))
        assert reward == pytest.approx(twin_reward)
        assert (over == twin_over).all()
    for row, info in enumerate(infos):
        assert ("terminal_observation" in info) == over[row]
        if over[row]:
            assert (info["terminal_observation"] == found["final_obs"][row]).all()
    assert not (envs.reset() == seen).all()  # without a seed: other games


def test_attributes() -> None:
    envs = build("linkage")
    assert envs.get_attr("num_players") == [2] * 16
    assert envs.get_attr("seats", indices=1) == [envs.envs.seats[1]]
    assert not envs.has_attr("nonsense")
    assert envs.env_is_wrapped(VecMonitor) == [False] * 16
    envs.set_attr("opponent", linkzoo.RandomAgent())
    with pytest.raises(ValueError, match="opponent is set for all games at once"):
        envs.set_attr("opponent", None, indices=[1])


@every_game
def test_maskable_ppo_learns(game: str) -> None:
    """Illegal actions would raise."""
    monitored = VecMonitor(VecCheckNan(build(game), raise_exception=True))
    model = MaskablePPO("MlpPolicy", monitored, n_steps=64, batch_size=256, n_epochs=1, seed=1)
    model.learn(2 * 16 * 64)
    assert model.ep_info_buffer
    assert all(abs(episode["r"]) <= 1 for episode in model.ep_info_buffer)
    mean, _ = evaluate_policy(model, monitored, n_eval_episodes=16)
    assert -1 <= mean <= 1
