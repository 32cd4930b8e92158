"""Configurations: YAML files, fields and overrides with nasty values."""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import torch
import yaml

from linkzoo.registry import NAMES
from linkzoo_training.config.config import AnyConfig, load_config, read_config
from linkzoo_training.config.fields import flat, merged
from linkzoo_training.resources import shipped
from linkzoo_training.train import make_trainer
from tests.fuzz.dice import (
    FLOATS,
    INTEGERS,
    STRINGS,
    Dice,
    json_value,
    leaves,
    mutate_bytes,
    mutate_text,
    short,
)
from tests.fuzz.subjects.checkpoints import _TINY

_MOST = 1e9  # no count but `seed` and `total_steps` has a use for more
_MOST_FLOAT = 1e30
_USUAL = 10.0  # with floats up to this, an iteration gives numbers
_SMALL = {  # the sizes with which an iteration is tried
    "num_envs": 16,
    "horizon": 32,
    "width": 64,
    "blocks": 4,
    "epochs": 8,
    "window": 32,
    "batch_size": 4096,
    "simulations": 64,
    "pool.size": 64,
    "pool.active": 16,
    "minibatches": 64,
    "reuse": 32,
    "solver_limit": 1000,
    "average": 10**6,
    "num_threads": 10**9,
}
_BEYOND = [float("nan"), float("inf"), 1e308, 1e33, -1.0]
_COMMON = ["gae_lambda", "clip", "eval.blocks", "learning_rate"]


@cache
def _texts() -> dict[str, str]:
    """The shipped configurations."""
    return {path.stem: path.read_text() for path in sorted(shipped("configs").glob("*.yaml"))}


@cache
def _fields() -> list[str]:
    """The names of all fields of all configurations."""
    names = set(_COMMON)
    for name in _texts():
        names |= flat(load_config(name).to_dict()).keys()
    return sorted(names)


def _default(name: str) -> Any:
    """Of a field of PPO's configurations, or None."""
    return flat(read_config(_tiny("ppo")).to_dict()).get(name)


def _tiny(algorithm: str) -> dict[str, Any]:
    base: dict[str, Any] = {**_TINY, "game": NAMES[0], "algorithm": algorithm}
    if algorithm == "alphazero":
        del base["minibatches"]
        base |= {"simulations": [4], "window": 2, "reuse": 1, "batch_size": 32}
    return base


def warm(game: str, folder: Path) -> None:
    """Loads what ships, and trains an iteration with each algorithm."""
    _fields()
    path = folder / "tiny.yaml"
    for algorithm in ("ppo", "alphazero"):
        path.write_text(yaml.safe_dump(_tiny(algorithm)), encoding="utf-8")
        make_trainer(load_config(path)).iterate()


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed file or an override is read; what is accepted and small trains an iteration."""
    path, overrides = folder / "mutant.yaml", []
    kind = dice.below(10)
    if kind < 3:
        text = mutate_text(dice, dice.pick(list(_texts().values())))
        raw = text.encode("utf-8", "surrogatepass")
        path.write_bytes(mutate_bytes(dice, raw) if dice.chance(0.2) else raw)
        dice.note("text of a shipped configuration")
    else:
        data = _tiny(dice.pick(["ppo", "ppo", "alphazero"]))
        overrides = _changed(dice, data)
        path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    try:
        config = load_config(path, overrides)
    except ValueError:
        return False
    _check(config)
    if (
        config.game == NAMES[0]
        and _is_small(flat(config.to_dict()))
        and config.initial_checkpoint is None
    ):
        _trains(config)
    return True


def _changed(dice: Dice, data: dict[str, Any]) -> list[str]:
    """Sets fields to nasty values, in the data or as overrides, which are returned."""
    overrides: list[str] = []
    if dice.chance(0.4):  # what only a bound refuses
        name = dice.pick([name for name in _fields() if isinstance(_default(name), float)])
        number = dice.pick([*_BEYOND, dice.pick(FLOATS)])
        _set(data, name, number)
        dice.note(f"{name}: {number}")
        return overrides
    for _ in range(1 if dice.chance(0.8) else 3):
        name = dice.pick(_fields())
        value = dice.pick(FLOATS) if dice.chance(0.5) else json_value(dice)
        value = dice.pick(INTEGERS) if dice.chance(0.2) else value
        value = {dice.pick(STRINGS): value} if dice.chance(0.05) else value
        value = [value] if dice.chance(0.05) else value
        name = dice.pick([name, dice.pick(STRINGS), f"{name}.x"]) if dice.chance(0.1) else name
        if dice.chance(0.5):
            text = str(value)
            if dice.chance(0.3):
                text = mutate_text(dice, text)
            text = dice.pick(["[", "!!python/name:os.system", "{", "&a [*a]", "*b", "!x 1", text])
            overrides.append(f"{name}={text}" if dice.chance(0.9) else mutate_text(dice, name))
            dice.note(f"override {short(overrides[-1])}")
        else:
            try:
                yaml.safe_dump(value)
            except (yaml.YAMLError, ValueError):
                value = None
            _set(data, name, value)
            dice.note(f"{short(name)}: {short(value)}")
    return overrides


def _set(data: dict[str, Any], name: str, value: Any) -> None:
    """Sets a field, or that of a section: `section.field`."""
    section, dot, last = name.partition(".")
    data |= merged(data, {section: {last: value}} if dot else {name: value})


def _check(config: AnyConfig) -> None:
    """No number is beyond all use."""
    for name, value in flat(config.to_dict()).items():
        if name in ("seed", "total_steps"):
            continue
        for number in leaves(value):
            if isinstance(number, int | float):
                assert math.isfinite(number), f"{name} = {number}"
                most = _MOST if isinstance(number, int) else _MOST_FLOAT
                assert abs(number) <= most, f"{name} = {short(number)}"


def _is_small(data: dict[str, Any]) -> bool:
    sizes = [(_SMALL[name], number) for name in _SMALL for number in leaves(data.get(name, 0))]
    return all(number <= most for most, number in sizes)


def _trains(config: AnyConfig) -> None:
    """An iteration leaves finite weights, and its metrics are numbers."""
    try:
        trainer = make_trainer(config)
    except ValueError:
        return  # this machine can't
    try:
        metrics = trainer.iterate()
    except OSError:
        return  # a league in a folder that can't exist
    numbers = [number for number in leaves(config.to_dict()) if isinstance(number, float)]
    if max(map(abs, numbers)) > _USUAL:
        return
    for name, tensor in trainer.network.state_dict().items():
        assert torch.isfinite(tensor.float()).all(), f"after an iteration {name} isn't finite"
    wrong = [name for name, value in metrics.items() if not np.isfinite(value)]
    assert not wrong, f"metrics that aren't finite: {wrong}"
