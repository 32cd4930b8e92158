"""Damaged checkpoints, and damaged states and metrics of training runs."""

import json
import shutil
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, note, settings
from hypothesis import strategies as st
from safetensors.torch import load, save

from linkzoo import Positions, game_names
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.logger import Logger
from linkzoo_training.checkpoints.checkpoint import load_tensors
from linkzoo_training.config.config import read_config
from linkzoo_training.resources import STATE_FILE, shipped
from linkzoo_training.train import learn, make_trainer
from tests.common.play import mask_of
from tests.fuzz.positions import Edition, Position, compile_edition, every_game, positions
from tests.fuzz.strategies import (
    Draw,
    changed_bytes,
    changed_json,
    damaged_file,
    json_text,
    json_values,
    same_json,
    short,
)
from tests.fuzz.test_configurations import TINY

pytestmark = pytest.mark.slow  # quick: tests/training/test_files.py

_NUMBERS = [float("nan"), float("inf"), float("-inf"), 3e38, -1.0, 1e-42]
_TYPES = [torch.int64, torch.float64, torch.bfloat16, torch.bool]
_METRICS = [b"", b"5", b"[]", b"{}", b"null", b'"x"', b"{", b'{"iteration": "1"}', b"\xff"]
_RUN = {**TINY, "game": game_names()[0], "num_players": [2], "average": 2}


# Damage


@st.composite
def damaged_cards(draw: Draw, text: str) -> bytes:
    """The bytes of a damaged card.json."""
    way = draw(st.sampled_from(["text", "data", "field", "field", "field"]))
    if way == "text":
        return draw(damaged_file(text))
    data = json.loads(text)
    if way == "data":
        changed = draw(changed_json(data, data))
    else:
        name = draw(st.sampled_from(sorted(data)))
        changed = data | {name: draw(changed_json(data[name]))}
        note(f"{name} = {short(changed[name])}")
    return json_text(changed).encode("utf-8", "surrogatepass")


def damaged_tensors(content: bytes) -> st.SearchStrategy[bytes]:
    """Returns the bytes of a safetensors file, damaged anywhere, in its header or in a tensor."""
    return st.one_of(
        changed_bytes(content),
        _flipped_bits(content),
        _changed_headers(content),
        _changed_tensors(content),
    )


def _header_size(content: bytes) -> int:
    return int.from_bytes(content[:8], "little")


@st.composite
def _flipped_bits(draw: Draw, content: bytes) -> bytes:
    """One bit of the tensors' numbers."""
    first = 8 + _header_size(content)
    at = draw(st.integers(first, len(content) - 1))
    flipped = content[at] ^ (1 << draw(st.integers(0, 7)))
    return content[:at] + bytes([flipped]) + content[at + 1 :]


@st.composite
def _changed_headers(draw: Draw, content: bytes) -> bytes:
    """Changes of the header's JSON, most often of the metadata, which hold JSON as text."""
    size = _header_size(content)
    header = json.loads(content[8 : 8 + size])
    if "__metadata__" in header and draw(st.integers(0, 4)):
        metadata = header["__metadata__"]
        data = json.loads(metadata.get("json", "{}"))
        changed = draw(changed_json(data, data))
        counters = sorted(name for name in data if name != "config")
        if counters and isinstance(changed, dict) and draw(st.booleans()):
            name = draw(st.sampled_from(counters))
            changed[name] = draw(json_values)
            note(f"{name} = {short(changed[name])}")
        metadata["json"] = json_text(changed)
    else:
        header = draw(changed_json(header, header))
    text = json_text(header).encode("utf-8", "surrogatepass")
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + content[8 + size :]


@st.composite
def _changed_tensors(draw: Draw, content: bytes) -> bytes:
    """A tensor with other numbers, of another type or shape, missing, or one too many."""
    metadata = json.loads(content[8 : 8 + _header_size(content)]).get("__metadata__")
    tensors = load(content)
    name = draw(st.sampled_from(sorted(tensors)))
    tensor = tensors[name]
    way = draw(st.sampled_from(["numbers", "numbers", "numbers", "drop", "add", "type", "shape"]))
    if way == "numbers" and tensor.is_floating_point():
        numbers = tensor.reshape(-1)
        first = draw(st.integers(0, len(numbers)))
        last = draw(st.sampled_from([first + 1, len(numbers)]))
        numbers[first:last] = draw(st.sampled_from(_NUMBERS))
    elif way == "drop":
        del tensors[name]
    elif way == "add":
        other = draw(st.sampled_from(["", "extra", f"{name}.0", "adam.0.step"]))
        tensors[other] = torch.zeros(draw(st.integers(0, 2)))
    elif way == "type":
        tensors[name] = tensor.to(draw(st.sampled_from(_TYPES)))
    else:
        tensors[name] = tensor.reshape(-1)[:1].clone()
    note(f"{name}: {way}")
    return save(tensors, metadata)


# Properties


@every_game("linkage", slow=0)
@pytest.mark.parametrize("damaged", ["card", "weights"])
@settings(max_examples=8)
@given(data=st.data())
def test_checkpoints_are_refused_or_play(
    edition: Edition, damaged: str, folder: Path, data: st.DataObject
) -> None:
    """Weights that differ from the card's digest are refused; a loaded policy plays legal moves."""
    compile_edition(edition)
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(data.draw(st.sampled_from(_checkpoints(edition.name))), copy)
    card = copy / "card.json"
    weights = copy / "model.safetensors"
    before = weights.read_bytes()
    if damaged == "weights":
        weights.write_bytes(data.draw(damaged_tensors(before)))
    else:
        card.write_bytes(data.draw(damaged_cards(card.read_text(encoding="utf-8"))))
    try:
        agent = load_agent(copy)
    except (ValueError, OSError) as error:
        _check_message(error, copy)
        return
    assert weights.read_bytes() == before, "weights that aren't the card's were loaded"
    position = data.draw(positions(edition))
    _check_play(agent, position, data.draw(st.integers(0, 2**53 - 1)))


@cache
def _checkpoints(game: str) -> list[Path]:
    """Returns the folders of a game's shipped checkpoints."""
    cards = sorted(shipped("checkpoints").glob("*/card.json"))
    return [card.parent for card in cards if json.loads(card.read_text())["game"] == game]


def _check_message(error: Exception, folder: Path) -> None:
    """The command prints an error as one line; it names the file or its folder."""
    text = str(error)
    assert str(folder) in text, f"the error doesn't name the file: {short(text)}"
    assert len(text) < 2000, f"an error of {len(text)} characters"


def _check_play(agent: Any, position: Position, seed: int) -> None:
    """The agent chooses a legal action, and its values are finite."""
    game = position.variant.game
    if position.state.seat < 0 or agent.game.key != game.key:
        return
    states = np.zeros(1, game.state)
    states[0] = position.state
    batch = Positions(game, states, np.array([seed], np.uint64))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the card may name other numbers of players
        action = int(agent.act(batch)[0])
        _, values = agent.evaluate(batch)
    assert 0 <= action < game.num_actions, f"action {action}"
    assert mask_of(game, position.state)[action], f"the illegal action {action}"
    assert torch.isfinite(values).all(), "values that aren't finite"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training run after one iteration of two."""
    folder = tmp_path_factory.mktemp("run")
    trainer = make_trainer(read_config(_RUN))
    with Logger(folder, "tiny", 0) as logger:
        logger.log(trainer.iterate(), 0.5, 1.0)
    trainer.save(folder)
    return folder


@settings(max_examples=15)
@given(data=st.data())
def test_states_of_runs_are_refused_or_resumed(
    run: Path, folder: Path, data: st.DataObject
) -> None:
    """A run that goes on has the tensors and counters that were saved; a refusal writes nothing."""
    copy = _copied(run, folder)
    state = copy / STATE_FILE
    whole, counters = load_tensors(state)
    damaged = data.draw(damaged_tensors(state.read_bytes()))
    state.write_bytes(damaged)
    try:
        trainer = make_trainer(read_config(_RUN))
        trainer.load(copy)
        trainer.iterate()
    except (ValueError, OSError) as error:
        _check_message(error, copy)
        assert state.read_bytes() == damaged, "the state changed"
        return
    state.write_bytes(damaged)
    tensors, other_counters = load_tensors(state)
    same = same_json({**counters, "config": None}, {**other_counters, "config": None})
    assert same, "counters that weren't saved so were accepted"
    assert whole.keys() == tensors.keys(), "other tensors were accepted"
    for name, tensor in whole.items():
        assert torch.equal(_raw(tensor), _raw(tensors[name])), f"{name} was accepted"


def _copied(run: Path, folder: Path) -> Path:
    copy = folder / "copy of the run"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(run, copy)
    return copy


def _raw(tensor: torch.Tensor) -> torch.Tensor:
    """Returns the bytes of a tensor, which tell NaN from NaN."""
    return tensor.contiguous().reshape(-1).view(torch.uint8)


@settings(max_examples=3)
@given(data=st.data())
def test_metrics_of_runs_are_refused_or_resumed(
    run: Path, folder: Path, data: st.DataObject
) -> None:
    """A run with damaged metrics goes on to its end, or is refused and nothing is written."""
    copy = _copied(run, folder)
    metrics = copy / "metrics.jsonl"
    rows = metrics.read_bytes()
    line = data.draw(st.sampled_from(_METRICS))
    end = data.draw(st.sampled_from([b"", b"\n"]))
    damaged = data.draw(
        st.sampled_from([rows + line + end, line + b"\n" + rows]) | changed_bytes(rows)
    )
    metrics.write_bytes(damaged)
    before = (copy / STATE_FILE).read_bytes()
    try:
        learn(read_config(_RUN), copy, resume=True)
    except (ValueError, OSError) as error:
        _check_message(error, copy)
        assert (copy / STATE_FILE).read_bytes() == before, "the state changed"
        assert metrics.read_bytes() == damaged, "the metrics changed"
