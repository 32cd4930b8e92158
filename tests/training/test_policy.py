"""A policy in anyone's loop: the same decisions from environments and from observations."""

from typing import Any

import gymnasium
import numpy as np
import pytest

import linkzoo
import linkzoo_training
from linkzoo import Positions
from linkzoo import policy as policy_module
from linkzoo.integrations import FeatureEnv, SeatVectorEnv
from linkzoo.policy import Policy
from linkzoo_training import load_agent, resources
from tests.common.play import run_python
from tests.driving import first_quick


@pytest.fixture(scope="module")
def policy() -> Policy:
    return linkzoo.load_policy("love_links_ppo")  # plays the most probable action


def expected(env: linkzoo.GameEnv, policy: Policy) -> tuple[Any, ...]:
    """The action, probabilities and values of an environment's position, from the agent."""
    states = np.frombuffer(bytearray(env.get_state()), env.game.state)
    positions = Positions(env.game, states, np.zeros(1, np.uint64))
    logits, values = policy.agent.evaluate(positions)  # type: ignore[attr-defined]
    return int(policy.act(positions)[0]), logits.softmax(-1)[0].numpy(), values[0].numpy()


@pytest.mark.parametrize("players", first_quick([3, 2]))
def test_an_aec_environment_and_what_it_shows(policy: Policy, players: int) -> None:
    env = linkzoo.make("love_links", players)
    env.reset(seed=4)
    for _ in range(4):
        action, probabilities, values = expected(env, policy)
        illegal = env.observe(env.agent_selection)["action_mask"] == 0
        for shown in (env, env.last()[0], env.observe(env.agent_selection)):
            assert type(policy.predict(shown)) is int
            assert policy.predict(shown) == action
            assert np.allclose(policy.probabilities(shown), probabilities, atol=1e-6)
            assert np.allclose(policy.values(shown), values, atol=1e-6)
            assert (policy.values(shown)[players:] == 0).all()
            assert (policy.probabilities(shown)[illegal] == 0).all()
        env.step(action)


def test_a_parallel_environment(policy: Policy) -> None:
    env: Any = linkzoo.love_links_v0.parallel_env()
    seen, _ = env.reset(seed=4)
    finished = False
    while not finished:
        actions = policy.predict(env)
        assert actions == policy.predict(seen)
        (agent,) = actions
        assert agent == env.unwrapped.agent_selection
        assert policy.values(env)[agent].shape == (4,)
        seen, _, terminations, _, _ = env.step(actions)
        finished = any(terminations.values())
    with pytest.raises(ValueError, match="no seat is to act"):
        policy.predict(env.unwrapped)


def test_a_gymnasium_environment(policy: Policy) -> None:
    env: Any = gymnasium.make("linkzoo/LoveLinks-v0", seat=1, opponent=policy)
    observation, info = env.reset(seed=4)
    ended = False
    while not ended:
        action = policy.predict(env)
        seen = {"observation": observation, "action_mask": info["action_mask"]}
        assert action == policy.predict(seen)
        observation, _, ended, _, info = env.step(action)


def test_many_games(policy: Policy) -> None:
    vec = linkzoo.make_vec("love_links", 6, (2, 4))
    now = vec.reset(seed=3)
    for _ in range(5):
        seen = {"observation": now.observation, "action_mask": now.action_mask}
        actions = policy.predict(vec)
        assert actions.dtype == np.int64
        assert (actions == policy.predict(seen)).all()
        assert np.allclose(policy.probabilities(vec).sum(1), 1)
        assert (policy.predict({**seen, "action_mask": 0 * now.action_mask}) == 0).all()
        for batch in (vec, seen):
            assert policy.values(batch).shape == (6, 4)
            assert (policy.values(batch)[::2, 2:] == 0).all()
            assert (policy.values(batch)[1::2, 2:] != 0).all()
        now = vec.step(actions)


def test_games_that_wait_for_their_reset(policy: Policy) -> None:
    envs = SeatVectorEnv("love_links", 4, autoreset_mode="NextStep")
    envs.reset(seed=1)
    over = np.zeros(4, np.bool_)
    while not over.any() or over.all():
        _, _, over, _, _ = envs.step(policy.predict(envs))
    assert (policy.predict(envs)[over] == 0).all()
    assert (policy.probabilities(envs)[over] == 0).all()
    assert np.allclose(policy.probabilities(envs)[~over].sum(1), 1)
    assert (policy.values(envs)[over] == 0).all()


def test_the_seed_fixes_the_draws() -> None:
    def played(seed: int) -> list[int]:
        env = linkzoo.make("love_links")
        env.reset(seed=1)
        policy = linkzoo.load_policy("love_links_ppo~2", seed=seed)
        for _ in range(8):
            env.step(policy.predict(env))
        return env.record().actions

    assert played(0) == played(0) != played(1)


def test_other_agents_and_search() -> None:
    env = linkzoo.make("linkage")
    env.reset(seed=1)
    for name in ("greedy", "uct-4"):
        other = linkzoo.load_policy(name, "linkage")
        assert env.infos[env.agent_selection]["action_mask"][other.predict(env)] == 1
        with pytest.raises(ValueError, match=f"{name} has no probabilities and values"):
            other.values(env)
        with pytest.raises(ValueError, match="needs whole positions"):
            other.predict(env.observe(env.agent_selection))
    search = linkzoo.load_policy("linkage:8")
    probabilities = search.probabilities(env)
    assert search.predict(env) == probabilities.argmax()
    assert not np.allclose(probabilities, linkzoo.load_policy("linkage").probabilities(env))
    values = search.values(env)
    assert values.shape == (2,)
    assert np.isclose(values.sum(), 0, atol=0.2)


def test_what_is_refused(policy: Policy) -> None:
    env = FeatureEnv("love_links")
    env.reset(seed=1)
    with pytest.raises(ValueError, match=r"float32\[\d+\].* GameEnv and SeatEnv, not the features"):
        policy.predict(env.observe("player_0"))
    assert policy.predict(env) >= 0
    now = linkzoo.make_vec("love_links", 3).reset(1)
    for observation, mask, text in (
        (now.observation[:, :5], now.action_mask, "not the features"),
        (now.observation, now.action_mask[:2], r"action_mask has shape \[2, \d+\], not \[3, "),
        (now.observation[0], 0 * now.action_mask[0], "no seat is to act"),
    ):
        with pytest.raises(ValueError, match=text):
            policy.predict({"observation": observation, "action_mask": mask})
    with pytest.raises(ValueError, match="'observation' and 'action_mask'"):
        policy.predict(now.observation)
    other = linkzoo.make("linkage")
    other.reset(seed=1)
    with pytest.raises(ValueError, match=r"love_links_ppo plays .*love_links.*, not .*linkage"):
        policy.predict(other)
    with pytest.raises(ValueError, match="'random': name the game that it plays"):
        linkzoo.load_policy("random")
    with pytest.raises(ValueError, match="no checkpoint 'nobody'"):
        linkzoo.load_policy("nobody")


def test_the_extra_that_is_missing_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "find_spec", lambda name: None if name == "torch" else name)
    with pytest.raises(
        ValueError, match=r"torch not installed: in a clone of linkzoo, pip install '\.\[train\]'"
    ):
        linkzoo.load_policy("linkage")


def test_the_loader_is_found_by_its_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without an installed package the error names the extra to install and a function."""
    monkeypatch.setattr(policy_module, "entry_points", lambda group: [])
    with pytest.raises(ValueError, match=r"pip install '\.\[train\]', or call linkzoo_train"):
        linkzoo.load_policy("linkage")
    env = linkzoo.make("linkage")
    env.reset(seed=1)
    assert env.action_space("player_0").contains(
        linkzoo_training.load_policy("linkage").predict(env)
    )


@pytest.mark.slow
def test_a_loaded_agent_fits_too() -> None:
    agent = load_agent("love_links", temperature=0)
    env = linkzoo.make("love_links")
    env.reset(seed=2)
    assert Policy(agent, agent.game).predict(env) == linkzoo.load_policy("love_links").predict(env)


@pytest.mark.slow
def test_loading_imports_no_compiler_of_torch() -> None:
    """It takes seconds, where a first move takes .3."""
    code = """
import sys
import linkzoo
import linkzoo_training
for game in linkzoo.game_names():
    linkzoo_training.load_policy(game)
print("torch._dynamo" in sys.modules)
"""
    assert run_python("-c", code).strip() == "False"
