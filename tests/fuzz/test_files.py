"""Files as other programs write them (encodings, separators, keys set twice), and damaged ones.

Each way to write a file has an expectation: the same content as the plain file, another content,
or a refusal that names the file or the fault.
"""

import csv
import io
import json
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import pytest
import yaml
from hypothesis import given, note, settings
from hypothesis import strategies as st

import linkzoo
from linkzoo import GameRecord, game_names, get_game, load_positions, save_positions
from linkzoo.position_file import read_position_file
from linkzoo_training.agents import linear
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.config.config import load_config
from linkzoo_training.evaluation.labelled_positions import (
    Labels,
    LabelSettings,
    read_labels,
    write_labels,
)
from linkzoo_training.evaluation.solved_positions import SOLVED_POSITIONS
from linkzoo_training.resources import find_checkpoint, shipped
from tests.common.variants import FILES
from tests.fuzz.positions import trajectory
from tests.fuzz.strategies import Draw, changed_bytes, damaged_file

SAME = "same content"
MAY = "same content, or refused"
OTHER = "other content, or refused"
ANY = "any content, or refused"
WRONG = "refused, by the file's name"
FOLDER_NAMES = ["a b", "ü", "x:5", "x~0.5", "x@2", "x@2:5", "-x", "%41", "'", "日本", "y" * 200]
Written = tuple[str, str | bytes]  # an expectation, and a file's content


class Kind(NamedTuple):
    """A kind of file: the name, a plain one, how it is read, and words of its refusals."""

    name: str
    text: str
    read: Callable[[Path], Any]
    words: str = ""
    beside: Path | None = None  # a file in the same folder that belongs to it


def _read_card(path: Path) -> Any:
    return load_agent(path.parent).card


@cache
def kinds() -> dict[str, Kind]:
    """Returns all kinds of files that somebody may edit."""
    files: dict[str, Kind] = {}
    for game in game_names():
        env = linkzoo.make(game)
        env.reset(seed=3)
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
        record = json.dumps(env.record().to_dict())
        words = "record move game position"
        files[f"record of {game}"] = Kind("record.json", record, GameRecord.load, words)
        card = find_checkpoint(game) / "card.json"
        weights = card.with_name("model.safetensors")
        files[f"card of {game}"] = Kind(card.name, _text(card), _read_card, beside=weights)
        scorer = linear.shipped_file(get_game(game))
        if scorer.exists():
            files[f"scorer of {game}"] = Kind(scorer.name, _text(scorer), _scorer_reader(game))
    for game, (option, path, _, read) in FILES.items():
        files[f"{option} of {game}"] = Kind(path.name, _text(path), _of_text(read), option)
    for path in _configurations():
        files[f"configuration {path.stem}"] = Kind(path.name, _text(path), load_config)
    return files


def _text(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def _of_text(read: Callable[[str], Any]) -> Callable[[Path], Any]:
    """Returns a reader that takes a path as text."""
    return lambda path: read(str(path))


def _scorer_reader(game: str) -> Callable[[Path], Any]:
    """Returns a function that reads the weights of a linear scorer."""
    return lambda path: linear.load_scorer(get_game(game), str(path)).weights.tobytes()


def _configurations() -> list[Path]:
    """Returns the first shipped configuration of each algorithm."""
    paths = sorted(shipped("configs").glob("*.yaml"))
    return list({load_config(path).algorithm: path for path in reversed(paths)}.values())


def write(folder: Path, kind: Kind, content: str | bytes) -> Path:
    """Writes a file of this kind, with the file beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind.beside is not None and not (folder / kind.beside.name).exists():
        (folder / kind.beside.name).symlink_to(kind.beside)
    path = folder / kind.name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


# Ways to write a file


@st.composite
def written(draw: Draw, kind: Kind) -> Written:
    """A file written in some way, and the expectation."""
    ways = {**_ENCODINGS, **_OF_ENDING[kind.name.rpartition(".")[2]]}
    way = draw(st.sampled_from(sorted(ways)))
    expected, content = ways[way](draw, kind.text)
    note(f"{kind.name}: {way}, {expected}")
    return expected, content


def _byte_order_mark(draw: Draw, text: str) -> Written:
    lines = draw(st.sampled_from([text, text.replace("\n", "\r\n")]))
    return MAY, lines.encode("utf-8-sig")


def _line_ends(draw: Draw, text: str) -> Written:
    return draw(
        st.sampled_from([(SAME, text.replace("\n", "\r\n")), (MAY, text.replace("\n", "\r"))])
    )


def _codec(draw: Draw, text: str) -> Written:
    codec = draw(st.sampled_from(["utf-16", "utf-16-le", "utf-32", "cp500"]))
    return MAY, text.encode(codec, "replace")


def _no_utf8(draw: Draw, text: str) -> Written:
    data = text.rstrip().encode()
    at = draw(st.integers(0, len(data) - 1))
    return WRONG, data[:at] + draw(
        st.sampled_from([b"\xff", b"\xe4\xf6", b"\xc0\x80", b"\x80"])
    ) + data[at:]


def _cut(draw: Draw, text: str) -> Written:
    data = text.rstrip().encode()
    expected = WRONG if text[0] == "{" else ANY  # lines may be left out
    return expected, data[: draw(st.integers(0, len(data) - 1))]


def _no_text(draw: Draw, text: str) -> Written:
    return WRONG, draw(st.sampled_from(["", "\n", " \n \n", "\0" * 99, "\ufeff", "\x1f\b"]))


def _damaged(draw: Draw, text: str) -> Written:
    return ANY, draw(damaged_file(text))


_ENCODINGS = {
    "byte order mark": _byte_order_mark,
    "line ends": _line_ends,
    "codec": _codec,
    "no UTF-8": _no_utf8,
    "cut": _cut,
    "no text": _no_text,
    "damaged": _damaged,
}


def _shuffled(draw: Draw, data: Any) -> Any:
    """Returns the same data with keys in another order."""
    if isinstance(data, dict):
        return {key: _shuffled(draw, data[key]) for key in draw(st.permutations(sorted(data)))}
    return [_shuffled(draw, each) for each in data] if isinstance(data, list) else data


def _json_again(draw: Draw, text: str) -> Written:
    data = _shuffled(draw, json.loads(text))
    indent = draw(st.sampled_from([None, 1, "\t"]))
    before, after = draw(st.sampled_from([("", ""), (" \n\r\n\t", "\n\n"), ("", " \t\r\n")]))
    return SAME, before + json.dumps(data, indent=indent, ensure_ascii=draw(st.booleans())) + after


def _json_key_twice(draw: Draw, text: str) -> Written:
    at = draw(st.sampled_from([match.end() for match in re.finditer(r'\{(?=\s*")', text)]))
    key = text[at:].lstrip().split('"')[1]
    value = draw(st.sampled_from(["0", "null", "[]"]))
    return WRONG, f'{text[:at]}"{key}": {value}, {text[at:]}'


def _no_json(draw: Draw, text: str) -> Written:
    texts = [
        *(text + "x", text * 2, text[:-1] + ",}", text.replace('"', "'"), "// x\n" + text),
        *(text.replace(":", "=", 1), f"[{text}]", json.dumps(text), text.replace("{", "[", 1)),
        *("null", "[]", "{}", "5", "NaN", '""', "[" * 10**5),
    ]
    return WRONG, draw(st.sampled_from(texts))


def _table(text: str) -> tuple[list[str], list[list[str]]]:
    head, *rows = list(csv.reader(io.StringIO(text, newline="")))
    return head, rows


def _as_csv(rows: list[list[str]], **dialect: Any) -> str:
    out = io.StringIO(newline="")
    csv.writer(out, **dialect).writerows(rows)
    return out.getvalue()


def _csv_again(draw: Draw, text: str) -> Written:
    head, rows = _table(text)
    quoting = draw(st.sampled_from([csv.QUOTE_ALL, csv.QUOTE_MINIMAL]))
    return SAME, _as_csv([head, *rows], quoting=quoting)


def _csv_separator(draw: Draw, text: str) -> Written:
    head, rows = _table(text)
    return MAY, _as_csv([head, *rows], delimiter=draw(st.sampled_from([";", "\t", "|"])))


def _csv_line_breaks(draw: Draw, text: str) -> Written:
    """Line breaks in the cells of the column with most spaces; they mustn't vanish."""
    head, rows = _table(text)
    column = max(range(len(head)), key=lambda index: sum(row[index].count(" ") for row in rows))
    for row in rows:
        row[column] = row[column].replace(" ", "\n")
    return OTHER, _as_csv([head, *rows])


def _csv_damaged(draw: Draw, text: str) -> Written:
    head, rows = _table(text)
    at = draw(st.integers(0, len(rows) - 1))
    tables = [
        rows,
        [head],
        [head, *rows, rows[at]],
        [head, *rows[:at], *rows[at + 1 :]],
        [head, *rows * 2],
        [[*row, "x"] for row in [head, *rows]],
        [row[:-1] for row in [head, *rows]],
        [[word.upper() for word in head], *rows],
        [head, *rows, ["x"]],
    ]
    return WRONG, _as_csv(draw(st.sampled_from(tables)))


def _yaml_again(draw: Draw, text: str) -> Written:
    data = _shuffled(draw, yaml.safe_load(text))
    style = draw(st.sampled_from([None, True, False]))
    return SAME, yaml.safe_dump(data, default_flow_style=style, sort_keys=False)


def _yaml_key_twice(draw: Draw, text: str) -> Written:
    key = draw(st.sampled_from(sorted(yaml.safe_load(text))))
    return WRONG, f"{text}\n{key}: {draw(st.sampled_from(['0', 'null', '[]', 'x']))}\n"


def _no_yaml(draw: Draw, text: str) -> Written:
    texts = [
        *(
            "[",
            "- 1\n",
            "x",
            "5",
            "null",
            "\t" + text,
            text + "\n---\n" + text,
            text + "\n  x: 1\n",
        ),
        *(text.replace(": ", "="), text + "\n}", text + "\n*x: 1", text + "\n1: 1\nnone: 1"),
    ]
    return WRONG, draw(st.sampled_from(texts))


_OF_ENDING: dict[str, dict[str, Callable[[Draw, str], Written]]] = {
    "json": {"written again": _json_again, "key twice": _json_key_twice, "no JSON": _no_json},
    "csv": {
        "written again": _csv_again,
        "separator": _csv_separator,
        "line breaks": _csv_line_breaks,
        "rows and columns": _csv_damaged,
    },
    "yaml": {"written again": _yaml_again, "key twice": _yaml_key_twice, "no YAML": _no_yaml},
}


# Properties


@cache
def _plain(name: str, folder: Path) -> Any:
    """Returns the content of the plain file."""
    kind = kinds()[name]
    return kind.read(write(folder / "plain" / name, kind, kind.text))


@pytest.mark.slow  # quick: test_files.py and test_config.py of tests/training
@settings(max_examples=100)
@given(data=st.data())
def test_files_are_read_as_they_stand_or_refused(folder: Path, data: st.DataObject) -> None:
    """In folders of any name, and from another current folder."""
    name = data.draw(st.sampled_from(sorted(kinds())))
    kind = kinds()[name]
    expected, content = data.draw(written(kind))
    plain = _plain(name, folder)
    odd_name = data.draw(st.sampled_from(FOLDER_NAMES))
    path = write(folder / odd_name / name, kind, content)
    before = Path.cwd()
    try:
        if data.draw(st.booleans()):
            os.chdir(path.parent.parent)
            path = Path(name, kind.name)
        read = kind.read(path)
    except ValueError as error:
        message = str(error)
    else:
        assert expected != WRONG, "accepted"
        if expected == OTHER:
            assert read != plain, "read as the plain file"
        elif expected != ANY:
            assert read == plain, "read as something else"
        return
    finally:
        os.chdir(before)
    assert expected != SAME, f"refused: {message}"
    names = [str(path.parent), kind.name, *kind.words.split()]
    assert any(name in message for name in names), (
        f"the message names nothing of {names}: {message}"
    )


def _check_named(path: Path, error: Exception) -> None:
    assert path.name in str(error), f"the message doesn't name the file: {error}"


_SOLVED = "solved positions"


@cache
def _position_lines(name: str) -> str:
    """Returns the text of a file with a few positions of a game, or a few solved ones."""
    if name == _SOLVED:
        lines = (SOLVED_POSITIONS / f"{game_names()[0]}.jsonl").read_text(encoding="utf-8")
        return "".join(lines.splitlines(keepends=True)[:6])
    with TemporaryDirectory() as folder:
        path = Path(folder, "positions.jsonl")
        save_positions(path, get_game(name), trajectory(name, 0, 0)[:-1][:10])
        return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", [*game_names(), _SOLVED])
@settings(max_examples=10)
@given(data=st.data())
def test_files_of_positions_are_read_as_they_stand_or_refused(
    name: str, folder: Path, data: st.DataObject
) -> None:
    """A file of positions that is read has the positions of its lines, and a value per action."""
    path = folder / f"{name}.jsonl"
    path.write_bytes(data.draw(damaged_file(_position_lines(name))))
    try:
        read = read_position_file(path)
        if name == _SOLVED:
            assert np.isfinite(read.values()).any(1).all(), "positions without values"
    except ValueError as error:
        _check_named(path, error)
        return
    again = folder / "again.jsonl"
    save_positions(again, read.game, read.states)
    assert load_positions(again, read.game).tobytes() == read.states.tobytes()


@settings(max_examples=20)
@given(data=st.data())
def test_labels_are_read_as_they_stand_or_refused(folder: Path, data: st.DataObject) -> None:
    """Bytes of a compressed file of arrays: no other number or setting is read."""
    path = folder / "labels.npz"
    settings = LabelSettings(game_names()[0], {}, (2,), "random", 1, "random", 0.0, 0)
    states = trajectory(settings.game, 0, 0)[:10]
    labels = Labels(settings, 1, states, np.full(10, 2), np.arange(20), np.ones(20, np.float32))
    write_labels(labels, path)
    path.write_bytes(data.draw(changed_bytes(path.read_bytes())))
    try:
        read = read_labels(path)
    except ValueError as error:
        _check_named(path, error)
        return
    for name, value in vars(labels).items():
        assert np.array_equal(vars(read)[name], value), f"other {name}"
