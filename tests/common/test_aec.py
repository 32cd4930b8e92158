"""The AEC environment at every ply: PettingZoo's conventions and our guarantees."""

import numpy as np
import pytest
from gymnasium.spaces import Box, Dict, Discrete

from linkzoo import GameEnv
from tests.common.play import clone, finish, mask_of, observation_of, outcome_of, plies, snapshot
from tests.common.variants import Variant, every_size, every_variant, one_game, random_games


def check_dicts(env: GameEnv) -> None:
    """The five dicts have the live agents as keys, and plain values."""
    for shown in (env.rewards, env._cumulative_rewards, env.terminations, env.truncations):
        assert list(shown) == env.agents
    assert list(env.infos) == env.agents
    for agent in env.agents:
        assert type(env.terminations[agent]) is bool
        assert env.truncations[agent] is False
        # Dead agents get PettingZoo's own integer 0.
        assert type(env.rewards[agent]) is float or env.rewards == dict.fromkeys(env.agents, 0)
        assert list(env.infos[agent]) == ["action_mask"]


def check_observations(env: GameEnv) -> None:
    """The observation dict of every agent, and its mask in both places."""
    state = env.game.from_bytes(env.get_state())
    legal = mask_of(env.game, state)
    over = any(env.terminations.values())
    for seat, agent in enumerate(env.possible_agents):
        shown = env.observe(agent)
        assert list(shown) == ["observation", "action_mask"]
        assert env.observation_space(agent).contains(shown)
        assert shown["observation"].dtype == env.game.observation.spec.dtype
        assert shown["action_mask"].dtype == np.int8
        flat = observation_of(env.game, state, seat)
        assert np.array_equal(shown["observation"].ravel(), flat)
        to_act = not over and agent == env.agent_selection
        assert np.array_equal(shown["action_mask"], legal if to_act else 0 * legal)
        if agent in env.infos:
            mask = env.infos[agent]["action_mask"]
            assert mask.dtype == np.int8
            assert np.array_equal(mask, shown["action_mask"])


@random_games
@every_variant
def test_every_ply(variant: Variant, seeds: list[int]) -> None:
    """At every ply; what all seats observe at every third one where there is but one game."""
    env = variant.env()
    step = 3 if len(seeds) == 1 else 1
    for seed in seeds:
        env.reset(seed=seed)
        assert env.agents == env.possible_agents
        for ply, action in enumerate(plies(env, seed)):
            check_dicts(env)
            if ply % step == 0:
                check_observations(env)
            state = env.game.from_bytes(env.get_state())
            assert env.agent_selection == env.possible_agents[state.seat]
            assert not any(env.terminations.values())
            assert set(env.rewards.values()) == set(env._cumulative_rewards.values()) == {0.0}
            shown, reward, terminated, truncated, info = env.last()
            assert shown is not None
            assert (reward, terminated, truncated) == (0.0, False, False)
            assert shown["action_mask"][action] == info["action_mask"][action] == 1
            assert env.last(observe=False)[0] is None
        check_dicts(env)
        check_observations(env)


@every_variant
def test_end_reaches_every_agent(variant: Variant) -> None:
    """All agents end on the same step, and each learns its payoff from `last`."""
    env = variant.env()
    for seed in range(3):
        env.reset(seed=seed)
        finish(env, seed)
        assert env.agents == env.possible_agents
        assert all(env.terminations.values())
        payoff, _ = outcome_of(env.game, env.game.from_bytes(env.get_state()))
        assert sum(env.rewards.values()) == pytest.approx(0, abs=1e-6)
        assert list(env.rewards.values()) == payoff.tolist()
        learned = {}
        for agent in env.agent_iter():
            _, learned[agent], terminated, truncated, _ = env.last()
            assert (terminated, truncated) == (True, False)
            env.step(None)
            assert agent not in env.agents
            check_dicts(env)
            check_observations(env)
        assert [learned[agent] for agent in env.possible_agents] == payoff.tolist()
        assert env.agents == []


@every_variant
def test_score_is_the_margin(variant: Variant) -> None:
    env = variant.env(reward="score")
    env.reset(seed=1)
    for _ in plies(env, 1):
        assert set(env.rewards.values()) == {0.0}
    _, margin = outcome_of(env.game, env.game.from_bytes(env.get_state()))
    assert list(env.rewards.values()) == margin.tolist()


@every_size
def test_spaces_are_the_same_objects(variant: Variant) -> None:
    env = variant.env()
    observation_spaces = {agent: env.observation_space(agent) for agent in env.possible_agents}
    action_spaces = {agent: env.action_space(agent) for agent in env.possible_agents}
    for seed in range(2):
        env.reset(seed=seed)
        finish(env, seed)
        for agent in env.possible_agents:
            assert env.observation_space(agent) is observation_spaces[agent]
            assert env.action_space(agent) is action_spaces[agent]
    spec = env.game.observation.spec
    for agent in env.possible_agents:
        space = observation_spaces[agent]
        assert isinstance(space, Dict)
        assert space["action_mask"] == Box(0, 1, (env.game.num_actions,), np.int8)
        assert space["observation"].shape == spec.shape
        assert action_spaces[agent] == Discrete(env.game.num_actions)


@every_size
def test_parts_make_up_the_observation(variant: Variant) -> None:
    """The table of parts: names once, bounds within the dtype, views that lead into the array."""
    spec = variant.game.observation.spec
    names = [part.name for part in spec.parts]
    assert len(set(names)) == len(names)
    limits = np.iinfo(np.dtype(spec.dtype))
    batch = np.zeros((2, 3, *spec.shape), spec.dtype)
    for number, part in enumerate(spec.parts):
        assert limits.min <= part.low < part.high <= limits.max, part
        assert part.meaning
        view = spec.view(batch, part.name)
        assert view.shape == (2, 3, *part.shape)
        view[:] = number % 100 + 1
    assert (batch != 0).all()
    with pytest.raises(KeyError, match="no part 'nothing'"):
        spec.view(batch, "nothing")


@every_size
def test_observations_are_fresh(variant: Variant) -> None:
    """Observations don't change afterwards, and writing to them changes no game."""
    env = variant.env()
    env.reset(seed=0)
    before = snapshot(env)
    kept = [env.observe(agent) for agent in env.possible_agents for _ in range(2)]
    copies = [{name: array.copy() for name, array in shown.items()} for shown in kept]
    for shown in kept[::2]:
        for array in shown.values():
            array[...] = 1
    assert snapshot(env) == before
    finish(env, 0)
    for shown, copied in zip(kept[1::2], copies[1::2], strict=True):
        for name, array in shown.items():
            assert np.array_equal(array, copied[name])


@every_size
def test_names(variant: Variant) -> None:
    env = variant.env()
    assert env.metadata["name"] == str(env) == f"{variant.name}_v0"
    assert env.metadata["is_parallelizable"]
    assert env.possible_agents == [f"player_{seat}" for seat in range(variant.num_players)]
    assert env.max_num_agents == variant.num_players
    assert env.unwrapped is env
    assert len(env.game.facts.seat_names) in (
        0,
        variant.game.max_players,
    )  # roles of all, or of none


# Seeds


@every_size
def test_a_seed_gives_the_same_game(variant: Variant) -> None:
    one, other = variant.env(), variant.env()
    for seed in (0, 3, 2**64 - 1):
        one.reset(seed=seed)
        other.reset(seed=seed)
        finish(other, 17)  # what was played before leaves no trace
        other.reset(seed=seed)
        assert snapshot(one) == snapshot(other)
        assert finish(one, 5) == finish(other, 5)
        assert one.game.from_bytes(one.get_state()).seed == seed


@every_size
def test_numpy_seeds(variant: Variant) -> None:
    env = variant.env()
    env.reset(seed=3)
    expected = snapshot(env)
    for seed in (np.int64(3), np.uint64(3), np.int8(3)):
        env.reset(seed=seed)  # type: ignore[arg-type]
        assert snapshot(env) == expected


@every_size
def test_reset_without_a_seed_goes_on(variant: Variant) -> None:
    """The seeds that follow a given one are the same each time, and differ from one another."""

    def seeds(env: GameEnv) -> list[int]:
        drawn = []
        for _ in range(5):
            drawn.append(env.record().seed)
            finish(env, 1)
            env.reset()
        return drawn

    one, other = variant.env(), variant.env()
    one.reset(seed=7)
    other.reset(seed=9)
    other.reset(seed=7)
    first = seeds(one)
    assert first == seeds(other)
    assert first[0] == 7
    assert len(set(first)) == 5
    one.reset(seed=8)
    assert not set(first) & set(seeds(one))


@every_size
def test_environments_without_a_seed_differ(variant: Variant) -> None:
    drawn = set()
    for _ in range(4):
        env = variant.env()
        env.reset()
        drawn.add(env.record().seed)
    assert len(drawn) == 4


# Rendering


@every_variant
def test_render_modes(variant: Variant) -> None:
    """Drawn at the start, at every 16th ply and at the end; each game's test_draw looks closer."""
    for mode in ("ansi", "svg"):
        env = variant.env(render_mode=mode)
        assert env.render_mode == mode
        env.reset(seed=2)
        before = snapshot(env)
        assert isinstance(env.render(), str)
        assert snapshot(env) == before
        for ply, _ in enumerate(plies(env, 2)):
            if ply % 16 == 0:
                shown = env.render()
                assert isinstance(shown, str)
                assert shown.startswith("<svg") == (mode == "svg")
        assert env.render()


@one_game
def test_pixels(variant: Variant) -> None:
    env = variant.env(render_mode="rgb_array")
    env.reset(seed=2)
    pictures = []
    for _ in range(2):
        picture = env.render()
        assert isinstance(picture, np.ndarray)
        assert picture.dtype == np.uint8
        assert picture.ndim == 3
        assert picture.shape[2] == 3
        assert picture.std() > 1
        pictures.append(picture)
        finish(env, 2)
    assert not np.array_equal(pictures[0], pictures[1])


@one_game
def test_human_prints_after_every_step(
    variant: Variant, capsys: pytest.CaptureFixture[str]
) -> None:
    env, text = variant.env(render_mode="human"), variant.env(render_mode="ansi")
    env.reset(seed=4)
    text.reset(seed=4)
    capsys.readouterr()
    for action in plies(env, 4):
        text.step(action)
    expected = str(text.render()).strip()
    assert expected
    shown = capsys.readouterr().out
    assert expected in shown
    assert env.render() is None
    assert expected in capsys.readouterr().out


@every_size
def test_render_needs_a_mode(variant: Variant) -> None:
    env = variant.env()
    env.reset(seed=0)
    with pytest.raises(ValueError, match=r"no render_mode was given to env\(\); there are"):
        env.render()


@random_games
@every_variant
def test_state_is_everything(variant: Variant, seeds: list[int]) -> None:
    """Seat 0's observation, then the hidden part; worlds that play differently differ in it.

    At every ply; where there is but one game, at every fourth.
    """
    step = 4 if len(seeds) == 1 else 1
    game, env = variant.game, variant.env()
    with pytest.raises(RuntimeError, match="state before reset"):
        env.state()
    seen = game.observation.spec.size
    for seed in seeds:
        env.reset(seed=seed)
        for ply, _ in enumerate(plies(env, seed)):
            if ply % step:
                continue
            shown = env.state()
            assert env.state_space.contains(shown)
            assert np.array_equal(shown[:seen], env.observe("player_0")["observation"].ravel())
            if game.observation.privileged_spec is None:
                assert shown.size == seen
                continue
            state = game.from_bytes(env.get_state())
            world = clone(state)
            game.determinize(world, 0, np.uint64(seed ^ 5))
            twin = env.clone()
            twin.set_state(world.tobytes())
            other = twin.state()
            assert np.array_equal(other[:seen], shown[:seen])
            here, there = game.to_dict(state), game.to_dict(world)
            assert np.array_equal(other, shown) == (here == {**there, "seed": here["seed"]})
