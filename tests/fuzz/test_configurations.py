"""Configurations: files, fields and overrides with values that nobody expects."""

import math
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

from linkzoo import game_names
from linkzoo_training.config.config import AnyConfig, load_config, read_config
from linkzoo_training.config.fields import flat, merged
from linkzoo_training.resources import shipped
from linkzoo_training.train import make_trainer
from tests.fuzz.strategies import (
    Draw,
    changed_text,
    damaged_file,
    floats,
    integers,
    json_values,
    leaves,
    short,
    texts,
)

pytestmark = pytest.mark.slow  # quick: tests/training/test_config.py

TINY: dict[str, Any] = {
    "name": "tiny",
    "num_envs": 4,
    "horizon": 8,
    "width": 8,
    "blocks": 1,
    "minibatches": 2,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
    "total_steps": 4 * 8 * 2,
    "save_every": 1000,
    "eval": {
        "every": 1000,
        "opponents": ["random"],
        "blocks": 1,
        "final_opponents": ["random"],
        "final_blocks": 1,
    },
}
_MOST = 1e9  # counts but `seed` and `total_steps` have no use for more
_MOST_FLOAT = 1e30
_USUAL = 10.0  # with floats up to this, an iteration gives finite numbers
_MOST_TRAINED = {  # the sizes with which an iteration is quick
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
_OUT_OF_RANGE = [float("nan"), float("inf"), 1e308, 1e33, -1.0]
_NO_VALUES = ["[", "!!python/name:os.system", "{", "&a [*a]", "*b", "!x 1"]


def _tiny(algorithm: str) -> dict[str, Any]:
    """Returns the data of a configuration with which an iteration takes a moment."""
    data = {**TINY, "game": game_names()[0], "algorithm": algorithm}
    if algorithm == "alphazero":
        del data["minibatches"]
        data |= {"simulations": [4], "window": 2, "reuse": 1, "batch_size": 32}
    return data


@cache
def _texts() -> list[str]:
    """Returns the texts of the shipped configurations."""
    return [path.read_text() for path in sorted(shipped("configs").glob("*.yaml"))]


@cache
def _fields() -> list[str]:
    """Returns the names of all fields: `learning_rate`, `eval.blocks`, and so on."""
    configs = [read_config(_tiny(algorithm)) for algorithm in ("ppo", "alphazero")]
    return sorted({name for config in configs for name in flat(config.to_dict())})


@cache
def _float_fields() -> list[str]:
    numbers = flat(read_config(_tiny("ppo")).to_dict())
    return [name for name, value in numbers.items() if isinstance(value, float)]


@st.composite
def configurations(draw: Draw) -> tuple[bytes, list[str]]:
    """The content of a YAML file, and overrides."""
    if draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(_texts()).flatmap(damaged_file)), []
    data = _tiny(draw(st.sampled_from(["ppo", "ppo", "alphazero"])))
    overrides: list[str] = []
    if draw(st.booleans()):  # only a bound refuses these
        name = draw(st.sampled_from(_float_fields()))
        _set(data, name, draw(st.sampled_from(_OUT_OF_RANGE) | floats))
    else:
        for _ in range(draw(st.sampled_from([1, 1, 1, 3]))):
            name, value = draw(_names()), draw(_values())
            if draw(st.booleans()):
                overrides.append(draw(_overrides(name, value)))
            else:
                _set(data, name, value)
    note(f"overrides: {short(overrides)}")
    text: str = yaml.safe_dump(data, allow_unicode=True)
    return text.encode("utf-8", "surrogatepass"), overrides


@st.composite
def _names(draw: Draw) -> str:
    """The name of a field, or something like it."""
    name: str = draw(st.sampled_from(_fields()))
    if draw(st.integers(0, 9)) == 9:
        name = draw(texts | st.just(f"{name}.x"))
    return name


def _values() -> st.SearchStrategy[Any]:
    """Returns the values of a field that a YAML file can hold."""
    plain = floats | floats | integers | json_values
    return (plain | plain | plain | plain.map(lambda value: [value])).filter(_is_yaml)


def _is_yaml(value: Any) -> bool:
    try:
        yaml.safe_dump(value)
    except (yaml.YAMLError, ValueError):
        return False
    return True


@st.composite
def _overrides(draw: Draw, name: str, value: Any) -> str:
    """A setting as the command line has it."""
    text = draw(st.sampled_from([str(value), str(value), *_NO_VALUES]) | changed_text(str(value)))
    return draw(st.sampled_from([f"{name}={text}"] * 9 + [name]))


def _set(data: dict[str, Any], name: str, value: Any) -> None:
    """Sets a field, or a section's field as in `eval.blocks`."""
    section, dot, field = name.partition(".")
    data |= merged(data, {section: {field: value}} if dot else {name: value})


@pytest.fixture(autouse=True, scope="module")
def trained() -> None:
    """Runs an iteration of both algorithms, which compiles their functions."""
    for algorithm in ("ppo", "alphazero"):
        make_trainer(read_config(_tiny(algorithm))).iterate()


@settings(max_examples=40)
@given(configuration=configurations())
def test_configurations_are_refused_or_train(
    folder: Path, configuration: tuple[bytes, list[str]]
) -> None:
    """Numbers of an accepted one are in range; an iteration of a small one gives finite weights."""
    content, overrides = configuration
    path = folder / "changed.yaml"
    path.write_bytes(content)
    try:
        config = load_config(path, overrides)
    except ValueError:
        event("refused")
        return
    _check_ranges(config)
    is_small = _is_small(flat(config.to_dict())) and config.initial_checkpoint is None
    if config.game == game_names()[0] and is_small:
        _check_iteration(config)


def _check_ranges(config: AnyConfig) -> None:
    for name, value in flat(config.to_dict()).items():
        for number in leaves(value):
            if name in ("seed", "total_steps") or not isinstance(number, int | float):
                continue
            assert math.isfinite(number), f"{name} = {number}"
            most = _MOST if isinstance(number, int) else _MOST_FLOAT
            assert abs(number) <= most, f"{name} = {short(number)}"


def _is_small(fields: dict[str, Any]) -> bool:
    """Whether an iteration is quick."""
    sizes = [
        (most, size) for name, most in _MOST_TRAINED.items() for size in leaves(fields.get(name, 0))
    ]
    return all(size <= most for most, size in sizes)


def _check_iteration(config: AnyConfig) -> None:
    """An iteration gives finite weights and metrics, if the configuration's numbers are usual."""
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
