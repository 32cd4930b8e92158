"""Every public function of both packages: right arguments, of which one or two are replaced.

`generators` say by a parameter's name (or `function.parameter`) what stands for its right value:
`SAME` must give the same result, `MAY` gives the same or is refused, `ANY` is right by itself, and
`WRONG` must be refused with a message that names the parameter.
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
from numpy.typing import NDArray

import linkzoo
import linkzoo_training
from linkzoo import Game, GameRecord, Positions, RandomAgent, VecEnv, get_game
from linkzoo.registry import NAMES
from linkzoo_training.agents.playing import checked_actions
from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.resources import shipped
from tests.common.variants import REFUSED, VARIANTS
from tests.fuzz import positions
from tests.fuzz.dice import Dice, short

SAME, MAY, WRONG, ANY = "same", "may", "wrong", "any"
ODD = ["a b", "ü", "x:5", "x~0.5", "x@2", "x@2:5", "-x", "%41", "'", "日本", "y" * 200]
# What isn't called: types that hold what authors of games declare (`check_game` is their test), and
# compiled functions, which are fast because they check nothing.
LEFT_OUT = set(
    "Agent Drawing Facts Field FixedOptions Game Graph Guide Mask Notation Observation "
    "ObservationPart ObservationSpec Options RandomAgent Record Rules ScoreRow VecStep compiled "
    "rng.philox rng.random_u64 rng.below rng.shuffle rng.game_seed "
    "rng.as_words rng.Word "
    "load_positions save_positions".split()  # files: tests/training/test_positions.py
)
_NUMBERS: list[Any] = [b"1", {}, float("nan"), float("inf"), 1j, 10**30, -(10**30), "\u0661", "x"]
_NUMBERS += [np.timedelta64(1, "s"), np.array([1.5]), True, "1", ["1"], object()]
_WORDS: list[Any] = ["x", "", 1, [], b"x", np.zeros(2), {}, "win ", "Win", "no", 2.5]
_NAMES: list[Any] = [None, 5, b"x", {}, ..., 1.5, object(), "x" * 100_000, "\0", "\ud800"]
_NAMES += "| |é|../x|os:path|no.such:GAME|:|/|~|.|nobody".split("|")
_AGENTS = (
    "uct- uct-0 uct--1 uct-1.5 mc-0 Uct-2 uct uct-² checkpoint:0 checkpoint@0 checkpoint@99999"
)
_AGENTS += " checkpoint~nan checkpoint~-1 checkpoint~1e3 checkpoint:99999999999 linear:-1 x.json"
_PLIES = ["x", "4-2", -1, "-", "", "9" * 20, "1-", "\u0661", "0\n", " 0", "0-9999999", [0], 5, 0.5]


@dataclass(frozen=True, eq=False)
class World:
    """What right and wrong arguments are made of."""

    rules: Game
    states: NDArray[Any]  # [3] running
    over: NDArray[Any]  # [3] finished
    foreign: list[NDArray[Any]]  # of other games and of another board or other cards
    record: GameRecord
    places: list[Path]  # of the shipped checkpoint, under odd names


@dataclass(frozen=True)
class Choices:
    """A right argument, others with what becomes of them, and words that a message has to have."""

    plain: Any
    others: list[tuple[str, Any]]
    words: str


def _case(plain: Any, words: str, wrong: Iterable[Any], **others: Iterable[Any]) -> Choices:
    groups = {WRONG: wrong, **others}
    return Choices(plain, [(how, one) for how, each in groups.items() for one in each], words)


def _integer(plain: int, low: int, high: int, words: str, *more: Any) -> Choices:
    wrong = [low - 1, high + 1, plain + 0.5, *more, *_NUMBERS]
    may = [float(plain), np.array(plain), np.uint64(plain)]
    return _case(plain, words, wrong, same=[np.int64(plain), np.int32(plain)], may=may)


def _layouts(array: NDArray[Any]) -> list[Any]:
    """The same numbers read-only, strided and backwards."""
    frozen = array.copy()
    frozen.flags.writeable = False
    return [frozen, np.repeat(array, 2)[::2], array[::-1].copy()[::-1]]


def _no_array(array: NDArray[Any]) -> list[Any]:
    """Other shapes and types, and no arrays."""
    shapes = [array[0], array[None], array[:, None], np.stack([array] * 2)]
    return [*shapes, 5, "x", array.tobytes(), {}, object(), array.astype("O"), [None] * 3, [[0], 1]]


def _numbers(array: NDArray[Any], words: str, *more: Any) -> Choices:
    kinds, swapped = ["f8", "?", "U3", "M8[s]", "c16"], array.astype(array.dtype.newbyteorder(">"))
    wrong = [
        *_no_array(array),
        *(array.astype(kind) for kind in kinds),
        -1 - array.astype(int),
        *more,
    ]
    may = [swapped, array.astype("i4"), array.tolist(), tuple(array.tolist())]
    return _case(array, words, wrong, same=_layouts(array), may=may)


class _Bad:
    """An agent that gives what none may give."""

    def __init__(self, answer: Any, name: Any = "bad") -> None:
        self.name, self._answer = name, answer

    def act(self, _: Positions) -> Any:
        return self._answer


@cache
def generators(w: World) -> dict[str, Choices]:
    """The arguments of each parameter."""
    rules, name, record, data = w.rules, w.rules.name, w.record, w.states[0].tobytes()
    other, any_int, moves = get_game(NAMES[name == NAMES[0]]), (0, 2**64 - 1), w.record.actions
    affixes = [f"{name}{end}" for end in ("\n", " ", "~~0", "@@1", "::")]
    names = [*_NAMES, [name], f" {name}", name.upper(), *affixes]
    game = _case(name, "game agent", names, same=[np.str_(name), f"linkzoo.games.{name}:GAME"])
    answers = [None, 0, [0.5], [[0]], np.zeros(10_000, int), "x", [-1], [10**12], [None]]
    agents = [
        make("checkpoint", other.name),
        None,
        "random",
        RandomAgent,
        object(),
        5,
        _Bad([0], 5),
    ]
    agent = _case(RandomAgent(), "agent plays played gave bad int", [*agents, *map(_Bad, answers)])
    standard = dict(VARIANTS[name][0][1])
    bad: list[Any] = ["no", 1, None, [], {}, np.zeros(2)]
    skips: list[Any] = [{"skip_forced": value} for value in bad]
    keywords = [*skips, REFUSED[name][0], {"none": 1}, {"": 1}, {"é": 1}]
    no_dicts: list[Any] = [5, "x", [("a", 1)], b"x", np.zeros(1), ["a"]]
    keys = f"option {' '.join(record.options)} none é '' 5 reward"
    mapping = _case({}, "options", no_dicts)
    states = [*_no_array(w.states), w.over, *w.foreign, w.states.view("u1")]
    bad_bytes = [b"", data[:-1], data + b"\0", None, 5, "x", [data], data.hex()]
    bad_bytes += [other[0].tobytes() for other in w.foreign]
    bad_moves: list[Any] = [
        None,
        5,
        "x",
        [-1],
        [10**9],
        [None],
        [0.0],
        {},
        [[0]],
        [True],
        moves * 99,
    ]
    no_rules = [None, name, 5, rules.rules, Game]
    masks = _vec(name)._now.action_mask
    solvable = [*(each[0] for each in w.foreign), w.states, data, None, 5, {}]
    return {
        **dict.fromkeys(["game", "get_game.name"], game),
        **dict.fromkeys(["Positions.game", "register.game"], _case(rules, "game", no_rules)),
        **dict.fromkeys(["a", "b", "agent"], agent),
        **dict.fromkeys(
            ["get_game.options", "load_policy.options", "make_agent.options", "solve.options"],
            mapping,
        ),
        **{key: _case(False, key, [*_WORDS, None]) for key in ("check", "checks")},
        "reward": _case("win", "reward", [*_WORDS, None]),
        "illegal": _case("raise", "illegal", [*_WORDS, None]),
        "render_mode": _case("ansi", "render_mode", _WORDS),
        "device": _case("cpu", "device cuda", [*_WORDS, None, 0, "CPU", "cuda:x", "cpu "]),
        "num_players": _integer(rules.min_players, *rules.players, "num_players"),
        "num_envs": _integer(3, 1, 2**31 - 1, "num_envs", None),
        "num_threads": _integer(1, 1, 2**15, "num_threads"),
        "seat": _integer(0, 0, rules.min_players - 1, "seat"),
        "opponent": _case(RandomAgent(), "agent", [RandomAgent, "random", 5]),
        "options": _case(standard, keys, no_dicts + keywords, same=[MappingProxyType(standard)]),
        "kwargs": _case(standard, keys, [*keywords, *({"reward": word} for word in _WORDS)]),
        "states": _case(w.states, "state position game", states, same=_layouts(w.states)),
        "seeds": _numbers(np.arange(3, dtype=np.uint64), "seeds", np.arange(2)),
        "actions": _numbers(
            masks.argmax(1), "action environment", [0], np.full(3, 2**63, np.uint64)
        ),
        "rows": _numbers(np.arange(3), "row environment", [3], [2**70]),
        "GameRecord.actions": _case(
            moves, "actions", bad_moves, may=[tuple(moves), np.array(moves)]
        ),
        "version": _integer(rules.version, rules.version, rules.version, "version"),
        "seed": _integer(7, *any_int, "seed"),
        "digest": _case(record.digest, "digest", ["x", 5, b"", [], "0" * 13]),
        "start": _case(None, "start position game", [5, "x", {}, [], {"game": 1}]),
        "blocks": _integer(1, 1, 10**29, "blocks", None),
        "openings": _case("0", "openings", _PLIES, may=["0-0", 0]),
        "spec": _case(
            "uct-2",
            "agent simulations playouts linear",
            [*names, *_AGENTS.split()],
            same=[AgentSpec.parse("uct-2")],
        ),
        "load_policy.game": _case(name, "game agent", names[1:], same=[None]),
        "load_policy.agent": _case(
            name,
            "agent checkpoint simulations playouts linear",
            [*names, *_AGENTS.split()],
            same=[*w.places, *map(str, w.places)],
        ),
        "path_or_name": _case(
            name,
            "checkpoint",
            [*names, Path(), Path(__file__)],
            same=[*w.places, *map(str, w.places)],
        ),
        "temperature": _case(0.0, "temperature", [-1.0, 1e12, *_NUMBERS], same=[0, np.float32(0)]),
        "views": _integer(1, 1, 10**6, "views symmetries"),
        "state": _case(w.states[2], "state", solvable, any=[w.over[0]]),
        "limit": _integer(10**5, 0, 2**63 - 1, "limit", None),
        "data": _case(
            data,
            "state bytes board cards position scores",
            bad_bytes,
            same=[bytearray(data)],
            may=[memoryview(data)],
        ),
        **{key: _integer(3, *any_int, key, None) for key in ("length", "index")},
        "indices": _integer(3, *any_int, "index", None),
        **{key: _integer(3, 0, 2**32 - 1, key, None) for key in ("stream", "position")},
        "episode": _integer(3, 0, 2**32 - 1, "position", None),
    }


def _vec(game: str) -> VecEnv:
    vec = VecEnv(game, 3)
    vec.reset(1)
    return vec


def _set_state(game: str, data: Any) -> Any:
    env = linkzoo.make(game)
    env.set_state(data)
    return env.get_state()


METHODS: dict[str, Callable[..., Any]] = {
    "VecEnv.step": lambda game, actions: _vec(game).step(actions),
    "VecEnv.refresh": lambda game, rows: _vec(game).refresh(rows),
    "Game.from_bytes": lambda game, data: get_game(game).from_bytes(data),
    "GameEnv.set_state": _set_state,
}


@cache
def public() -> dict[str, Callable[..., Any]]:
    """What the packages export and can be called; of modules, the functions made there."""
    found: dict[str, Callable[..., Any]] = {}
    for package in (linkzoo, linkzoo_training):
        for name in package.__all__:
            value = getattr(package, name)
            if not isinstance(value, ModuleType):
                found[name] = value
                continue
            for inner, each in vars(value).items():
                made = getattr(each, "__qualname__", "").startswith("constructors.<locals>")
                own = made or getattr(each, "__module__", "") == value.__name__
                if own and callable(each) and not inner.startswith("_"):
                    found[f"{name}.{inner}"] = each
    return {name: each for name, each in {**found, **METHODS}.items() if name not in LEFT_OUT}


@cache
def choices(name: str, world: World) -> dict[str, Choices]:
    """The arguments of a public function; KeyError for a parameter without a generator."""
    known, found = generators(world), {}
    for parameter, about in inspect.signature(public()[name]).parameters.items():
        key = "kwargs" if about.kind is about.VAR_KEYWORD else parameter
        found[key] = known[f"{name}.{key}" if f"{name}.{key}" in known else key]
    return found


def make(spec: Any, game: str) -> Any:
    """An agent."""
    return linkzoo_training.make_agent(spec, game)


@cache
def tried(game: str) -> list[str]:
    """The functions that a game can be tried with."""
    left = {"solve"} if get_game(game).solver is None else set()
    return [
        name for name in public() if name.partition("_v0")[0] in (name, game) and name not in left
    ]


def warm(game: str, folder: Path) -> None:
    """Compiles, and calls each function with the right arguments."""
    where = world(game, folder)
    for name in tried(game):
        _seen(_call(name, {key: one.plain for key, one in choices(name, where).items()}), where)


@cache
def world(game: str, folder: Path) -> World:
    """What a game's arguments are made of, with files in a folder."""
    rules, states = get_game(game), positions.trajectory(game, 0, 0)
    running = states[[0, len(states) // 2, max(0, len(states) - 4)]].copy()
    others = {*map(get_game, NAMES), *(variant.game for variant in positions.variants(game))}
    blanks = [(other.blank(None, other.fixed.values), other.state) for other in others - {rules}]
    env = linkzoo.make(game)
    env.reset(seed=7)
    for _ in range(3):
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
    places = [folder / f"{game}-{name}" for name in ODD]
    for place in places:
        if not place.exists():
            place.symlink_to(shipped("checkpoints") / game)
    foreign = [np.array([blank] * 3, dtype) for blank, dtype in blanks]
    return World(rules, running, states[[-1] * 3].copy(), foreign, env.record(), places)


def _call(name: str, given: dict[str, Any]) -> Any:
    keywords = given.get("kwargs", {})
    return public()[name](**{key: v for key, v in given.items() if key != "kwargs"} | keywords)


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """One call, now and then in another current folder."""
    name, where, changed = dice.pick(tried(game)), world(game, folder), {}
    known = choices(name, where)
    plain = {key: choice.plain for key, choice in known.items()}
    given = plain.copy()
    for key in {dice.pick(list(known)) for _ in range(dice.pick([1, 1, 1, 2])) if known}:
        changed[key], given[key] = dice.pick(known[key].others)
    dice.note(
        f"{name} {', '.join(f'{key}={short(given[key])} ({changed[key]})' for key in changed)}"
    )
    warnings.filterwarnings("ignore", ".*was trained for")
    before, hows = Path.cwd(), set(changed.values())
    try:
        os.chdir(folder if dice.chance(0.2) else before)
        seen = _seen(_call(name, given), where)
    except ValueError as error:
        said = str(error)
    else:
        assert WRONG not in hows, "a wrong argument was accepted"
        same = ANY in hows or seen == _seen(_call(name, plain), where)
        assert same, "another result than that of the plain one"
        return True
    finally:
        os.chdir(before)
    assert hows & {WRONG, MAY}, f"refused: {said}"
    words = " ".join(known[key].words for key in changed).split()
    told = any(word.lower() in said.lower() for word in words)
    assert told, f"the message names nothing of {words}: {said}"
    return False


def _seen(result: Any, where: World) -> Any:
    """What is compared of a result; agents act, environments are reset."""
    if hasattr(result, "reset"):
        return repr((result.reset(seed=1), getattr(result, "get_state", lambda: 0)()))
    if isinstance(result, Positions):
        agents = [RandomAgent(), *(make(name, where.rules.name) for name in ("greedy", "uct-2"))]
        masks = result.action_mask.tobytes()
        return masks, [checked_actions(agent, result).tolist() for agent in agents]
    if hasattr(result, "act"):
        seeds = np.arange(3, dtype=np.uint64)
        return checked_actions(result, Positions(where.rules, where.states, seeds)).tolist()
    if isinstance(result, GameRecord):
        return [state.tobytes() for state in result.replay()]
    if hasattr(result, "win_share"):
        return result.share.tobytes(), result.length.tobytes()
    if hasattr(result, "action_mask"):
        return {key: each.tobytes() for key, each in vars(result).items()}
    return result.key if isinstance(result, Game) else repr(result)
