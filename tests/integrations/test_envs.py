"""The environments with flat float observations play the same games."""

import warnings
from typing import Any

import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import linkzoo
from linkzoo.integrations import FeatureEnv, FeatureSeatEnv
from tests.common.play import choose, plies
from tests.common.test_pettingzoo import KNOWN_WARNINGS, zoo
from tests.common.variants import Variant, every_size


def build(variant: Variant, **kwargs: Any) -> FeatureEnv:
    return FeatureEnv(variant.name, variant.num_players, **kwargs, **variant.options)


@every_size
def test_features_are_those_of_the_observation(variant: Variant) -> None:
    env, plain = build(variant), variant.env()
    env.reset(seed=1)
    plain.reset(seed=1)
    spec = variant.game.observation.spec
    for action in plies(plain, 1):
        for agent in plain.agents:
            seen, raw = env.observe(agent), plain.observe(agent)
            assert env.observation_space(agent).contains(seen)
            assert (seen["action_mask"] == raw["action_mask"]).all()
            back = seen["observation"] / env.features.scale
            flat = raw["observation"].reshape(1, spec.size)
            np.testing.assert_allclose(back, env.features(flat)[0], atol=1e-4)
        env.step(action)
    assert env.get_state() == plain.get_state()
    assert env.rewards == plain.rewards


@every_size
def test_pettingzoo_api(variant: Variant) -> None:
    with warnings.catch_warnings():
        for message in KNOWN_WARNINGS:
            warnings.filterwarnings("ignore", message)
        zoo.api_test(build(variant), num_cycles=100)


@every_size
@pytest.mark.parametrize("keys", [None, ("obs", "mask")])
def test_one_seat(variant: Variant, keys: tuple[str, str] | None) -> None:
    env = FeatureSeatEnv(variant.name, variant.num_players, seat=None, keys=keys, **variant.options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".*not able to test alternative render modes")
        check_env(env)
    seen: Any
    for seed in range(5):
        seen, info = env.reset(seed=seed)
        over, reward = False, 0.0
        while not over:
            assert env.observation_space.contains(seen)
            mask = info["action_mask"]
            assert (env.action_masks() == mask).all()
            if keys is None:
                assert seen.dtype == np.float32
            else:
                assert set(seen) == set(keys)
                assert (seen["mask"] == mask).all()
            action = choose(mask, seed, int(mask.sum()))
            seen, reward, over, _, info = env.step(action)
        assert reward == env.env.rewards[env.agent]


@every_size
def test_flat_observations(variant: Variant) -> None:
    """The features alone; the mask is in the infos. PettingZoo's own test takes them."""
    flat, whole = build(variant, observation="flat"), build(variant)
    for env in (flat, whole):
        env.reset(seed=1)
    for agent in flat.possible_agents:
        space: Any = whole.observation_space(agent)
        assert flat.observation_space(agent) == space["observation"]
        assert flat.observation_space(agent).contains(flat.observe(agent))
        assert (flat.observe(agent) == whole.observe(agent)["observation"]).all()
        assert (flat.infos[agent]["action_mask"] == whole.observe(agent)["action_mask"]).all()
    twin = flat.clone()
    assert (twin.observe("player_0") == flat.observe("player_0")).all()


def test_kinds_of_observations() -> None:
    with pytest.raises(ValueError, match=r"observation='box' is not one of \['dict', 'flat'\]"):
        FeatureEnv("linkage", observation="box")


def test_features_are_small_numbers() -> None:
    """One-hot roles and scaled amounts: between -1 and 1, and not all the same."""
    for name in linkzoo.game_names():
        env = FeatureEnv(name)
        env.reset(seed=1)
        seen = env.observe("player_0")["observation"]
        assert seen.dtype == np.float32
        assert abs(seen).max() <= 1
        assert len(np.unique(seen)) > 1
