"""Positions as bytes and as JSON, moves as text, and action numbers: each changed at random."""

import json
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from linkzoo.core.state import Field, field_bounds
from linkzoo.text import read_move
from tests.common.play import snapshot
from tests.fuzz.positions import (
    USUAL,
    Edition,
    Position,
    check_position,
    compile_edition,
    every_edition,
    legal_actions,
    positions,
    trajectory,
)
from tests.fuzz.strategies import (
    Draw,
    any_values,
    changed_bytes,
    changed_json,
    changed_text,
    same_json,
    short,
)

seeds = st.integers(0, 2**32 - 1)


@pytest.fixture(autouse=True)
def compiled(edition: Edition) -> None:
    """Compiles before the examples."""
    compile_edition(edition)


@st.composite
def changed_records(draw: Draw, position: Position) -> bytes:
    """The bytes of a position after one to three numbers were changed.

    Most of the numbers are at the edges of the field's bounds, where nothing but the rest of the
    position contradicts them.
    """
    game = position.variant.game
    declared = {field.name: field for field in game.fields}
    state = np.frombuffer(bytearray(position.state.tobytes()), game.state)
    names = [str(name) for name in state.dtype.names or ()]
    for _ in range(draw(st.sampled_from([1, 1, 1, 1, 2, 3]))):
        name = draw(st.sampled_from(names))
        numbers: NDArray[Any] = state[name].reshape(-1)
        limits = np.iinfo(numbers.dtype)
        low, high = field_bounds(declared.get(name, Field(name, numbers.dtype.str)))
        index = draw(st.integers(0, numbers.size - 1))
        old = int(numbers[index])
        near = [old + 1, old - 1, old ^ (1 << draw(st.integers(0, limits.bits - 2)))]
        other = int(numbers[draw(st.integers(0, numbers.size - 1))])
        edges = st.sampled_from([low - 1, low, low + 1, high - 1, high, high, high + 1])
        value = draw(
            edges | edges | st.sampled_from([*near, other, -1, 0, 1, draw(st.integers(0, 255))])
        )
        numbers[index] = min(max(value, int(limits.min)), int(limits.max))
    return state.tobytes()


@every_edition("love_links")
@settings(max_examples=50)
@given(st.data())
def test_bytes_are_refused_or_a_position(edition: Edition, data: st.DataObject) -> None:
    """Accepted bytes can be played, observed and written as JSON; others change nothing."""
    position = data.draw(positions(edition))
    records = changed_records(position)
    raw = data.draw(records | records | records | changed_bytes(position.state.tobytes()))
    env = position.variant.env()
    env.reset(seed=1)
    before = snapshot(env)
    way = data.draw(st.sampled_from(["set_state", "bytearray", "reset"]))
    try:
        if way == "set_state":
            env.set_state(raw)
        elif way == "bytearray":
            env.set_state(bytearray(raw))  # type: ignore[arg-type]  # works, but isn't promised
        else:
            env.reset(options={"state": raw})
    except ValueError:
        assert snapshot(env) == before, "a refused position changed the environment"
        event("refused")
        return
    assert env.get_state() == raw, "the position isn't the one of the bytes"
    env.observe(data.draw(st.sampled_from(env.possible_agents)))
    env.state()
    env.clone()
    game = position.variant.game
    check_position(game, game.from_bytes(raw), data.draw(seeds))


@every_edition("love_formula")
@settings(max_examples=5)
@given(st.data())
def test_positions_on_other_data_are_refused(edition: Edition, data: st.DataObject) -> None:
    """A position on another board, or with other cards, isn't one of this game."""
    usual = next(other for other in USUAL if other.name == edition.name)
    if edition.usual:
        return
    states = trajectory(str(usual), 0, data.draw(st.integers(0, 1)))
    foreign = states[data.draw(st.integers(0, len(states) - 1))].tobytes()
    with pytest.raises(ValueError, match=r"\w"):
        edition.game.from_bytes(foreign)


@every_edition("link_o")
@settings(max_examples=50)
@given(st.data())
def test_json_is_refused_or_read_as_it_stands(edition: Edition, data: st.DataObject) -> None:
    """Accepted JSON is read without a loss, and is a position; other JSON changes nothing."""
    position = data.draw(positions(edition))
    game = position.variant.game
    seat = data.draw(st.sampled_from([None] * 9 + list(range(position.variant.num_players))))
    donor = data.draw(positions(edition, position.variant.num_players))
    plain = game.to_dict(position.state, seat)
    changed = data.draw(changed_json(plain, game.to_dict(donor.state)))
    note(f"changes: {_differences(plain, changed)}")
    if data.draw(st.integers(0, 9)) == 9:
        _refused_or_set(position, changed)
    try:
        state = game.from_dict(changed)
    except ValueError:
        event("refused")
        return
    written = json.loads(json.dumps(game.to_dict(state)))
    if seat is None:  # a seat's view lacks what only the referee knows
        expected = _sorted(json.loads(json.dumps(changed)))
        if expected.get("version") in game.compatible_versions:
            expected["version"] = game.version  # it is written as the present one
        kept = _sorted({name: written[name] for name in changed})
        assert same_json(kept, expected), f"read as {_differences(expected, kept)}"
    check_position(game, state, data.draw(seeds))


def _refused_or_set(position: Position, changed: Any) -> None:
    env = position.variant.env()
    env.reset(seed=1)
    before = snapshot(env)
    try:
        env.set_state(changed)
    except ValueError:
        assert snapshot(env) == before, "a refused position changed the environment"


def _sorted(data: Any) -> Any:
    """Returns JSON data with sorted lists: of many lists the order has no meaning."""
    if isinstance(data, dict):
        return {key: _sorted(value) for key, value in data.items()}
    return sorted(map(_sorted, data), key=json.dumps) if isinstance(data, list) else data


def _differences(data: Any, other: Any, path: str = "") -> str:
    """Returns the places at which two JSON data differ, in short."""
    if isinstance(data, dict) and isinstance(other, dict):
        keys = [*data, *(key for key in other if key not in data)]
        parts = [_differences(data.get(k, ...), other.get(k, ...), f"{path}.{k}") for k in keys]
    elif isinstance(data, list) and isinstance(other, list) and len(data) == len(other):
        pairs = enumerate(zip(data, other, strict=True))
        parts = [_differences(*pair, f"{path}[{index}]") for index, pair in pairs]
    elif same_json(data, other):
        parts = []
    else:
        parts = [f"{path}: {short(data)} -> {short(other)}"]
    return "; ".join(part for part in parts if part)


@every_edition("link_o")
@settings(max_examples=60)
@given(st.data())
def test_moves_are_refused_or_read(edition: Edition, data: st.DataObject) -> None:
    """A text that is read is the text of its action; reading changes no position."""
    position = data.draw(positions(edition))
    game, state = position.variant.game, position.state
    before = state.tobytes()
    legal = legal_actions(position)
    every_action = st.integers(0, game.num_actions - 1)
    action = data.draw(st.sampled_from(legal) | every_action if legal else every_action)
    plain = game.notation.action_to_text(state, action)
    text = data.draw(st.one_of(changed_text(plain), changed_text(plain), any_values))
    if legal:
        with suppress(ValueError):
            assert read_move(game, state, text) in legal, "an illegal action"
    try:
        read: Any = game.notation.text_to_action(state, text)
    except ValueError:
        assert state.tobytes() == before, "a refused move changed the position"
        event("refused")
        return
    assert state.tobytes() == before, "a move that was read changed the position"
    assert isinstance(read, int | np.integer), f"an action of type {type(read).__name__}"
    assert 0 <= read < game.num_actions, f"action {read}"
    again = game.notation.action_to_text(state, int(read))
    assert again == text, f"{short(text)} is read as {short(again)}"


@every_edition("linkage")
@settings(max_examples=60)
@given(st.data())
def test_action_numbers_are_refused_or_have_a_text(edition: Edition, data: st.DataObject) -> None:
    """Only integers are actions: neither floats nor truth values."""
    position = data.draw(positions(edition))
    value = data.draw(any_values)
    try:
        text: Any = position.variant.game.notation.action_to_text(position.state, value)
    except ValueError:
        event("refused")
        return
    assert isinstance(text, str), f"a text of type {type(text).__name__}"
    number = value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value
    assert isinstance(number, int | np.integer), f"a text for {short(value)}"
    # A bool is an int to Python, and a timedelta64 an integer to NumPy.
    assert not isinstance(number, bool | np.timedelta64), f"a text for {short(value)}"
