"""Records of games: damaged files, and records with wrong fields."""

import dataclasses
import json
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import event, given, note, settings
from hypothesis import strategies as st

from linkzoo import GameRecord, get_game
from tests.common.play import plies
from tests.fuzz.positions import (
    Edition,
    check_position,
    compile_edition,
    edition_of,
    every_edition,
    trajectory,
)
from tests.fuzz.strategies import (
    Draw,
    any_values,
    changed_json,
    damaged_file,
    json_text,
    same_json,
    short,
)

_SEEDS = 4  # records of each variant


@pytest.fixture(autouse=True)
def compiled(edition: Edition) -> None:
    """Compiles before the examples."""
    compile_edition(edition)


@cache
def _record(edition_name: str, index: int, seed: int) -> GameRecord:
    """Returns a random game; with an odd seed one that starts from a position in its middle."""
    env = edition_of(edition_name).variants[index].env()
    env.reset(seed=seed)
    if seed % 2:
        states = trajectory(edition_name, index, seed)
        env.set_state(states[len(states) // 2].tobytes())
    for _ in plies(env, seed):
        pass
    return env.record()


@st.composite
def records(draw: Draw, edition: Edition) -> GameRecord:
    """A record of a random game."""
    index = draw(st.integers(0, len(edition.variants) - 1))
    return _record(str(edition), index, draw(st.integers(0, _SEEDS - 1)))


@st.composite
def record_files(draw: Draw, record: GameRecord) -> bytes:
    """The bytes of a damaged file of a record."""
    data = record.to_dict()
    if draw(st.booleans()):
        changed = draw(changed_json(data, {**data, "moves": data["moves"][::-1]}))
        if isinstance(changed, dict):
            different = {key: changed[key] for key in changed if changed[key] != data.get(key)}
            note(f"changed: {short(different)}")
        return json_text(changed).encode("utf-8", "surrogatepass")
    return draw(damaged_file(json.dumps(data, indent=1, ensure_ascii=False)))


@every_edition("link_o")
@settings(max_examples=40)
@given(st.data())
def test_files_are_refused_or_loaded(edition: Edition, folder: Path, data: st.DataObject) -> None:
    """A loaded record has the file's JSON, and its positions can be used."""
    path = folder / "record.json"
    path.write_bytes(data.draw(record_files(data.draw(records(edition)))))
    try:
        record = GameRecord.load(path)
    except ValueError:
        event("refused")
        return
    written = json.loads(json.dumps(record.to_dict()))
    content = json.loads(path.read_text(encoding="utf-8"))
    game = get_game(record.game)
    for part in (content, content.get("start")):
        if part is not None and part.get("version") in game.compatible_versions:
            part["version"] = game.version  # it is written as the present one
    assert same_json(content, written), "other JSON"
    states = list(record.replay())
    assert len(states) == len(record.actions) + 1
    ply = data.draw(st.integers(0, len(states) - 1))
    check_position(get_game(record.game, record.options), states[ply], ply)


@every_edition("love_formula")
@settings(max_examples=40)
@given(st.data())
def test_wrong_fields_are_refused(edition: Edition, data: st.DataObject) -> None:
    """`replay` and `to_dict` raise nothing but ValueError for fields that nothing has checked."""
    record = data.draw(records(edition))
    fields = [field.name for field in dataclasses.fields(record) if field.init]
    name = data.draw(st.sampled_from([*fields, "actions", "options"]))
    value: Any = data.draw(any_values)
    if name == "actions" and data.draw(st.booleans()):
        actions: list[Any] = list(record.actions)
        actions[data.draw(st.integers(0, len(actions) - 1))] = value
        value = actions
    elif name == "options" and data.draw(st.booleans()):
        value = {**record.options, data.draw(st.sampled_from(sorted(record.options))): value}
    changed = dataclasses.replace(record, **{name: value})
    with suppress(ValueError):
        list(changed.replay())
        changed.to_dict()
