"""Positions as JSON data, with changed values, keys and lists."""

import json
from pathlib import Path
from typing import Any

from linkzoo import Game
from linkzoo.core.state import Record
from tests.common.play import snapshot
from tests.fuzz import positions
from tests.fuzz.dice import Dice, mutate_json, same, short


def warm(game: str, folder: Path) -> None:
    """Compiles the rules."""
    positions.warm(game)


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed position goes to `from_dict`, or to an environment."""
    variant, state = positions.position(dice, game)
    rules = variant.game
    seat = dice.below(variant.num_players) if dice.chance(0.1) else None
    data = rules.to_dict(state, seat)
    mutant = mutate_json(dice, data, rules.to_dict(_donor(dice, game, rules, state)))
    dice.note(_differences(data, mutant) or "nothing changed")
    if dice.chance(0.1):
        env = variant.env()
        env.reset(seed=1)
        before = snapshot(env)
        try:
            env.set_state(mutant)
        except ValueError:
            assert snapshot(env) == before, "a refused position changed the environment"
            return False
    try:
        read = rules.from_dict(mutant)
    except ValueError:
        return False
    told = json.loads(json.dumps(rules.to_dict(read)))
    plain = json.loads(json.dumps(mutant))
    kept = {name: told[name] for name in plain}
    plain, kept = _sorted(plain), _sorted(kept)  # of many lists the order says nothing
    # What only the referee knows, a seat's position doesn't say.
    assert seat is not None or same(kept, plain), f"read as {_differences(plain, kept)}"
    positions.use(dice, rules, read)
    return True


def _donor(dice: Dice, game: str, rules: Game, state: Record) -> Record:
    """Another position of the same kind, if some try finds one."""
    for _ in range(10):
        variant, other = positions.position(dice, game)
        if variant.game is rules and other.num_players == state.num_players:
            return other
    return state


def _sorted(data: Any) -> Any:
    """JSON data with all lists in an order that depends on what they hold alone."""
    if isinstance(data, dict):
        return {key: _sorted(value) for key, value in data.items()}
    return sorted(map(_sorted, data), key=json.dumps) if isinstance(data, list) else data


def _differences(one: Any, other: Any, path: str = "") -> str:
    """Where two JSON data differ, in short."""
    if isinstance(one, dict) and isinstance(other, dict):
        keys = [*one, *(key for key in other if key not in one)]
        parts = [_differences(one.get(k, ...), other.get(k, ...), f"{path}.{k}") for k in keys]
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        parts = [
            _differences(a, b, f"{path}[{i}]")
            for i, (a, b) in enumerate(zip(one, other, strict=True))
        ]
    else:
        parts = [] if same(one, other) else [f"{path}: {short(one)} -> {short(other)}"]
    return "; ".join(part for part in parts if part)
