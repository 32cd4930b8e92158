"""PettingZoo's own tests and conversions."""

import warnings
from functools import partial
from importlib import import_module
from types import ModuleType
from typing import Any

import numpy as np
import pettingzoo
import pytest

from linkzoo import GameEnv
from tests.common.play import plies, snapshot
from tests.common.variants import Variant, every_size, one_game

with warnings.catch_warnings():
    # Its tests import its own connect_four in a way that it deprecates.
    warnings.simplefilter("ignore", DeprecationWarning)
    zoo: Any = import_module("pettingzoo.test")

# What api_test says of every environment with a dict observation that isn't on its own list, and of
# an agent that isn't to act, whose mask is all zeros.
KNOWN_WARNINGS = (
    "Observation is not a NumPy array",
    "Observation space for each agent probably should be gymnasium.spaces.box",
    r"Action mask numpy array is all zeros \(no legal actions\)",
)


def module(variant: Variant) -> ModuleType:
    """The versioned module that users import."""
    return import_module(f"linkzoo.{variant.name}_v0")


def build(variant: Variant, constructor: str, **kwargs: Any) -> Any:
    return getattr(module(variant), constructor)(variant.num_players, **variant.options, **kwargs)


@every_size
def test_api(variant: Variant) -> None:
    for constructor in ("env", "raw_env"):
        with warnings.catch_warnings():
            for message in KNOWN_WARNINGS:
                warnings.filterwarnings("ignore", message)
            zoo.api_test(build(variant, constructor), num_cycles=200)


@every_size
def test_seeds(variant: Variant) -> None:
    zoo.seed_test(partial(build, variant, "env"), num_cycles=200)
    zoo.seed_test(partial(build, variant, "raw_env"), num_cycles=200)


@every_size
def test_parallel_api(variant: Variant) -> None:
    zoo.parallel_api_test(build(variant, "parallel_env"), num_cycles=200)


@every_size
def test_parallel_seeds(variant: Variant) -> None:
    """Its actions ignore the mask, so most of its games end by an illegal one."""
    zoo.parallel_seed_test(partial(build, variant, "parallel_env"), num_cycles=200)


@one_game
def test_rendering(variant: Variant) -> None:
    svg = {"svg": lambda text: text.startswith("<svg") and text.rstrip().endswith("</svg>")}
    zoo.render_test(partial(build, variant, "env"), custom_tests=svg)


@every_size
def test_three_constructors_make_the_same_game(variant: Variant) -> None:
    env, raw = build(variant, "env"), build(variant, "raw_env")
    parallel = build(variant, "parallel_env")
    env.reset(seed=11)
    raw.reset(seed=11)
    seen, infos = parallel.reset(seed=11)
    assert parallel.possible_agents == env.possible_agents
    for action in plies(env, 11):
        agent = env.agent_selection
        assert snapshot(raw) == snapshot(env) == snapshot(parallel.unwrapped)
        for name in env.agents:
            assert parallel.observation_space(name) is parallel.observation_space(name)
            for key, array in env.observe(name).items():
                assert np.array_equal(seen[name][key], array)
            assert np.array_equal(infos[name]["action_mask"], env.infos[name]["action_mask"])
        raw.step(action)
        seen, rewards, terminations, _, infos = parallel.step({agent: action})
    assert rewards == env.rewards
    assert all(terminations.values())
    assert parallel.agents == []


@every_size
def test_registered(variant: Variant) -> None:
    """From 1.27 on, PettingZoo has a registry."""
    if not hasattr(pettingzoo, "make"):
        pytest.skip("this PettingZoo has no registry")
    name = f"linkzoo/{variant.name}_v0"
    env = pettingzoo.make("aec", name, num_players=variant.num_players, **variant.options)
    assert isinstance(env.unwrapped, GameEnv)
    env.reset(seed=2)
    direct = variant.env()
    direct.reset(seed=2)
    assert env.unwrapped.get_state() == direct.get_state()
    parallel: Any = pettingzoo.make(
        "parallel", name, num_players=variant.num_players, **variant.options
    )
    parallel.reset(seed=2)
    assert parallel.unwrapped.get_state() == direct.get_state()
