"""Positions as bytes, with changed fields, bytes and lengths."""

from pathlib import Path
from typing import Any

import numpy as np

from linkzoo import Game, GameEnv
from linkzoo.core.state import Record
from tests.common.play import snapshot
from tests.fuzz import positions
from tests.fuzz.dice import Dice, mutate_bytes, short


def warm(game: str, folder: Path) -> None:
    """Compiles the rules."""
    positions.warm(game)


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed position goes to `set_state`, `reset` or `from_bytes`."""
    variant, state = positions.position(dice, game)
    data, other = _mutant(dice, game, variant.game, state)
    env = variant.env()
    env.reset(seed=1)
    before, way = snapshot(env), dice.below(3)
    try:
        if way == 0:
            variant.game.from_bytes(data)
            env.set_state(data)
        elif way == 1:
            env.set_state(bytearray(data))  # type: ignore[arg-type]  # taken, not promised
        else:
            env.reset(options={"state": data})
    except ValueError:
        assert snapshot(env) == before, "a refused position changed the environment"
        return False
    assert env.get_state() == data, "the position isn't the one of the bytes"
    assert not other, "a position of other fixed options was accepted"
    _step(dice, env)
    positions.use(dice, variant.game, variant.game.from_bytes(data))
    return True


def _step(dice: Dice, env: GameEnv) -> None:
    """The environment shows the position."""
    env.observe(dice.pick(env.possible_agents))
    env.state()
    env.clone()


def _mutant(dice: Dice, name: str, game: Game, state: Record) -> tuple[bytes, bool]:
    """The bytes, and whether they come from a game with other fixed options."""
    kind = dice.below(10)
    if kind == 0 and game.fixed.values:
        others = [v for v in positions.variants(name) if v.game is not game]
        variant = dice.pick(others)
        index = positions.variants(name).index(variant)
        states = positions.trajectory(name, index, dice.below(2))
        dice.note(f"a position of {variant}")
        return states[dice.below(len(states))].tobytes(), True
    if kind == 1:
        data = mutate_bytes(dice, state.tobytes())
        dice.note(f"bytes {short(data)}")
        return data, False
    for _ in range(1 if dice.chance(0.7) else 1 + dice.below(4)):
        _change_field(dice, state)
    return state.tobytes(), False


def _change_field(dice: Dice, state: Record) -> None:
    """Gives an element of a field a value at the edges of its type, or nearby."""
    name = dice.pick(state.dtype.names or ())
    field: Any = np.atleast_1d(state[name])
    at = tuple(dice.below(length) for length in field.shape)
    limits = np.iinfo(field.dtype)
    low, high = int(limits.min), int(limits.max)
    value = int(field[at])
    edges = [low, low + 1, high, high - 1, 0, 1, -1, 2, 63, 64, 127, 100, value + 1, value - 1]
    edges += [value ^ (1 << dice.below(8 * field.itemsize - 1)), dice.below(256)]
    chosen = min(max(dice.pick(edges), low), high)
    dice.note(f"{name}{list(at)} = {chosen} instead of {value} at ply {state.ply}")
    if np.ndim(state[name]):
        field[at] = chosen
    else:
        state[name] = chosen
