"""Every public function of both packages: right arguments, of which one or two are replaced.

`parameters` names for each parameter (`seed`) or parameter of a function (`GameRecord.seed`) a
right value and its possible replacements.
"""

import inspect
import os
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import linkzoo
import linkzoo_training
from linkzoo import Game, GameRecord, Positions, RandomAgent, VecEnv, game_names, get_game
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.resources import find_checkpoint
from tests.common.variants import REFUSED, VARIANTS
from tests.fuzz.positions import EDITIONS, Edition, compile_edition, every_game, trajectory
from tests.fuzz.strategies import short
from tests.fuzz.test_files import FOLDER_NAMES

pytestmark = pytest.mark.slow  # quick: tests/common/test_bad_input.py

# What becomes of a call with a replaced argument.
SAME = "same result"
MAY = "same result, or refused"
ANY = "any result"
WRONG = "refused, by the parameter's name"
# Not called: types that hold what authors of games declare (`check_game` is their test), and
# compiled functions, which are fast because they check nothing.
LEFT_OUT = set(
    "Agent Chance Drawing Event Facts FeatureReason Field FixedOptions Game Graph Guide History "
    "Mask Notation Observation ObservationPart ObservationSpec Options RandomAgent Record Rules "
    "ScoreRow VecStep compiled rng.philox rng.random_u64 rng.below rng.shuffle rng.game_seed "
    "rng.as_words rng.Word "
    "load_positions save_positions".split()  # files: tests/training/test_positions.py
)
_NO_NUMBERS: list[Any] = [
    *(b"1", {}, float("nan"), float("inf"), 1j, 10**30, -(10**30), "\u0661", "x"),
    *(np.timedelta64(1, "s"), np.array([1.5]), True, "1", ["1"], object()),
]
_NO_WORDS: list[Any] = ["x", "", 1, [], b"x", np.zeros(2), {}, "win ", "Win", "no", 2.5]
_NO_NAMES: list[Any] = [
    *(None, 5, b"x", {}, ..., 1.5, object(), "x" * 100_000, "\0", "\ud800", "", " ", "é"),
    *("../x", "os:path", "no.such:GAME", ":", "/", "~", ".", "nobody"),
]
_NO_AGENTS = (
    "uct- uct-0 uct--1 uct-1.5 mc-0 Uct-2 uct uct-² checkpoint:0 checkpoint@0 checkpoint@99999 "
    "checkpoint~nan checkpoint~-1 checkpoint~1e3 checkpoint:99999999999 linear:-1 x.json"
).split()
_NO_PLIES = ["x", "4-2", -1, "-", "", "9" * 20, "1-", "\u0661", "0\n", " 0", "0-9999999", [0], 5]


@dataclass(frozen=True)
class Parameter:
    """A right argument, its replacements with their outcomes, and words of the refusals."""

    right: Any
    replacements: list[tuple[str, Any]]
    words: list[str]


def _parameter(
    right: Any,
    words: str,
    wrong: Iterable[Any],
    *,
    same: Iterable[Any] = (),
    may: Iterable[Any] = (),
    any_result: Iterable[Any] = (),
) -> Parameter:
    groups = {WRONG: wrong, SAME: same, MAY: may, ANY: any_result}
    replacements = [(outcome, value) for outcome, values in groups.items() for value in values]
    return Parameter(right, replacements, words.split())


def _integer(right: int, low: int, high: int, words: str, *wrong: Any) -> Parameter:
    """An integer in a range."""
    return _parameter(
        right,
        words,
        [low - 1, high + 1, right + 0.5, *wrong, *_NO_NUMBERS],
        same=[np.int64(right), np.int32(right)],
        may=[float(right), np.array(right), np.uint64(right)],
    )


def _layouts(array: NDArray[Any]) -> list[Any]:
    """Returns the same numbers read-only, strided and backwards in memory."""
    read_only = array.copy()
    read_only.flags.writeable = False
    return [read_only, np.repeat(array, 2)[::2], array[::-1].copy()[::-1]]


def _no_arrays(array: NDArray[Any]) -> list[Any]:
    """Returns other shapes and types, and values that are no arrays."""
    shapes = [array[0], array[None], array[:, None], np.stack([array] * 2)]
    return [*shapes, 5, "x", array.tobytes(), {}, object(), array.astype("O"), [None] * 3, [[0], 1]]


def _array(array: NDArray[Any], words: str, *wrong: Any) -> Parameter:
    """An array of integers."""
    types = [array.astype(dtype) for dtype in ("f8", "?", "U3", "M8[s]", "c16")]
    swapped = array.astype(array.dtype.newbyteorder(">"))
    return _parameter(
        array,
        words,
        [*_no_arrays(array), *types, -1 - array.astype(int), *wrong],
        same=_layouts(array),
        may=[swapped, array.astype("i4"), array.tolist(), tuple(array.tolist())],
    )


@dataclass(frozen=True, eq=False)
class World:
    """The values that right and wrong arguments of a game are made of."""

    game: Game
    states: NDArray[Any]  # [3] running
    over: NDArray[Any]  # [3] finished
    foreign: list[NDArray[Any]]  # of other games, and of other editions of this game
    record: GameRecord
    folders: list[Path]  # of the shipped checkpoint, under odd names


@cache
def world(edition_name: str, folder: Path) -> World:
    """Returns the material for a game's arguments."""
    game = get_game(edition_name)
    states = trajectory(edition_name, 0, 0)
    running = states[[0, len(states) // 2, max(0, len(states) - 4)]].copy()
    others = [edition.game for edition in EDITIONS if edition.game is not game]
    blanks = [
        np.array([other.blank(None, other.fixed.values)] * 3, other.state) for other in others
    ]
    env = linkzoo.make(edition_name)
    env.reset(seed=7)
    for _ in range(3):
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    folders = [folder / f"{edition_name}-{name}" for name in FOLDER_NAMES]
    for link in folders:
        link.symlink_to(find_checkpoint(edition_name))
    return World(game, running, states[[-1] * 3].copy(), blanks, env.record(), folders)


class WrongAgent:
    """An agent with an answer that no agent may give."""

    def __init__(self, answer: Any, name: Any = "wrong") -> None:
        self.name = name
        self._answer = answer

    def act(self, _: Positions) -> Any:
        """Returns the answer."""
        return self._answer


def _agents(w: World) -> Parameter:
    other = next(name for name in game_names() if name != w.game.name)
    answers = [None, 0, [0.5], [[0]], np.zeros(10_000, int), "x", [-1], [10**12], [None]]
    wrong = [
        linkzoo_training.make_agent("checkpoint", other),
        *(None, "random", RandomAgent, object(), 5),
        WrongAgent([0], 5),
        *map(WrongAgent, answers),
    ]
    return _parameter(RandomAgent(), "agent plays played gave wrong int", wrong)


def _specs(w: World) -> dict[str, Parameter]:
    """Parameters that name games, agents and checkpoints."""
    name = w.game.name
    affixes = [f"{name}{end}" for end in ("\n", " ", "~~0", "@@1", "::")]
    wrong = [*_NO_NAMES, [name], f" {name}", name.upper(), *affixes]
    game = _parameter(name, "game agent", wrong, same=[np.str_(name), f"linkzoo.games.{name}:GAME"])
    rules = _parameter(w.game, "game", [None, name, 5, Game])
    folders = [*w.folders, *map(str, w.folders)]
    words = "agent simulations playouts linear"
    agent = _agents(w)
    return {
        "game": game,
        "get_game.name": game,
        "load_policy.game": _parameter(name, "game agent", wrong[1:], same=[None]),
        "Positions.game": rules,
        "register.game": rules,
        "spec": _parameter("uct-2", words, [*wrong, *_NO_AGENTS], same=[AgentSpec.parse("uct-2")]),
        "load_policy.agent": _parameter(
            name, f"{words} checkpoint", [*wrong, *_NO_AGENTS], same=folders
        ),
        "path_or_name": _parameter(
            name, "checkpoint", [*wrong, Path(), Path(__file__)], same=folders
        ),
        "a": agent,
        "b": agent,
        "agent": agent,
        "opponent": _parameter(RandomAgent(), "agent", [RandomAgent, "random", 5]),
    }


def _options(w: World) -> dict[str, Parameter]:
    """Options, as a mapping and as keywords."""
    name = w.game.name
    standard = dict(VARIANTS[name][0][1])
    no_skips: list[Any] = ["no", 1, None, [], {}, np.zeros(2)]
    wrong: list[Any] = [
        *({"skip_forced": value} for value in no_skips),
        *(REFUSED[name][0], {"none": 1}, {"": 1}, {"é": 1}),
    ]
    no_dicts: list[Any] = [5, "x", [("a", 1)], b"x", np.zeros(1), ["a"]]
    words = f"option {' '.join(w.record.options)} none é '' 5 reward"
    mapping = _parameter({}, "options", no_dicts)
    functions = ["get_game", "load_policy", "make_agent", "solve"]
    rewards = [{"reward": value} for value in _NO_WORDS]
    return {
        **{f"{function}.options": mapping for function in functions},
        "options": _parameter(standard, words, no_dicts + wrong, same=[MappingProxyType(standard)]),
        "kwargs": _parameter(standard, words, [*wrong, *rewards]),
    }


def _positions(w: World) -> dict[str, Parameter]:
    """Positions as records and bytes, and arrays with a value for each."""
    data = w.states[0].tobytes()
    no_bytes: list[Any] = [b"", data[:-1], data + b"\0", None, 5, "x", [data], data.hex()]
    foreign_bytes = [states[0].tobytes() for states in w.foreign]
    foreign_records = [states[0] for states in w.foreign]
    no_states = [*_no_arrays(w.states), w.over, *w.foreign, w.states.view("u1")]
    legal = _vector(w.game.name)._now.action_mask.argmax(1)
    return {
        "states": _parameter(w.states, "state position game", no_states, same=_layouts(w.states)),
        "state": _parameter(
            w.states[2],
            "state",
            [*foreign_records, w.states, data, None, 5, {}],
            any_result=[w.over[0]],
        ),
        "data": _parameter(
            data,
            "state bytes board cards position scores",
            [*no_bytes, *foreign_bytes],
            same=[bytearray(data)],
            may=[memoryview(data)],
        ),
        "seeds": _array(np.arange(3, dtype=np.uint64), "seeds", np.arange(2)),
        "actions": _array(legal, "action environment", [0], np.full(3, 2**63, np.uint64)),
        "past_of": _parameter(None, "past_of", [5, "x", [], w.states]),
        "rows": _array(np.arange(3), "row environment", [3], [2**70]),
    }


def _record(w: World) -> dict[str, Parameter]:
    """The fields of a GameRecord."""
    moves = w.record.actions
    no_moves: list[Any] = [
        *(None, 5, "x", [-1], [10**9], [None], [0.0], {}, [[0]], [True], moves * 99),
    ]
    version = w.game.version
    return {
        "GameRecord.actions": _parameter(
            moves, "actions", no_moves, may=[tuple(moves), np.array(moves)]
        ),
        "version": _integer(version, version, version, "version"),
        "digest": _parameter(w.record.digest, "digest", ["x", 5, b"", [], "0" * 13]),
        "start": _parameter(None, "start position game", [5, "x", {}, [], {"game": 1}]),
    }


def _numbers_and_words(w: World) -> dict[str, Parameter]:
    seeds = (0, 2**64 - 1)
    players = w.game.players
    return {
        "check": _parameter(False, "check", [*_NO_WORDS, None]),
        "reward_hook": _parameter(None, "reward_hook", [5, "x", True, b"x", [], {}, object()]),
        "checks": _parameter(False, "checks", [*_NO_WORDS, None]),
        "reward": _parameter("win", "reward", [*_NO_WORDS, None]),
        "illegal": _parameter("raise", "illegal", [*_NO_WORDS, None]),
        "render_mode": _parameter("ansi", "render_mode", _NO_WORDS),
        "device": _parameter("cpu", "device cuda", [*_NO_WORDS, None, 0, "CPU", "cuda:x", "cpu "]),
        "num_players": _integer(players[0], *players, "num_players"),
        "num_envs": _integer(3, 1, 2**31 - 1, "num_envs", None),
        "num_threads": _integer(1, 1, 2**15, "num_threads"),
        "seat": _integer(0, 0, players[0] - 1, "seat"),
        "seed": _integer(7, *seeds, "seed"),
        "blocks": _integer(1, 1, 10**29, "blocks", None),
        "openings": _parameter("0", "openings", _NO_PLIES, may=["0-0", 0]),
        "temperature": _parameter(
            0.0, "temperature", [-1.0, 1e12, *_NO_NUMBERS], same=[0, np.float32(0)]
        ),
        "views": _integer(1, 1, 10**6, "views symmetries"),
        "limit": _integer(10**5, 0, 2**63 - 1, "limit", None),
        "length": _integer(3, *seeds, "length", None),
        "index": _integer(3, *seeds, "index", None),
        "indices": _integer(3, *seeds, "index", None),
        "stream": _integer(3, 0, 2**32 - 1, "stream", None),
        "position": _integer(3, 0, 2**32 - 1, "position", None),
        "episode": _integer(3, 0, 2**32 - 1, "position", None),
    }


@cache
def parameters(w: World) -> dict[str, Parameter]:
    """Returns the parameters of all public functions by name, or by function and name."""
    tables = [_specs(w), _options(w), _positions(w), _record(w), _numbers_and_words(w)]
    return {name: parameter for table in tables for name, parameter in table.items()}


def _vector(name: str) -> VecEnv:
    vec = VecEnv(name, 3)
    vec.reset(1)
    return vec


def _set_state(game: str, data: Any) -> bytes:
    env = linkzoo.make(game)
    env.set_state(data)
    return env.get_state()


_METHODS: dict[str, Callable[..., Any]] = {
    "VecEnv.step": lambda game, actions: _vector(game).step(actions),
    "VecEnv.refresh": lambda game, rows: _vector(game).refresh(rows),
    "Game.from_bytes": lambda game, data: get_game(game).from_bytes(data),
    "GameEnv.set_state": _set_state,
}


@cache
def public() -> dict[str, Callable[..., Any]]:
    """Returns the callables that the packages export; for modules, the functions defined there."""
    functions: dict[str, Callable[..., Any]] = {}
    for package in (linkzoo, linkzoo_training):
        for name in package.__all__:
            value = getattr(package, name)
            if isinstance(value, ModuleType):
                inside = _made_in(value)
                functions |= {f"{name}.{inner}": each for inner, each in inside.items()}
            else:
                functions[name] = value
    functions |= _METHODS
    return {name: each for name, each in functions.items() if name not in LEFT_OUT}


def _made_in(module: ModuleType) -> dict[str, Callable[..., Any]]:
    """Returns the public functions of a module, and the constructors made for it."""
    functions = {}
    for name, value in vars(module).items():
        is_constructor = getattr(value, "__qualname__", "").startswith("constructors.<locals>")
        is_own = getattr(value, "__module__", "") == module.__name__
        if callable(value) and not name.startswith("_") and (is_constructor or is_own):
            functions[name] = value
    return functions


@cache
def parameters_of(name: str, w: World) -> dict[str, Parameter]:
    """Returns the parameters of a public function; KeyError if the tables lack one."""
    table = parameters(w)
    by_name = {}
    for parameter, about in inspect.signature(public()[name]).parameters.items():
        key = "kwargs" if about.kind is about.VAR_KEYWORD else parameter
        by_name[key] = table.get(f"{name}.{key}") or table[key]
    return by_name


@cache
def functions_for(name: str) -> list[str]:
    """Returns the functions that can be called with a game; each game has its own `_v0` module."""
    names = [function for function in public() if function.partition("_v0")[0] in (function, name)]
    return [each for each in names if each != "solve" or get_game(name).solver is not None]


def _call(name: str, arguments: dict[str, Any]) -> Any:
    keywords = arguments.get("kwargs", {})
    named = {key: value for key, value in arguments.items() if key != "kwargs"}
    return public()[name](**(named | keywords))


def _shown(result: Any, w: World) -> Any:
    """Returns the comparable part of a result; agents act, and environments are reset."""
    if hasattr(result, "reset"):
        observed = result.reset(seed=1)
        return repr((observed, getattr(result, "get_state", lambda: 0)()))
    if isinstance(result, Positions):
        names = ("greedy", "uct-2")
        agents = [RandomAgent(), *(linkzoo_training.make_agent(n, w.game.name) for n in names)]
        masks = result.action_mask.tobytes()
        return masks, [checked_actions(agent, result).tolist() for agent in agents]
    if hasattr(result, "act"):
        seeds = np.arange(3, dtype=np.uint64)
        return checked_actions(result, Positions(w.game, w.states, seeds)).tolist()
    if isinstance(result, GameRecord):
        return [state.tobytes() for state in result.replay()]
    if hasattr(result, "win_share"):
        return result.share.tobytes(), result.length.tobytes()
    if hasattr(result, "action_mask"):
        return {key: each.tobytes() for key, each in vars(result).items()}
    return result.key if isinstance(result, Game) else repr(result)


@pytest.fixture(autouse=True)
def compiled(edition: Edition) -> None:
    """Compiles before the examples."""
    compile_edition(edition)


@every_game("linkage")
def test_right_arguments_are_taken(edition: Edition, folder: Path) -> None:
    """A new parameter needs an entry in the tables, a function that isn't called in `LEFT_OUT`."""
    w = world(edition.name, folder)
    for name in functions_for(edition.name):
        right = {key: each.right for key, each in parameters_of(name, w).items()}
        _shown(_call(name, right), w)
    exported = {*linkzoo.__all__, *linkzoo_training.__all__}
    modules = {name for name in linkzoo.__all__ if isinstance(getattr(linkzoo, name), ModuleType)}
    assert exported - modules <= {*public(), *LEFT_OUT}


@every_game("linkage")
@settings(max_examples=100)
@given(st.data())
def test_wrong_arguments_are_refused_by_name(
    edition: Edition, folder: Path, data: st.DataObject
) -> None:
    """In any current folder; a right argument of another type gives the same result."""
    w = world(edition.name, folder)
    name = data.draw(st.sampled_from(functions_for(edition.name)))
    known = parameters_of(name, w)
    right = {key: each.right for key, each in known.items()}
    arguments = dict(right)
    outcomes: dict[str, str] = {}
    if known:
        for key in data.draw(st.sets(st.sampled_from(list(known)), min_size=1, max_size=2)):
            choices = known[key].replacements
            index = data.draw(st.integers(0, len(choices) - 1))
            outcomes[key], arguments[key] = choices[index]
    replaced = [f"{key}={short(arguments[key])} ({outcomes[key]})" for key in outcomes]
    note(f"{name} {', '.join(replaced)}")
    before = Path.cwd()
    os.chdir(data.draw(st.sampled_from([before, before, before, folder])))
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*was trained for")
            result = _shown(_call(name, arguments), w)
            if ANY not in outcomes.values() and WRONG not in outcomes.values():
                assert result == _shown(_call(name, right), w), "another result"
    except ValueError as error:
        message = str(error)
    else:
        assert WRONG not in outcomes.values(), "a wrong argument was accepted"
        return
    finally:
        os.chdir(before)
    assert {WRONG, MAY} & set(outcomes.values()), f"refused: {message}"
    words = [word for key in outcomes for word in known[key].words]
    is_named = any(word.lower() in message.lower() for word in words)
    assert is_named, f"the message names nothing of {words}: {message}"
