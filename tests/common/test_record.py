"""Broken game records: the error names the problem."""

import json
import pickle
import re
import resource
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from linkzoo import GameEnv, GameRecord, get_game, make
from tests.common.play import finish
from tests.common.variants import FILES, ONE, Variant, every_size
from tests.driving import first_quick


def played(variant: Variant, start: bool = False) -> dict[str, Any]:
    """The JSON data of a finished game."""
    env = variant.env()
    env.reset(seed=1)
    if start:
        env.set_state(env.get_state())
    finish(env, 1)
    data = env.record().to_dict()
    assert GameRecord.from_dict(data).to_dict() == data
    return data


@every_size
@pytest.mark.parametrize("start", [False, True])
def test_wrong_fields(variant: Variant, start: bool) -> None:
    data = played(variant, start)
    for name in data.keys() - {"digest"}:
        with pytest.raises(ValueError, match=rf"record: missing fields \['{name}'\]"):
            GameRecord.from_dict({key: value for key, value in data.items() if key != name})
    wrong: list[tuple[str, Any, str]] = [
        ("surprise", 1, r"unknown fields \['surprise'\]"),
        ("format", "linkzoo-record/0", "^format: "),
        ("game", "chess", "^no game 'chess'"),
        ("game", ["chess"], "^no game"),
        ("game", None, "^no game"),
        ("version", data["version"] + 2, "^version: "),
        ("num_players", 99, "^num_players: 99"),
        ("num_players", "2", "^num_players: '2'"),
        ("options", None, "^options: "),
        ("options", {}, r"^options: missing fields \["),
        ("options", {**data["options"], "colour": 1}, r"unknown fields \['colour'\]"),
        ("options", {**data["options"], "skip_forced": 3}, "skip_forced.* 3"),
        ("seed", -1, "^seed: -1"),
        ("seed", 2**64, "^seed: "),
        ("seed", 1.5, "^seed: 1.5"),
        ("start", [], r"\[\] is not a JSON object"),
        ("start", {"seat": 0}, "missing fields"),
        ("moves", "abc", "^moves: "),
        ("moves", None, "^moves: "),
        ("moves", [*data["moves"], data["moves"][0]], rf"^moves\[{len(data['moves'])}\]: "),
        ("moves", ["no such move"], r"^moves\[0\]: "),
        ("moves", [data["moves"][0], 7], r"^moves\[1\]: move: 7 is not a string"),
        ("moves", [[]], r"^moves\[0\]: move: \[\] is not a string"),
    ]
    for name, value, message in wrong:
        with pytest.raises(ValueError, match=message):
            GameRecord.from_dict({**data, name: value})


def test_comments_are_kept() -> None:
    data = played(ONE[0])
    assert "comments" not in data  # as in older records
    record = GameRecord.from_dict({**data, "comments": {"0": "why not", "2": "<b>"}})
    assert record.comments == {0: "why not", 2: "<b>"}
    assert record.to_dict() == {**data, "comments": {"0": "why not", "2": "<b>"}}
    record.actions = record.actions[:2]  # a move is taken back
    assert record.to_dict()["comments"] == {"0": "why not"}
    for wrong, message in (
        ([], r"^comments: \[\] is not a dict"),
        ({"99999": "late"}, "^comments: '99999' is no index"),
        ({"-1": "early"}, "^comments: '-1' is no index"),
        ({"0": 1}, r"^comments\[0\]: 1 is not a string"),
    ):
        with pytest.raises(ValueError, match=message):
            GameRecord.from_dict({**data, "comments": wrong})


@every_size
def test_start_must_agree(variant: Variant) -> None:
    data = played(variant, start=True)
    options = {**data["options"], "skip_forced": not data["options"]["skip_forced"]}
    for name, value in (("seed", data["seed"] + 1), ("options", options)):
        with pytest.raises(ValueError, match=f"^{name}: .* the rest of the position says"):
            GameRecord.from_dict({**data, name: value})


@every_size
def test_illegal_moves(variant: Variant) -> None:
    """A record made by hand can hold anything; replay and saving find it."""
    env = variant.env()
    env.reset(seed=1)
    illegal = int(env.observe(env.agent_selection)["action_mask"].argmin())
    for action in (illegal, -1, env.game.num_actions):
        record = env.record()
        record.actions.append(action)
        with pytest.raises(ValueError, match=rf"^actions\[0\]: {action} is not legal$"):
            list(record.replay())
        with pytest.raises(ValueError, match=str(action)):
            record.to_dict()
    data = env.record().to_dict()
    data["moves"] = [env.action_to_text(illegal)]
    with pytest.raises(ValueError, match=rf"^moves\[0\]: actions\[0\]: {illegal} is not legal$"):
        GameRecord.from_dict(data)


@every_size
def test_broken_files(variant: Variant, tmp_path: Path) -> None:
    path = tmp_path / "game.json"
    text = json.dumps(played(variant))
    for broken in (text[:-1], "", "{", "not JSON"):
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"game\.json: not valid JSON"):
            GameRecord.load(path)
    for broken in ("[]", "null", "3", '"record"'):
        path.write_text(broken)
        with pytest.raises(ValueError, match=r"is not a JSON object"):
            GameRecord.load(path)
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match=r"."):
        GameRecord.load(path)
    with pytest.raises(FileNotFoundError):
        GameRecord.load(tmp_path / "nothing.json")


def new_record() -> GameRecord:
    """Of a game without a move."""
    env = make("linkage")
    env.reset(seed=1)
    return env.record()


def test_fields_of_another_kind() -> None:
    """The ValueError names the field."""
    record = new_record()
    for name in ("options", "actions"):
        broken = replace(record, **cast("Any", {name: None}))
        for use in (broken.to_dict, lambda broken=broken: list(broken.replay())):
            with pytest.raises(ValueError, match=f"^{name}: None is not a "):
                use()


def test_a_number_of_too_many_digits(tmp_path: Path) -> None:
    """The error names the file."""
    path = tmp_path / "game.json"
    path.write_text("1" * 5000)
    with pytest.raises(ValueError, match=r"game\.json: not valid JSON"):
        GameRecord.load(path)
    with pytest.raises(ValueError, match=r"^board: .*game\.json: not valid JSON"):
        get_game("link_o", {"board": str(path)})


@pytest.mark.usefixtures("uncompiled")
@pytest.mark.parametrize("name", first_quick(list(FILES)))
def test_records_are_of_the_data_of_then(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R3, R7: a digest and a whole path; another file of that name is another game."""
    option, source, word, _ = FILES[name]
    mine: dict[str, Any] = {option: "mine"}
    monkeypatch.chdir(tmp_path)
    path, text = tmp_path / "mine", source.read_text(encoding="utf-8")
    path.write_text(text, encoding="utf-8")
    env = make(name, **mine)
    env.reset(seed=1)
    for action in first_actions(env):
        env.step(action)
    state, game, record = env.get_state(), env.game, env.record()
    data, pickled = record.to_dict(), pickle.dumps(env)
    assert (record.options[option], record.digest) == (str(path), game.digest)
    assert GameRecord.from_dict(data) == record
    # As records were before they had a digest: under the name that the file had.
    before = {key: value for key, value in data.items() if key != "digest"}
    before["options"] = {**data["options"], **mine}
    old = GameRecord.from_dict(before)
    assert (old.digest, old.options) == (None, record.options)
    assert old.to_dict() == {**before, "options": data["options"]}
    env.set_state(env.to_dict() | {"options": before["options"]})
    assert env.get_state() == state

    monkeypatch.chdir("/")
    for one in (record, old):
        *_, last = one.replay()
        assert last.tobytes() == state
    monkeypatch.chdir(tmp_path)

    path.write_text(text.replace(word, "another", 1), encoding="utf-8")
    other = get_game(name, mine)
    assert other is not game
    assert other.digest != game.digest
    assert get_game(name, {option: f"../{tmp_path.name}/mine"}) is other
    message = (
        rf"^digest: {name} \({option}={re.escape(str(path))}\) is made of other data than then: "
        f"'{other.digest}' now, '{game.digest}' then"
    )
    for use in (
        lambda: list(record.replay()),
        record.to_dict,
        lambda: GameRecord.from_dict(data),
        lambda: pickle.loads(pickled),
    ):
        with pytest.raises(ValueError, match=message):
            use()
    with pytest.raises(ValueError, match=option):
        make(name, **mine).reset(options={"state": state})
    assert deepcopy(env).game is env.clone().game is game  # they go on
    env.reset()

    path.write_text(text, encoding="utf-8-sig")  # a byte order mark is no other content
    *_, last = record.replay()
    assert last.tobytes() == state
    path.unlink()
    with pytest.raises(ValueError, match=f"^{option}: no "):
        list(record.replay())


def first_actions(env: GameEnv) -> Iterator[int]:
    """Yields five legal actions."""
    for _ in range(5):
        yield int(env.observe(env.agent_selection)["action_mask"].argmax())


def test_records_of_games_without_files_have_no_digest(tmp_path: Path) -> None:
    record = new_record()
    assert record.digest is None
    assert "digest" not in record.to_dict()
    with pytest.raises(ValueError, match=r"^digest: linkage .* other data .* None now, 'a'"):
        GameRecord.from_dict(record.to_dict() | {"digest": "a"})
    with pytest.raises(ValueError, match=r"^digest: None is not a string"):
        GameRecord.from_dict(record.to_dict() | {"digest": None})
    path = tmp_path / "game.json"
    path.write_text(json.dumps(record.to_dict()), encoding="utf-8-sig")
    assert GameRecord.load(path) == record
    integers: dict[str, Any] = {"seed": np.array(record.seed), "num_players": np.int8(2)}
    numpy = replace(record, **integers)
    assert json.loads(json.dumps(numpy.to_dict())) == record.to_dict()


def test_a_full_disk(tmp_path: Path) -> None:
    """G5b: the error names the path, and the record that was there stays."""
    path, record = tmp_path / "game.json", new_record()
    record.save(path)
    before = path.read_bytes()
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10, limits[1]))
    try:
        with pytest.raises(OSError, match=r"game\.json"):
            record.save(path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == [path]
    assert path.read_bytes() == before


def later(**changes: Any) -> dict[str, Any]:
    """A position of Linkage after two plies, seed 3; without a seed if that is None."""
    env = make("linkage")
    env.reset(seed=3)
    for _ in range(2):
        env.step(int(env.observe(env.agent_selection)["action_mask"].argmax()))
    data = {**env.to_dict(), **changes}
    return {name: value for name, value in data.items() if name != "seed" or value is not None}


CHANGES: list[tuple[dict[str, Any], str]] = [
    ({}, ""),
    (
        {"options": {"board_size": np.int8(6), "free_hole": np.False_, "threshold": np.array(9)}},
        "",
    ),
    ({"options": {"threshold": 9}}, ""),  # the others are standard
    ({"options": {}}, ""),
    ({"version": np.int16(1), "seed": np.uint64(2**64 - 1), "actions": [np.int32(0)]}, ""),
    ({"comments": {np.int64(0): "why", 5: "of a move that was taken back"}, "actions": [0]}, ""),
    ({"start": later, "seed": 3}, ""),
    ({"start": partial(later, ply=np.int64(2)), "seed": np.uint64(3)}, ""),
    ({"start": partial(later, seed=None), "seed": 0}, ""),
    ({"start": later, "seed": 4}, "^seed: "),
    ({"start": later, "seed": 3, "options": {"threshold": 9}}, "^options: "),
    ({"start": later, "seed": 3, "num_players": 3}, "^num_players: "),
    ({"comments": {0: 5}, "actions": [0]}, r"^comments\[0\]: 5 is not a string"),
    ({"options": {"threshold": 9.0}}, "^threshold: "),
    ({"options": {"colour": 1}}, "^linkage has no option 'colour'"),
    ({"seed": 1.5}, "^seed: "),
    ({"version": 7}, "^version: "),
]


@pytest.mark.parametrize(("changes", "complaint"), CHANGES)
def test_what_is_saved_is_loaded(changes: dict[str, Any], complaint: str, tmp_path: Path) -> None:
    """Wrong fields are refused by `save`, and no file is written."""
    record = GameRecord("linkage", 1, 2, {}, 1)
    for name, value in changes.items():
        setattr(record, name, value() if name == "start" else value)
    path = tmp_path / "game.json"
    if complaint:
        with pytest.raises(ValueError, match=complaint):
            record.save(path)
        assert not path.exists()
        return
    record.save(path)
    loaded = GameRecord.load(path)
    assert loaded.to_dict() == record.to_dict() == json.loads(path.read_text())
    assert loaded.actions == record.actions
    assert [state.tobytes() for state in loaded.replay()] == [
        state.tobytes() for state in record.replay()
    ]


def test_errors_of_a_file_name_it(tmp_path: Path) -> None:
    path = tmp_path / "mine.json"
    data = new_record().to_dict()
    contents: list[Any] = [{**data, "options": {"threshold ": 12}}, {**data, "seed": -1}, [], {}]
    for wrong in contents:
        path.write_text(json.dumps(wrong))
        with pytest.raises(ValueError, match=rf"^{re.escape(str(path))}: "):
            GameRecord.load(path)
