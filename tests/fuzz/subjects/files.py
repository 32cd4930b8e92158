"""Files as other programs write them (encodings, separators, keys set twice), and consoles.

Each way to write a file says whether it must be read as the plain one (SAME), may be (MAY), or is
damage that must be refused (WRONG), with a message that names the file or what is wrong in it.
"""

import csv
import io
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import yaml

import linkzoo
from linkzoo import GameRecord, get_game
from linkzoo.games.link_o import board
from linkzoo.games.love_formula import cards
from linkzoo.registry import NAMES
from linkzoo_training.agents import linear
from linkzoo_training.agents.policy import load_agent
from linkzoo_training.config.config import load_config
from linkzoo_training.evaluation import solved_positions as solved
from linkzoo_training.evaluation.labelled_positions import (
    Labels,
    LabelSettings,
    read_labels,
    write_labels,
)
from linkzoo_training.resources import shipped
from tests.fuzz.dice import Dice, mutate_bytes
from tests.fuzz.subjects.api import ANY, MAY, ODD, SAME, WRONG

_CONSOLES = ["cp1252", "ascii", "latin-1", "cp437", "utf-16", "shift_jis"]
_CLI = "-m\nlinkzoo_training.commands.cli\n"
_COMMANDS = [
    _CLI + "evaluate\nrandom\ngreedy\n--game\n{game}\n--games\n4\n--openings\n0",
    _CLI + "play\n{game}\n--opponent\nrandom\n--seed\n1",
    "-c\nimport linkzoo; e = linkzoo.make('{game}', render_mode='human'); e.reset(1); e.render()",
]
_ARRAYS = "states counts actions values".split()
Way = tuple[str, Callable[[], str | bytes]]


class Kind(NamedTuple):
    """A kind of file: its name, a plain one, how it is read, and words of its refusals."""

    name: str
    text: str
    read: Callable[[Path], Any]
    words: str = ""


def _solved(path: Path) -> Any:
    solved.SOLVED_POSITIONS, before = path.parent, solved.SOLVED_POSITIONS
    try:
        return solved.read_solved_positions(get_game(NAMES[0])).wins.tobytes()
    finally:
        solved.SOLVED_POSITIONS = before


@cache
def kinds() -> dict[str, Kind]:
    """All kinds of files that somebody may edit."""
    found = {}
    for game in NAMES:
        env = linkzoo.make(game)
        env.reset(seed=3)
        env.step(int(env.infos[env.agent_selection]["action_mask"].argmax()))
        text, card = json.dumps(env.record().to_dict()), shipped("checkpoints") / game / "card.json"
        found[f"record {game}"] = Kind(
            "record.json", text, GameRecord.load, "record move game position"
        )
        found[f"card {game}"] = Kind(
            card.name, card.read_text(), lambda p: load_agent(p.parent).card
        )
    readers: list[tuple[Path, Callable[[Path], Any], str]] = [
        (cards._SHIPPED, lambda p: cards.load_cards(str(p)).cards, "cards"),
        (board._SHIPPED / "ring4x12.json", lambda p: board.load_board(str(p)).spaces, "board"),
        (shipped("configs") / "linkage_ppo.yaml", load_config, ""),
        (shipped("configs") / "love_links_az.yaml", load_config, ""),
        (linear._SCORERS / "link_o.json", _scorer, ""),
        (solved.SOLVED_POSITIONS / f"{NAMES[0]}.jsonl", _solved, ""),
    ]
    for path, read, words in readers:
        lines = path.read_text(encoding="utf-8").splitlines(True)
        text = "".join(lines[:20] if path.suffix == ".jsonl" else lines)
        found[f"{path.parent.name} {path.stem}"] = Kind(path.name, text, read, words)
    return found


def _scorer(path: Path) -> Any:
    return linear.load_scorer(get_game("link_o"), str(path)).weights.tobytes()


def warm(game: str, folder: Path) -> None:
    """Reads one plain file of each kind."""
    for name in kinds():
        _plain(name, folder)


@cache
def _plain(name: str, folder: Path) -> Any:
    return kinds()[name].read(write(folder / f"plain {name}", name, kinds()[name].text.encode()))


def write(place: Path, name: str, data: bytes) -> Path:
    place.mkdir(parents=True, exist_ok=True)
    weights = shipped("checkpoints") / name.split()[1] / "model.safetensors"
    if weights.exists() and not (place / weights.name).exists():
        (place / weights.name).symlink_to(weights)
    (place / kinds()[name].name).write_bytes(data)
    return place / kinds()[name].name


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """One file, written in another way, under an odd name or read from another folder."""
    if dice.chance(0.05):
        return _console(dice) if dice.chance(0.04) else _labels(dice, folder / "labels.npz")
    name, odd = dice.pick(list(kinds())), dice.pick(ODD)
    kind = kinds()[name]
    choices = ways(dice, kind)
    way = dice.pick(list(choices))
    verdict, made = choices[way]
    dice.note(f"{name}: {way} ({verdict}), in {odd}")
    data, before = made(), Path.cwd()
    path = write(folder / odd / name, name, data if isinstance(data, bytes) else data.encode())
    try:
        if dice.chance(0.3):
            os.chdir(path.parent.parent)
            path = Path(name, kind.name)
        read = kind.read(path)
    except ValueError as error:
        said = str(error)
    else:
        assert verdict != WRONG, "accepted"
        if way == "line breaks":
            assert any("\n" in card.text for card in read), "line breaks in cells vanished"
        elif verdict != ANY:
            assert read == _plain(name, folder), "read as something else"
        return True
    finally:
        os.chdir(before)
    assert verdict != SAME, f"refused: {said}"
    told = any(word in said for word in (str(path.parent), kind.name, *kind.words.split()))
    assert told, f"the message names nothing of the file: {said}"
    return False


def ways(dice: Dice, kind: Kind) -> dict[str, Way]:
    """Ways to write a file."""
    text = kind.text
    data = text.rstrip().encode()
    at, codec = dice.below(len(data)), dice.pick(["utf-16", "utf-16-le", "utf-32", "cp500"])
    bad = dice.pick([b"\xff", b"\xe4\xf6", b"\xc0\x80", b"\x80"])
    return {
        "BOM": (MAY, lambda: text.encode("utf-8-sig")),
        "CRLF": (SAME, lambda: text.replace("\n", "\r\n")),
        "BOM and CRLF": (MAY, lambda: text.replace("\n", "\r\n").encode("utf-8-sig")),
        "CR": (MAY, lambda: text.replace("\n", "\r")),
        codec: (MAY, lambda: text.encode(codec, "replace")),
        "no UTF-8": (WRONG, lambda: data[:at] + bad + data[at:]),
        "cut": (WRONG if text[0] == "{" else ANY, lambda: data[:at]),  # lines may be left out
        **_OF[kind.name.rpartition(".")[2]](dice, text),
        "no text": (WRONG, lambda: dice.pick(["", "\n", " \n \n", "\0" * 99, "\ufeff", "\x1f\b"])),
    }


def _shuffled(dice: Dice, data: Any) -> Any:
    """The same data with keys in another order."""
    if isinstance(data, dict):
        keys = sorted(data, key=lambda _: dice.below(10**6))
        return {key: _shuffled(dice, data[key]) for key in keys}
    return [_shuffled(dice, each) for each in data] if isinstance(data, list) else data


def _json(dice: Dice, text: str) -> dict[str, Way]:
    def same() -> str:
        indent, plain = dice.pick([None, 1, "\t"]), dice.chance(0.5)
        made = json.dumps(_shuffled(dice, json.loads(text)), indent=indent, ensure_ascii=plain)
        return dice.pick(["", " \n\r\n\t"]) + made + dice.pick(["", "\n\n", " \t\r\n"])

    def twice() -> str:
        at = dice.pick([found.end() for found in re.finditer(r'\{(?=\s*")', text)])
        key = text[at:].lstrip().split('"')[1]
        return f'{text[:at]}"{key}": {dice.pick(["0", "null", "[]"])}, {text[at:]}'

    ways = [text + "x", text * 2, text[:-1] + ",}", text.replace('"', "'"), "// x\n" + text]
    ways += [text.replace(":", "=", 1), f"[{text}]", json.dumps(text), text.replace("{", "[", 1)]
    ways += ["null", "[]", "{}", "5", "NaN", '""', "[" * 10**5]
    damaged: Way = WRONG, lambda: dice.pick(ways)
    return {"same": (SAME, same), "key twice": (WRONG, twice), "damaged": damaged}


def _csv(dice: Dice, text: str) -> dict[str, Way]:
    def table(rows: list[list[str]], **how: Any) -> str:
        out = io.StringIO(newline="")
        csv.writer(out, **how).writerows(rows)
        return out.getvalue()

    head, *rows = list(csv.reader(io.StringIO(text, newline="")))
    at, column = dice.below(len(rows)), head.index("text")
    broken = [[*r[:column], r[column].replace(" ", "\n"), *r[column + 1 :]] for r in rows]
    ways = [
        rows,
        [head, *rows, rows[at]],
        [head, *rows[:at], *rows[at + 1 :]],
        [head],
        [head, *rows * 2],
    ]
    ways += [[[*row, "x"] for row in [head, *rows]], [row[:-1] for row in [head, *rows]]]
    ways += [[[word.upper() for word in head], *rows], [head, *rows, ["x"]]]
    separator, quoting = dice.pick([";", "\t", "|"]), dice.pick([csv.QUOTE_ALL, csv.QUOTE_MINIMAL])
    return {
        "same": (SAME, lambda: table([head, *rows], quoting=quoting)),
        "separator": (MAY, lambda: table([head, *rows], delimiter=separator)),
        "damaged": (WRONG, lambda: table(dice.pick(ways))),
        "line breaks": (MAY, lambda: table([head, *broken])),
    }


def _yaml(dice: Dice, text: str) -> dict[str, Way]:
    data, flow = _shuffled(dice, yaml.safe_load(text)), dice.pick([None, True, False])
    key, value = dice.pick(list(data)), dice.pick(["0", "null", "[]", "x"])
    ways = [
        "[",
        "- 1\n",
        "x",
        "5",
        "null",
        "\t" + text,
        text + "\n---\n" + text,
        text + "\n  x: 1\n",
    ]
    ways += [text.replace(": ", "="), text + "\n}", text + "\n*x: 1", text + "\n1: 1\nnone: 1"]
    return {
        "same": (SAME, lambda: yaml.safe_dump(data, default_flow_style=flow, sort_keys=False)),
        "key twice": (WRONG, lambda: f"{text}\n{key}: {value}\n"),
        "damaged": (WRONG, lambda: dice.pick(ways)),
    }


_OF = {"json": _json, "csv": _csv, "yaml": _yaml}


def _labels(dice: Dice, path: Path) -> bool:
    """Bytes of a compressed file of arrays: what can be read is what was written."""
    settings = LabelSettings(NAMES[0], {}, (2,), "random", 1, "random", 0.0, 0)
    states = np.zeros(50, get_game(NAMES[0]).state)
    made = Labels(settings, 1, states, np.full(50, 2), np.arange(100), np.ones(100, np.float32))
    write_labels(made, path)
    path.write_bytes(mutate_bytes(dice, path.read_bytes()))
    dice.note("bytes of a file of labels")
    try:
        read = read_labels(path)
    except ValueError as error:
        said = str(error)
    else:
        assert read.settings == settings, "other settings"
        same = [np.array_equal(getattr(read, name), getattr(made, name)) for name in _ARRAYS]
        assert all(same), f"other arrays: {same}"
        return True
    assert path.name in said, f"the message doesn't name the file: {said}"
    return False


def _console(dice: Dice) -> bool:
    """A command in a console that can't show everything."""
    words = dice.pick(_COMMANDS).format(game=dice.pick(NAMES)).split("\n")
    environment = {**os.environ, "PYTHONIOENCODING": dice.pick(_CONSOLES), "PYTHONUTF8": "0"}
    dice.note(f"PYTHONIOENCODING={environment['PYTHONIOENCODING']} python {' '.join(words)}")
    command = [sys.executable, *words]
    done = subprocess.run(
        command, input=b"quit\n", capture_output=True, env=environment, timeout=250, check=False
    )
    errors = done.stderr.decode(errors="replace")
    assert done.returncode == 0, f"exit status {done.returncode}: {errors[-500:]}"
    assert "Traceback" not in errors, errors[-500:]
    return True
