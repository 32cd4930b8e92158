"""Bad input to the AEC environment gives a clear error and leaves its state unchanged."""

import json
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest

from linkzoo import GameEnv
from linkzoo.envs.constructors import ParallelEnv
from tests.common.play import finish, plies, snapshot
from tests.common.variants import Variant, every_size, every_size_of_sized_games

NO_ACTIONS: tuple[Any, ...] = (
    1.0,
    1.5,
    True,
    False,
    np.bool_(True),
    None,
    "1",
    [1],
    np.array([1]),
    np.array(1.0),
    np.array(True),
    np.float64(1),
)


NOT_FLAGS: tuple[Any, ...] = ("no", "", 0, 1, None, 0.0, np.bool_(True), np.array(True))


def some_way_in(variant: Variant, seed: int = 1, **kwargs: Any) -> GameEnv:
    """An environment in the middle of a game that has illegal actions."""
    env = variant.env(**kwargs)
    env.reset(seed=seed)
    for ply, _ in enumerate(plies(env, seed)):
        if ply == 2:
            break
    assert not all(env.terminations.values())
    return env


def illegal_action(env: GameEnv) -> int:
    mask = env.infos[env.agent_selection]["action_mask"]
    return int(np.flatnonzero(mask == 0)[-1])


# Illegal actions


@every_size
def test_terminate_makes_the_mover_lose(variant: Variant) -> None:
    env = some_way_in(variant)
    state, record, mover = env.get_state(), env.record(), env.agent_selection
    env.step(illegal_action(env))
    assert (env.get_state(), env.record()) == (state, record)
    assert env.agents == env.possible_agents
    assert all(env.terminations.values())
    assert env.rewards == {agent: -1.0 if agent == mover else 0.0 for agent in env.agents}
    for agent in env.agents:
        assert not env.infos[agent]["action_mask"].any()
        assert not env.observe(agent)["action_mask"].any()
    for agent in env.agent_iter():
        _, reward, terminated, _, _ = env.last()
        assert (reward, terminated) == (-1.0 if agent == mover else 0.0, True)
        env.step(None)
    env.reset(seed=1)  # and the next game is as good as new
    other = variant.env()
    other.reset(seed=1)
    assert finish(env, 3) == finish(other, 3)


@every_size
def test_terminate_pays_the_same_for_the_score(variant: Variant) -> None:
    env = some_way_in(variant, reward="score")
    mover = env.agent_selection
    env.step(illegal_action(env))
    assert env.rewards == {agent: -1.0 if agent == mover else 0.0 for agent in env.agents}


@every_size
def test_raise_changes_nothing(variant: Variant) -> None:
    env = some_way_in(variant, illegal="raise")
    before, action = snapshot(env), illegal_action(env)
    with pytest.raises(ValueError, match=rf"^action {action} \(.+\) of player_\d is illegal$"):
        env.step(action)
    assert snapshot(env) == before
    other = some_way_in(variant)
    assert finish(env, 3) == finish(other, 3)


@every_size
@pytest.mark.parametrize("illegal", ["terminate", "raise"])
def test_what_is_no_action_always_raises(variant: Variant, illegal: str) -> None:
    env = some_way_in(variant, illegal=illegal)
    before, count = snapshot(env), env.game.num_actions
    for action in (-1, count, -count, 2**40, np.int64(-1), np.int64(count)):
        with pytest.raises(ValueError, match=rf"^action {action} of player_\d is not an integer"):
            env.step(action)  # type: ignore[arg-type]
    for wrong in NO_ACTIONS:
        with pytest.raises(ValueError, match=r"^action .* of player_\d is not an integer in 0\.\."):
            env.step(wrong)
    assert snapshot(env) == before


@every_size
def test_every_type_of_integer_is_an_action(variant: Variant) -> None:
    env, other = variant.env(), variant.env()
    env.reset(seed=1)
    other.reset(seed=1)
    types = (np.int64, np.int32, np.uint16, np.intp, int, np.array, partial(np.array, dtype="u2"))
    for ply, action in enumerate(plies(env, 1)):
        given: Any = types[ply % len(types)](action)
        assert other.action_space(other.agent_selection).contains(given)
        other.step(given)
    assert snapshot(env) == snapshot(other)
    assert json.dumps(other.record().actions)


# Order


@every_size
def test_nothing_goes_before_reset(variant: Variant) -> None:
    env = variant.env(render_mode="ansi")
    parallel: Any = ParallelEnv(variant.env())
    assert env.agents == []
    for call in (
        env.agent_iter,
        env.state,
        lambda: env.action_to_text(0),
        lambda: env.text_to_action("PASS"),
        parallel.state,
        lambda: env.step(0),
        lambda: env.observe("player_0"),
        env.last,
        env.render,
        env.get_state,
        env.to_dict,
        env.record,
    ):
        with pytest.raises(RuntimeError, match=r"^\w+ before reset: call reset\(\) first$"):
            call()
    for attribute in (
        lambda: env.last(observe=False),
        lambda: env.rewards["player_0"],
        lambda: list(env.infos),
        lambda: any(env.terminations.values()),
        lambda: len(env.truncations),
        lambda: parallel.agents,
        lambda: parallel.num_agents,
        lambda: parallel.step({}),
    ):
        with pytest.raises(AttributeError, match=r"^\w+ before reset: call reset\(\) first$"):
            attribute()
    with pytest.raises(AttributeError, match="has no attribute 'colour'"):
        _ = env.colour  # type: ignore[attr-defined]
    other: GameEnv = pickle.loads(pickle.dumps(env.clone()))
    other.reset(seed=1)
    assert other.rewards


@every_size
def test_dead_agents_step_with_none(variant: Variant) -> None:
    env = variant.env()
    env.reset(seed=1)
    finish(env, 1)
    for agent in env.agent_iter():
        before = snapshot(env)
        for wrong in (0, 5, False):
            with pytest.raises(ValueError, match=f"{agent} can only step with None"):
                env.step(wrong)
        assert snapshot(env) == before
        env.step(None)
    for action in (None, 0):
        with pytest.raises(RuntimeError, match=r"^step after the end of the game: call reset"):
            env.step(action)
    env.reset()
    assert env.agents == env.possible_agents


# Arguments


@every_size
def test_wrong_arguments(variant: Variant) -> None:
    for name in ("reward", "illegal", "render_mode"):
        with pytest.raises(ValueError, match=rf"^{name}='x' is not one of \["):
            variant.env(**{name: "x"})
    for wrong in NOT_FLAGS:
        with pytest.raises(ValueError, match=r"^checks: .* is not true or false$"):
            variant.env(checks=wrong)


@every_size
def test_wrong_seeds_change_nothing(variant: Variant) -> None:
    env, other = some_way_in(variant), some_way_in(variant)
    before = snapshot(env)
    for seed in (-1, 2**64, 1.0, "1", True, np.float32(2)):
        with pytest.raises(ValueError, match=r"^seed: .* is not "):
            env.reset(seed=seed)  # type: ignore[arg-type]
    assert snapshot(env) == before
    env.reset()
    other.reset()
    assert snapshot(env) == snapshot(other)


@every_size
def test_unknown_agents(variant: Variant) -> None:
    env = some_way_in(variant)
    for call in (env.observe, env.observation_space, env.action_space, env.to_dict):
        with pytest.raises(KeyError, match="player_99"):
            call("player_99")


# Positions to start from


@every_size
def test_start_from_a_position(variant: Variant) -> None:
    source = some_way_in(variant)
    for state in (source.get_state(), bytearray(source.get_state()), source.to_dict()):
        env = variant.env()
        env.reset(seed=3, options={"state": state})
        assert env.get_state() == source.get_state()
        assert snapshot(env) | {"record": 0} == snapshot(source) | {"record": 0}
        assert env.record().start == source.to_dict()
        assert env.record().actions == []
        assert finish(env, 5) == finish(source.clone(), 5)
        env.reset()  # the seeds go on from the one given
        other = variant.env()
        other.reset(seed=3)
        other.reset()
        assert snapshot(env) == snapshot(other)


@every_size
def test_start_from_the_end(variant: Variant) -> None:
    source = variant.env()
    source.reset(seed=1)
    finish(source, 1)
    env = variant.env()
    env.reset(options={"state": source.get_state()})
    assert snapshot(env) | {"record": 0} == snapshot(source) | {"record": 0}
    for _ in env.agent_iter():
        env.step(None)


@every_size
def test_options_of_a_position_hold_for_its_game_only(variant: Variant) -> None:
    """The next reset plays with the options of the constructor."""
    env = variant.env()
    mine = env.game.chosen_options(env.game.blank(None, variant.options))
    skip = not mine["skip_forced"]
    other = Variant(variant.name, variant.num_players, {"skip_forced": skip}).env()
    other.reset(seed=1)
    env.reset(seed=1, options={"state": other.get_state()})
    assert env.record().options["skip_forced"] is skip
    env.reset(seed=1)
    assert env.record().options == mine


@every_size
def test_other_reset_options_are_ignored(variant: Variant) -> None:
    env, other = variant.env(), variant.env()
    other.reset(seed=1)
    for options in ({}, {"state": None}, {"options": 1}):
        env.reset(seed=1, options=options)
        assert snapshot(env) == snapshot(other)


@every_size
def test_broken_positions_are_refused(variant: Variant) -> None:
    env = some_way_in(variant, render_mode="ansi")
    before, data, state = snapshot(env), env.to_dict(), env.get_state()

    def header(**values: int) -> bytes:
        broken = np.frombuffer(bytearray(state), env.game.state)
        for name, value in values.items():
            broken[name] = value
        return broken.tobytes()

    broken: list[Any] = [
        state[:-1],
        state + b"\0",
        b"",
        header(num_players=env.game.max_players + 1),
        header(num_players=0),
        header(seat=variant.num_players),
        header(seat=-2),
        5,
        "position",
        {},
        {**data, "surprise": 1},
        {**data, "game": "chess"},
        {**data, "version": -1},
        {**data, "seed": -1},
        {**data, "seed": "1"},
        {**data, "seat": 99},
        {**data, "ply": 0.5},
        {**data, "num_players": 99},
        {**data, "options": []},
        {**data, "options": {}},
        {**data, "options": {**data["options"], "skip_forced": "no"}},
        *({key: value for key, value in data.items() if key != name} for name in data),
    ]
    for value in broken:
        if isinstance(value, dict) and value.keys() == data.keys() - {"seed"}:
            continue  # what a seat sees; games without hidden information can read it
        with pytest.raises(ValueError, match=r"."):
            env.reset(seed=99, options={"state": value})
        with pytest.raises(ValueError, match=r"."):
            env.set_state(value)
        assert snapshot(env) == before
    other = some_way_in(variant)
    env.reset()
    other.reset()
    assert snapshot(env) == snapshot(other)  # not even the seeds have moved


@every_size_of_sized_games
def test_positions_of_another_number_of_players_are_refused(variant: Variant) -> None:
    game = variant.game
    env = some_way_in(variant)
    before = snapshot(env)
    players = next(
        players
        for players in range(game.min_players, game.max_players + 1)
        if players != variant.num_players
    )
    other = GameEnv(variant.name, players)
    other.reset(seed=1)
    for state in (other.get_state(), other.to_dict()):
        with pytest.raises(ValueError, match=f"a position of {players} players in an environment"):
            env.reset(options={"state": state})
    assert snapshot(env) == before


@every_size
def test_a_mask_that_was_written_into_checks_as_before(variant: Variant) -> None:
    """The masks that callers get are theirs: the check has its own."""
    env = some_way_in(variant, illegal="raise")
    shown = env.infos[env.agent_selection]["action_mask"]
    action = int(shown.argmin())
    shown[:] = 1
    with pytest.raises(ValueError, match="is illegal"):
        env.step(action)
