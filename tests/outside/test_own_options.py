"""Options of an own game are held to the bounds of their fields, wherever they come from."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import connect_four
import numpy as np
import pytest

import linkzoo
from linkzoo import Field, GameRecord, Options
from linkzoo_training.commands.cli import main
from linkzoo_training.config.config import load_config


@dataclass(frozen=True)
class Rows(Options):
    """Numbers of different types, without checks of their own; one annotation is a string."""

    faces: int = 6
    limit: int = 1000
    ends: "Literal['first', 'last', 'none']" = "first"
    wild: "bool" = False


FIELDS = (
    Field("faces", "i1", (), 2, 6),
    Field("limit", "u2", (), 10),
    Field("ends", "i1", (), 0, 2),
    Field("wild", "i1", (), 0, 1),
)
GAME = replace(
    connect_four.GAME, name="own_rows", options=Rows, fields=(*FIELDS, *connect_four.GAME.fields)
)
WRONG: list[tuple[str, Any, str]] = [
    ("faces", 1, r"^faces: 1 is not in 2\.\.6$"),
    ("faces", 99, r"^faces: 99 is not in 2\.\.6$"),
    ("faces", 300, r"^faces: 300 is not in 2\.\.6$"),
    ("faces", 2**70, r"^faces: \d+ is not in 2\.\.6$"),
    ("faces", "x", r"^faces: 'x' is not an integer in 2\.\.6$"),
    ("faces", "4", r"^faces: '4' is not an integer in 2\.\.6$"),
    ("faces", 4.0, r"^faces: 4\.0 is not an integer in 2\.\.6$"),
    ("faces", None, r"^faces: None is not an integer in 2\.\.6$"),
    ("faces", True, r"^faces: True is not an integer in 2\.\.6$"),
    ("faces", [4], r"^faces: \[4\] is not an integer in 2\.\.6$"),
    ("limit", 9, r"^limit: 9 is not in 10\.\.65535$"),
    ("limit", 65536, r"^limit: 65536 is not in 10\.\.65535$"),
    ("ends", "middle", r"^ends: 'middle' is not one of \['first', 'last', 'none'\]$"),
    ("ends", 1, r"^ends: 1 is not one of "),
    ("wild", 1, "^wild: 1 is not true or false$"),
    ("skip_forced", 2, "^skip_forced: 2 is not true or false$"),
]


@pytest.fixture(autouse=True)
def _registered(registered_before: None) -> None:
    linkzoo.register(GAME)


@pytest.mark.parametrize(("name", "value", "complaint"), WRONG)
def test_a_wrong_value_is_named_with_what_is_allowed(name: str, value: Any, complaint: str) -> None:
    start = GAME.blank()
    data = GAME.to_dict(start)
    record = GameRecord.of(GAME, start)
    record.options = {**record.options, name: value}
    for use in (
        lambda: linkzoo.make("own_rows", **{name: value}),
        lambda: linkzoo.make_vec("own_rows", 2, **{name: value}),
        lambda: GAME.blank(None, {name: value}),
        lambda: GAME.from_dict({**data, "options": {**data["options"], name: value}}),
        lambda: next(record.replay()),
    ):
        with pytest.raises(ValueError, match=complaint):
            use()


@pytest.mark.parametrize("setting", ["faces=99", "faces=300", "faces=x", "limit=1", "ends=no"])
def test_commands_and_configurations(
    setting: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = setting.partition("=")[0]
    assert main(["evaluate", "random", "greedy", "--game", "own_rows", setting]) == 2
    assert f"linkzoo: {name}: " in capsys.readouterr().err
    path = tmp_path / "own.yaml"
    path.write_text("name: own\ngame: own_rows\n")
    with pytest.raises(ValueError, match=f"{name}: "):
        load_config(path, [f"options.{setting}"])
    if setting != "ends=no":
        with pytest.raises(ValueError, match=f"{name}: "):
            load_config(path, [f"initial_states.vary.{name}=[4, 99999]"])


def test_right_values() -> None:
    for values in (
        {"faces": 2, "limit": 65535, "ends": "none", "wild": True},
        {"faces": np.int8(5), "limit": np.uint16(10)},
    ):
        chosen = GAME.chosen_options(GAME.blank(None, values))
        assert {name: chosen[name] for name in values} == values
        assert all(type(value) in (int, bool, str) for value in chosen.values())


@pytest.mark.parametrize(
    ("field", "complaint"),
    [
        (Field("ends", "i1", (), 0, 1), r"^fields: ends holds 0\.\.1, but .* stored as 0\.\.2"),
        (Field("wild", "i1", (), 1, 1), r"^fields: wild holds 1\.\.1, but "),
    ],
)
def test_a_field_too_narrow_for_its_option(field: Field, complaint: str) -> None:
    others = [other for other in GAME.fields if other.name != field.name]
    with pytest.raises(ValueError, match=complaint):
        replace(GAME, fields=(field, *others))
