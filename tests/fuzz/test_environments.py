"""Environments of every kind, with wrong calls between right ones."""

import copy
import pickle
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

import linkzoo
from linkzoo import GameEnv, SeatEnv, VecEnv, get_game
from linkzoo.engine.threads import MAX_THREADS
from tests.common.play import snapshot
from tests.fuzz.positions import Edition, compile_edition, every_game, positions
from tests.fuzz.strategies import any_values, consoles, short

_MOST_GAMES = 10_000  # of a vector; more only take memory
_KEYWORDS: dict[type, list[str]] = {
    GameEnv: ["reward", "illegal", "render_mode"],
    VecEnv: ["num_envs", "device", "reward", "num_threads"],
    SeatEnv: ["seat", "reward", "illegal", "render_mode"],
}
seeds = st.integers(0, 2**53 - 1)


@pytest.fixture(autouse=True)
def compiled(edition: Edition) -> None:
    """Compiles before the examples."""
    compile_edition(edition)


def _refused(text: str, call: Callable[[], Any]) -> bool:
    """Whether the call raises an error that a wrong call may raise."""
    note(text)
    try:
        call()
    except ValueError:
        return True
    except RuntimeError as error:
        if "reset()" not in str(error):
            raise
        return True
    except KeyError as error:  # of agents, as in PettingZoo
        if "player_0" not in str(error):  # an agent that exists
            raise
        return True
    return False


@every_game("love_formula")
@settings(max_examples=25)
@given(st.data())
def test_constructors_refuse_or_make(edition: Edition, data: st.DataObject) -> None:
    """An environment that was made with wrong arguments can be reset."""
    variant = data.draw(st.sampled_from(edition.variants))
    kind: Any = data.draw(st.sampled_from(list(_KEYWORDS)))
    arguments: dict[str, Any] = {
        "game": edition.name,
        "num_players": variant.num_players,
        **variant.options,
    }
    if kind is VecEnv:
        arguments["num_envs"] = 2
    options = list(edition.game.options.__dataclass_fields__)
    names = st.sampled_from(["num_players", "game", *options, *_KEYWORDS[kind]])
    for name in data.draw(st.lists(names, min_size=1, max_size=2)):
        value = data.draw(any_values)
        is_integer = isinstance(value, int | np.integer)
        if name != "num_envs" or not is_integer or value <= _MOST_GAMES:
            arguments[name] = value
    made: list[Any] = []
    name = arguments.pop("game")
    text = f"{kind.__name__} of {short(name)}, {short(arguments)}"
    if not _refused(text, lambda: made.append(kind(name, **arguments))):
        made[0].reset(seed=1)


@every_game("link_o")
@settings(max_examples=25)
@given(st.data())
def test_wrong_calls_leave_a_game_as_it_was(edition: Edition, data: st.DataObject) -> None:
    """Between legal steps, on the environment itself and on its copies, on any console."""
    position = data.draw(positions(edition))
    illegal = data.draw(st.sampled_from(["raise", "terminate"]))
    modes = st.sampled_from([None, "human", "ansi", "svg"])
    env = position.variant.env(illegal=illegal, render_mode=data.draw(modes))
    if data.draw(st.integers(0, 9)):
        env.reset(seed=data.draw(seeds))
    if data.draw(st.booleans()):
        env.set_state(position.state.tobytes())
    console = data.draw(consoles)
    for _ in range(data.draw(st.integers(1, 6))):
        before = snapshot(env) if env.agents else None
        wrong = data.draw(any_values)
        agent = data.draw(st.sampled_from([wrong, wrong, *env.possible_agents]))
        calls = _calls(env, wrong, agent)
        name = data.draw(st.sampled_from(list(calls)))
        if name == "step" and illegal == "terminate" and isinstance(wrong, int | np.integer):
            continue  # ends the game, as it should
        with redirect_stdout(console):
            refused = _refused(f"{name}({short(wrong)})", calls[name])
        if refused:
            assert before is None or snapshot(env) == before, f"{name} changed the environment"
        env = data.draw(st.sampled_from(_COPIES))(env)
        if env.agents and not env.terminations[env.agent_selection]:
            legal = np.flatnonzero(env.infos[env.agent_selection]["action_mask"])
            number_type = data.draw(st.sampled_from([int, np.int16, np.uint64]))
            env.step(number_type(data.draw(st.sampled_from(legal.tolist()))))


_COPIES: list[Callable[[Any], Any]] = [
    lambda env: env,
    lambda env: env.clone(),
    copy.deepcopy,
    lambda env: pickle.loads(pickle.dumps(env)),
]


def _calls(env: GameEnv, wrong: Any, agent: Any) -> dict[str, Callable[[], Any]]:
    """Returns every public method with a wrong argument, or an agent that may be wrong."""
    return {
        "step": lambda: env.step(wrong),
        "reset seed": lambda: env.reset(seed=wrong),
        "reset options": lambda: env.reset(seed=1, options=wrong),
        "reset state": lambda: env.reset(seed=1, options={"state": wrong}),
        "set_state": lambda: env.set_state(wrong),
        "observe": lambda: env.observe(agent),
        "observation_space": lambda: env.observation_space(agent),
        "action_space": lambda: env.action_space(agent),
        "to_dict": lambda: env.to_dict(agent),
        "action_to_text": lambda: env.action_to_text(wrong),
        "text_to_action": lambda: env.text_to_action(wrong),
        "render": env.render,
        "record": lambda: env.record().to_dict(),
        "from_bytes": lambda: env.game.from_bytes(wrong),
        "from_dict": lambda: env.game.from_dict(wrong),
        "blank players": lambda: env.game.blank(wrong),
        "blank options": lambda: env.game.blank(None, wrong),
        "get_game": lambda: get_game(wrong),
        "get_game options": lambda: get_game(env.game.name, wrong),
        "make": lambda: linkzoo.make(wrong),
    }


@every_game("love_links")
@settings(max_examples=25)
@given(st.data())
def test_wrong_calls_leave_a_vector_as_it_was(edition: Edition, data: st.DataObject) -> None:
    """Between steps; copies show the same, with any number of threads."""
    variant = data.draw(st.sampled_from(edition.variants))
    count = data.draw(st.integers(1, 6))
    threads = data.draw(st.sampled_from([None, 1, MAX_THREADS]))
    vec = VecEnv(edition.name, count, variant.num_players, num_threads=threads, **variant.options)
    if data.draw(st.integers(0, 9)):
        vec.reset(data.draw(seeds))
    actions = st.lists(st.just(0) | any_values, min_size=count, max_size=count)
    for _ in range(data.draw(st.integers(1, 6))):
        wrong: Any = data.draw(any_values | actions)
        calls: dict[str, Callable[[], Any]] = {
            "step": partial(vec.step, wrong),
            "reset": partial(vec.reset, wrong),
            "seed_of": partial(vec.seed_of, wrong, 0),
        }
        name = data.draw(st.sampled_from(["step", "step", "reset", "seed_of"]))
        before = _shown(vec)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Warning: converting a masked element")  # NumPy's
            if _refused(f"VecEnv.{name}({short(wrong)})", calls[name]):
                assert _shown(vec) == before, f"VecEnv.{name} changed the games"
        if not vec._started:
            vec.reset(data.draw(seeds))
        _check_copy(vec, data.draw(st.sampled_from([_COPIES[2], _COPIES[3]])))


def _check_copy(vec: VecEnv, make_copy: Callable[[Any], Any]) -> None:
    """A copy that is stepped shows the same as the vector itself."""
    other = make_copy(vec)
    actions = vec._now.action_mask.argmax(1)
    step = vars(vec.step(actions))
    step_of_copy = vars(other.step(actions))
    for name in step:
        same = np.array_equal(step[name], step_of_copy[name])
        assert same, f"a copy of a VecEnv shows another {name}"


def _shown(vec: VecEnv) -> tuple[Any, ...]:
    """Everything that a vector environment holds, to compare with `==`."""
    arrays = (vec.states, vec.episodes, *vars(vec._now).values())
    return (int(vec._seed[0]), vec._started, *(array.tobytes() for array in arrays))


@every_game("linkage")
@settings(max_examples=25)
@given(st.data())
def test_wrong_calls_leave_a_seat_as_it_was(edition: Edition, data: st.DataObject) -> None:
    """SeatEnv keeps its game and its seat when a call is refused."""
    variant = data.draw(st.sampled_from(edition.variants))
    seat = data.draw(st.sampled_from([None, *range(variant.num_players)]))
    env = SeatEnv(edition.name, variant.num_players, seat=seat, illegal="raise", **variant.options)
    over = True
    for _ in range(4):
        if over:
            env.reset(seed=data.draw(seeds))
        before = (env.agent, env.env.get_state())
        wrong = data.draw(any_values)
        calls: list[Callable[[], Any]] = [
            partial(env.step, wrong),
            partial(env.reset, seed=wrong),
            partial(env.reset, seed=1, options=wrong),
            partial(env.reset, seed=1, options={"state": wrong}),
        ]
        if _refused(f"SeatEnv({short(wrong)})", data.draw(st.sampled_from(calls))):
            after = (env.agent, env.env.get_state())
            assert after == before, "a refused call changed the game or the seat"
        over = bool(env.env.terminations[env.agent])
        if not over:
            over = env.step(int(env.action_masks().argmax()))[2]
