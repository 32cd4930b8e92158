"""Damaged positions: accepted ones must be playable, refused ones must change nothing."""

import copy
from collections.abc import Iterator
from typing import Any

import numpy as np

from linkzoo import Game, GameEnv
from linkzoo.core.kernels import kernels
from tests.common.play import plies
from tests.common.variants import Variant

Json = Any


def positions(variant: Variant, seed: int, count: int) -> list[bytes]:
    """Positions of one random game, spread over all of it, the last one included."""
    env = variant.env()
    env.reset(seed=seed)
    states = [env.get_state() for _ in plies(env, seed)] + [env.get_state()]
    return [states[i] for i in np.linspace(0, len(states) - 1, min(count, len(states))).astype(int)]


def damaged_bytes(game: Game, data: bytes, rng: np.random.Generator, count: int) -> Iterator[bytes]:
    """Positions with one number changed: to an extreme, by one, at random, or to another's."""
    for _ in range(count):
        state = np.frombuffer(bytearray(data), game.state)
        names = [str(name) for name in game.state.names or ()]
        name = names[rng.integers(len(names))]
        numbers = state[name].reshape(-1)
        if rng.integers(8) == 0:
            raw = state.view(np.uint8)
            raw[rng.integers(raw.size)] = rng.integers(256)
        else:
            info = np.iinfo(numbers.dtype)
            at = int(rng.integers(numbers.size))
            old = int(numbers[at])
            anything = int(rng.integers(info.min, info.max, dtype=numbers.dtype))
            another = int(numbers[rng.integers(numbers.size)])
            values = [info.min, info.max, old - 1, old + 1, 0, -1, 1, another, anything]
            value = values[rng.integers(len(values))]
            numbers[at] = min(max(value, info.min), info.max)
            if rng.integers(3) == 0 and numbers.size > 1:
                other = int(rng.integers(numbers.size))
                numbers[at], numbers[other] = old, numbers[at]
        if state.tobytes() != data:
            yield state.tobytes()


def damaged_json(data: Json, other: Json, rng: np.random.Generator) -> Json:
    """A position with one value changed, moved, dropped, added, or taken from another position."""
    found = copy.deepcopy(data)
    paths = list(_paths(found))
    path = paths[rng.integers(len(paths))]
    parent = _at(found, path[:-1])
    key = path[-1]
    kind = int(rng.integers(6))
    if kind == 0 and isinstance(parent, list) and len(parent) > 1:
        to = int(rng.integers(len(parent)))
        parent[key], parent[to] = parent[to], parent[key]
    elif kind == 1 and isinstance(parent, list):
        del parent[key]
    elif kind == 2 and isinstance(parent, list):
        parent.insert(key, copy.deepcopy(parent[key]))
    elif kind == 3:
        values = [_at(found, p) for p in paths if len(p) == len(path) and p[0] == path[0]]
        parent[key] = copy.deepcopy(values[rng.integers(len(values))])
    elif kind == 4:
        parent[key] = copy.deepcopy(_at(other, path)) if _has(other, path) else None
    else:
        parent[key] = _changed(parent[key], rng)
    return found


def _changed(value: Json, rng: np.random.Generator) -> Json:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value + int(rng.choice([-1, 1, 5, -value, -value - 1]))
    return [None, 0, [], value][rng.integers(4)]


def _paths(data: Json, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    items = data.items() if isinstance(data, dict) else enumerate(data)
    for key, value in items:
        yield (*path, key)
        if isinstance(value, dict | list):
            yield from _paths(value, (*path, key))


def _at(data: Json, path: tuple[Any, ...]) -> Json:
    for key in path:
        data = data[key]
    return data


def _has(data: Json, path: tuple[Any, ...]) -> bool:
    try:
        _at(data, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def play_to_the_end(game: Game, state: np.record, seed: int) -> int:
    """Plays random moves; asserts that there is always one, and that the game ends in time."""
    states = state.reshape(1).copy()
    players = int(state["num_players"])
    kernel, rng = kernels(game), np.random.default_rng(seed)
    mask = np.zeros((1, game.num_actions), np.int8)
    payoffs, margins = np.zeros(players, np.float32), np.zeros(players, np.float32)
    out = np.empty(game.observation.spec.shape, game.observation.spec.dtype)
    space = game.observation.spec.space()
    kernel.fill_masks.serial(states, mask)
    count = 0
    while states["seat"][0] >= 0:
        assert mask.any(), "nothing is legal"
        assert count <= game.facts.max_length, "no end"
        if count % 16 == 0:
            seat = int(rng.integers(players))
            kernel.observe_one(states, seat, out)
            assert space.contains(out), "out of bounds"
            world = states.copy()
            game.determinize(world[0], seat, np.uint64(count))
            assert game.from_bytes(world.tobytes()).tobytes() == world.tobytes()
        kernel.play_one(states, int(rng.choice(np.flatnonzero(mask[0]))), mask[0], payoffs, margins)
        count += 1
    assert abs(payoffs.sum()) < 1e-4
    return count


def try_bytes(env: GameEnv, data: bytes, seed: int) -> bool:
    """Whether a position is accepted; if so it is played, if not nothing has changed."""
    before = env.get_state()
    try:
        env.set_state(data)
    except ValueError:
        assert env.get_state() == before
        return False
    game = env.game
    state = game.from_bytes(data)
    assert game.from_dict(game.to_dict(state)).tobytes() == data, "its JSON is another position"
    game.drawing.text(state, None)
    play_to_the_end(game, state, seed)
    env.set_state(before)
    return True


def try_json(env: GameEnv, data: Json, seed: int) -> bool:
    """The same for JSON data."""
    before = env.get_state()
    try:
        env.set_state(data)
    except ValueError:
        assert env.get_state() == before
        return False
    state = env.game.from_bytes(env.get_state())
    again = env.game.to_dict(state)
    assert env.game.from_dict(again).tobytes() == state.tobytes()
    play_to_the_end(env.game, state, seed)
    env.set_state(before)
    return True
