"""Values of the wrong type are refused by name at every entry point."""

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo import GameEnv, GameRecord, SeatEnv, VecEnv, game_names, get_game
from tests import broken

NO_ACTIONS: list[Any] = [
    *(np.timedelta64(0, "s"), np.datetime64(0, "s"), 0.0, np.float32(0), True, np.bool_(0)),
    *("0", b"0", [0], (0,), {}, np.zeros(1, np.int64), np.array(0.0), np.array(True)),
    *(10**30, -1, float("nan"), ...),
]


@pytest.fixture(params=game_names())
def env(request: pytest.FixtureRequest) -> GameEnv:
    made = GameEnv(request.param)
    made.reset(seed=1)
    return made


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_no_action(env: GameEnv, action: Any) -> None:
    """NumPy takes `np.timedelta64` for an np.integer; it is refused as well."""
    before = env.get_state()
    with pytest.raises(ValueError, match="action"):
        env.step(action)
    with pytest.raises(ValueError, match="action"):
        env.action_to_text(action)
    assert env.get_state() == before


@pytest.mark.parametrize("options", [5, "state", [1], ...], ids=repr)
def test_options_of_reset(env: GameEnv, options: Any) -> None:
    before = env.get_state()
    with pytest.raises(ValueError, match=r"options=.* is not a dict"):
        env.reset(options=options)
    assert env.get_state() == before
    with pytest.raises(ValueError, match=r"options=.* is not a dict"):
        SeatEnv(env.game.name).reset(options=options)


@pytest.mark.parametrize("state", [5, "state", [1], b"", {}, np.timedelta64(0, "s")], ids=repr)
def test_no_position(env: GameEnv, state: Any) -> None:
    before = env.get_state()
    with pytest.raises(ValueError, match=r"state of|position: "):
        env.set_state(state)
    assert env.get_state() == before


def test_keys_of_a_position(env: GameEnv) -> None:
    """Each is required but the seed, and points that follow from others; no other is known."""
    game, data = env.game, env.to_dict()
    for name in data.keys() - {"seed", "vp"}:
        broken.refuses(game, {key: value for key, value in data.items() if key != name}, name)
    broken.refuses(game, data | {"colour": "W"}, "colour")
    broken.refuses(game, data | {"options": data["options"] | {"wrap": True}}, "wrap")
    wrongs: list[Any] = [[], game.name, None]
    for wrong in wrongs:
        broken.refuses(game, wrong, "position")


@pytest.mark.parametrize("text", [None, 5, b"PASS", ["a"], {}, "", "x" * 5000], ids=repr)
def test_no_move(env: GameEnv, text: Any) -> None:
    with pytest.raises(ValueError, match="move"):
        env.text_to_action(text)


@pytest.mark.parametrize("agent", ["x", 0, None, ["player_0"], "player_9"], ids=repr)
def test_unknown_agents(env: GameEnv, agent: Any) -> None:
    """A KeyError lists the agents that exist."""
    calls = [env.observe, env.observation_space, env.action_space]
    for call in calls if agent is None else [*calls, env.to_dict]:
        with pytest.raises(KeyError, match=r"no agent .*; there are \['player_0', 'player_1'\]"):
            call(agent)


@pytest.mark.parametrize("name", [name for name in game_names() if get_game(name).fixed.values])
def test_options_that_name_files(name: str, tmp_path: Path) -> None:
    """Too long, with a null byte, a folder, a binary file, an empty file, no file."""
    (option,) = get_game(name).fixed.values
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    (tmp_path / "empty").write_bytes(b"")
    (tmp_path / "deep").write_text("[" * 100_000)
    files = [str(tmp_path), *(str(tmp_path / file) for file in ("binary", "empty", "deep", "none"))]
    for path in ["x" * 5000, "a\0b", "", "\ud800", *files]:
        with pytest.raises(ValueError, match=option) as error:
            get_game(name, {option: path})
        assert len(str(error.value)) < 1000
    for nothing in (5, None, b"x", ["x"]):
        with pytest.raises(ValueError, match=option):
            get_game(name, {option: nothing})


def test_floats_are_no_integers(env: GameEnv) -> None:
    """`version: 1.0` is refused, as is every other integer of a position as a float or a bool."""
    data = json.loads(json.dumps(env.to_dict()))
    for name, value in data.items():
        if type(value) is int:
            for other in (float(value), bool(value), str(value), [value]):
                with pytest.raises(ValueError, match=name):
                    env.game.from_dict(data | {name: other})
    record = env.record().to_dict()
    for name in ("version", "num_players", "seed"):
        with pytest.raises(ValueError, match=name):
            GameRecord.from_dict(record | {name: float(record[name])})


def deep(depth: int = 3000) -> list[Any]:
    """A list in a list, and so on: deeper than Python recurses."""
    value: list[Any] = []
    for _ in range(depth):
        value = [value]
    return value


def test_errors_are_short(env: GameEnv) -> None:
    """Found by `make fuzz`: a value that is too deep or long to be shown whole."""
    data, record = env.to_dict(), env.record().to_dict()
    values: list[Any] = [deep(), ["x"] * 10**5, {"a": deep()}, "x" * 10**5]
    for wrong in values:
        calls: list[Callable[[], Any]] = [
            partial(env.step, wrong),
            partial(env.reset, wrong),
            partial(env.set_state, wrong),
            partial(env.action_to_text, wrong),
            partial(env.text_to_action, wrong),
            partial(VecEnv, env.game.name, wrong),
            partial(get_game, wrong),
            *(partial(env.game.from_dict, data | {name: wrong}) for name in data),
            *(partial(GameRecord.from_dict, record | {name: wrong}) for name in record),
        ]
        for call in calls:
            with pytest.raises(ValueError) as error:  # noqa: PT011  # the length is what matters
                call()
            assert len(str(error.value)) < 3000


@pytest.mark.parametrize("action", NO_ACTIONS, ids=repr)
def test_no_action_of_a_game(env: GameEnv, action: Any) -> None:
    """Found by `make fuzz`: 0.0 and False are equal to 0, and a list can't be looked up."""
    state = env.game.from_bytes(env.get_state())
    with pytest.raises(ValueError, match="action"):
        env.game.notation.action_to_text(state, action)


@pytest.mark.parametrize("text", [None, 5, b"PASS", ["a"], {}, np.zeros(1)], ids=repr)
def test_no_move_of_a_game(env: GameEnv, text: Any) -> None:
    """Found by `make fuzz`: a list can't be looked up."""
    with pytest.raises(ValueError, match="move"):
        env.game.notation.text_to_action(env.game.from_bytes(env.get_state()), text)


@pytest.mark.parametrize("wrong", [5, 1.5, "x", ["x"], np.zeros(2), ...], ids=repr)
def test_no_bytes_or_options(env: GameEnv, wrong: Any) -> None:
    """Found by `make fuzz`: arguments of a type that nobody thought of."""
    with pytest.raises(ValueError, match="not a state as bytes"):
        env.game.from_bytes(wrong)
    with pytest.raises(ValueError, match=r"options: .* is not a dict"):
        env.game.blank(None, wrong)
    with pytest.raises(ValueError, match=r"options: .* is not a dict"):
        get_game(env.game.name, wrong)


@pytest.mark.parametrize("wrong", [None, -1, 2, 1.0, "0", np.zeros(1), 2**64], ids=repr)
def test_no_seed_of(wrong: Any) -> None:
    """Found by `make fuzz`: types that Numba can't compile, and indices out of range."""
    vec = VecEnv("linkage", 2)
    vec.reset(seed=1)
    with pytest.raises(ValueError, match="index: "):
        vec.seed_of(wrong, 0)
    if wrong != 2:
        with pytest.raises(ValueError, match="episode: "):
            vec.seed_of(0, wrong)


@pytest.mark.parametrize("field", ["options", "seed", "num_players", "actions", "version", "game"])
def test_records_made_by_hand(env: GameEnv, field: str) -> None:
    """Found by `make fuzz`: `replay` checks fields that `from_dict` never saw."""
    values: list[Any] = [None, 1.5, "x", -(2**31), np.array(1.0), np.array(True), np.zeros(3), (1,)]
    for wrong in values:
        record = replace(env.record(), **{field: wrong})
        if field != "options" or wrong is not None:  # None: the standard ones
            with pytest.raises(ValueError, match=f"{field}|no game|ambiguous"):
                list(record.replay())


def test_a_refused_reset_changes_nothing(env: GameEnv) -> None:
    """Found by `make fuzz`: SeatEnv drew another seat before the position was refused."""
    seat = SeatEnv(env.game.name, seat=None)
    seat.reset(seed=0)
    before = (seat.agent, seat.env.get_state(), seat.np_random.bit_generator.state)
    for number in range(5):
        with pytest.raises(ValueError, match=r"position|state"):
            seat.reset(seed=number, options={"state": {}})
        assert (seat.agent, seat.env.get_state(), seat.np_random.bit_generator.state) == before
