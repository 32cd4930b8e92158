"""Command lines of `linkzoo`, with changed words and values that nobody expects."""

import argparse
import math
import re
import shutil
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from functools import cache
from io import BytesIO, StringIO, TextIOWrapper
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from linkzoo import game_names
from linkzoo.games.linkage.solver import Solver
from linkzoo_training.__main__ import main
from linkzoo_training.commands.cli import make_parser, subcommands
from linkzoo_training.commands.tools import bench
from tests.driving import first_quick
from tests.fuzz.strategies import Draw, changed_text, consoles, floats, integers, short, texts

pytestmark = pytest.mark.slow  # quick: tests/training/test_cli.py

_GAME = game_names()[0]
_TRAIN = (
    "num_envs=4 horizon=8 width=8 blocks=1 network=flat minibatches=2 total_steps=32 num_threads=1 "
    "eval.every=9 eval.blocks=1 eval.final_opponents=[random] eval.final_blocks=1 device=cpu "
    "initial_states.vary={}"
)
# Each of these command lines takes a moment.
_LINES = [
    line.replace("GAME", _GAME).replace("TRAIN", _TRAIN).split()
    for line in (
        "evaluate random greedy --games 2 --seed 1 --openings 0-2 --batch 2",
        "evaluate random random --games 2 --sprt 0 10 --players 2 skip_forced=true",
        "evaluate random uct-2 --games 2 --simulations 3 --openings 2 --json result.json",
        "evaluate GAME random --games 2 --simulations 2",
        "tournament random greedy --games 2 --seed 1 --openings 0 --players 2 --output run",
        "play GAME --opponent random --seat 0 --seed 1 --record game.json",
        "play GAME --opponent uct-2 --seat 1 --seed 5 --simulations 2 skip_forced=true",
        "data selfplay random greedy --game GAME --games 2 --seed 1 --openings 0 --out games",
        "linear labels GAME --positions 2 --playouts 2 --players 2 --seed 1 --out labels.npz",
        "llm benchmark random --game GAME --positions 3 --games 2 --batch 2 --seed 1 --json b.json",
        "tools bench --game GAME --players 2",
        "train GAME_ppo_quick name=run TRAIN",
        "experiment best-response random --game GAME --steps 32 --config GAME_ppo_quick TRAIN",
    )
]
# Options whose value decides how long the command takes: no large numbers for them.
_LONG = {
    *("--games", "--steps", "--simulations", "--batch", "--workers", "--seconds", "--positions"),
    *("--playouts", "--decisions"),
}
_MOST = 50  # of such an option
_POSITIVE = {*_LONG, "--players"} - {"--seconds"}
_NUMBERS = {*_POSITIVE, "--seed", "--seat", "--sprt", "--seconds"}
_EXTREMES = ["0", "0.0", "-0", "-1", "-0.5", "-1e9", "nan", "inf", "1e30", f"{2**64 + 4096}"]
# Settings that decide how long a training takes, and where it is saved.
_KEPT = {"total_steps", "eval.final_blocks", "num_envs", "horizon", "name", "width"}
_AGENTS = [
    *("uct-0", "uct-2147483647", "uct-99999999999", "cheat-2", "checkpoint", "nobody", "human"),
    "exact",
    *(f"{_GAME}{end}" for end in (":2147483647", "@0", "@99", "~9e9", "~0.5:0")),
]
_TYPED = ["", "quit\n", "?\nhelp\nx\n99999\n-1\nq\n"]
# Paths outside the current folder could be written to.
_words = texts.filter(lambda text: not text.startswith(("/", "..", "~")))


@pytest.fixture(autouse=True, scope="module")
def _quick() -> Iterator[None]:
    """Measurements of `linkzoo tools bench` and searches of `exact` end soon."""
    solves_less = patch.object(Solver.winner, "__defaults__", (2**12,))
    with patch.object(bench, "_SECONDS", 0.01), solves_less:
        yield


@st.composite
def command_lines(draw: Draw) -> list[str]:
    """The words of a command line with one or two changes."""
    words: list[str] = list(draw(st.sampled_from(_LINES)))
    for _ in range(draw(st.sampled_from([1, 1, 2]))):
        way = draw(st.sampled_from([*["option"] * 5, *_WAYS]))
        if way == "option":
            _change_option(draw, words)
        else:
            _change_word(draw, words, way)
    return words


@st.composite
def wrong_numbers(draw: Draw) -> list[str]:
    """The words of a command line in which an option has a number that can't mean anything."""
    line, option = draw(st.sampled_from(_number_options()))
    words = list(line)
    wrong = [text for text in _EXTREMES if _is_meaningless(option, text)]
    if "benchmark" in words and option == "--games":
        wrong = [text for text in wrong if float(text) != 0]  # positions alone
    _set_option(words, option, draw(st.sampled_from(wrong)))
    return words


@cache
def _number_options() -> list[tuple[list[str], str]]:
    """Returns each option of a command that takes a number, with a line of the command."""
    lines = {
        (option, *_options(*words[:2])): (words, option)
        for words in _LINES
        for option in _options(*words[:2])
        if option in _NUMBERS
    }
    return list(lines.values())


_WAYS = ["setting", "drop", "swap", "insert", "agent", "text", "text"]


def _change_option(draw: Draw, words: list[str]) -> None:
    """Gives an option of the command another value; adds the option if it isn't there."""
    given = [word for word in words if word.startswith("--")]
    option = draw(st.sampled_from([*given, *_options(*words[:2])]))
    _set_option(words, option, draw(_option_values(option)))


def _set_option(words: list[str], option: str, value: str) -> None:
    if option not in words:
        words += [option, value]
        return
    at = words.index(option) + 1
    words[at : at + 1] = [value]


@cache
def _options(*words: str) -> list[str]:
    """Returns the options with a value of the command that these words start with."""
    parser = make_parser()
    for word in words:
        parser = subcommands(parser).get(word, parser)
    return [
        action.option_strings[-1]
        for action in parser._actions
        if action.option_strings
        and not isinstance(action, argparse._HelpAction)
        and action.nargs != 0
    ]


def _option_values(option: str) -> st.SearchStrategy[str]:
    """Returns values of an option, but no number with which it would rightly take long."""
    numbers = (integers | integers | floats).map(lambda number: _number(option, number))
    plies = st.sampled_from(["0", "2-4", "4-2", "9999999999999", "0-1e9"])
    return st.one_of(_words, numbers, numbers, plies if option == "--openings" else numbers)


def _number(option: str, number: int | float) -> str:
    if option in _LONG and number > _MOST:
        number = -number
    if isinstance(number, int) and abs(number) > 10**300:
        return "1" * 400
    return str(number)


def _change_word(draw: Draw, words: list[str], way: str) -> None:
    """Changes a word or its place, but no word that limits how long a training takes."""
    at = draw(st.integers(0, len(words) - 1))
    other = draw(st.integers(0, len(words) - 1))
    is_setting = "=" in words[at]
    if way == "setting":
        _change_setting(draw, words)
    elif way == "agent":
        names = [i for i, word in enumerate(words) if word in ("random", "greedy", _GAME)]
        if names:
            words[draw(st.sampled_from(names))] = draw(st.sampled_from(_AGENTS))
    elif way == "swap":
        words[at], words[other] = words[other], words[at]
    elif way == "insert":
        words.insert(at, draw(_words))
    elif way == "drop" and not is_setting:
        del words[at]
    elif way == "text" and not is_setting and words[at - 1] not in _LONG:
        words[at] = draw(changed_text(words[at]))


def _change_setting(draw: Draw, words: list[str]) -> None:
    settings_at = [
        i for i, word in enumerate(words) if "=" in word and word.partition("=")[0] not in _KEPT
    ]
    if settings_at:
        at = draw(st.sampled_from(settings_at))
        name = words[at].partition("=")[0]
        value = draw(_words | st.sampled_from(["[", "{", "!!python/name:os.system"]))
        words[at] = f"{name}={value}"


def _run(words: list[str], typed: str, out: TextIOWrapper, errors: TextIOWrapper) -> object:
    """Runs a command in this process; returns the exit status."""
    arguments = patch.object(sys, "argv", ["linkzoo", *words])
    keyboard = patch.object(sys, "stdin", StringIO(typed))
    with redirect_stdout(out), redirect_stderr(errors), arguments, keyboard:
        try:
            return main()
        except SystemExit as stop:
            return stop.code or 0


def _clean() -> None:
    """Removes a command's files from the current folder."""
    for path in Path().iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


# Quick: the same commands in tests/training. The last one, an experiment, trains for long.
@pytest.mark.parametrize("words", first_quick(_LINES, 0, len(_LINES) - 1), ids=" ".join)
def test_unchanged_lines_run(words: list[str]) -> None:
    errors = TextIOWrapper(BytesIO())
    status = _run(words, "quit\n", TextIOWrapper(BytesIO()), errors)
    _clean()
    assert status == 0, _text(errors)


@pytest.mark.parametrize(
    "lines", [wrong_numbers(), command_lines()], ids=["wrong_numbers", "changed"]
)
@settings(max_examples=20)
@given(data=st.data())
def test_command_lines_are_refused_or_run(
    lines: st.SearchStrategy[list[str]], data: st.DataObject
) -> None:
    """A refused command says why in one line, on any console, and leaves no file behind."""
    words = data.draw(lines)
    console = data.draw(consoles)
    try:
        status = _run(words, data.draw(st.sampled_from(_TYPED)), data.draw(consoles), console)
        left_behind = sorted(path.name for path in Path().iterdir())
    finally:
        _clean()
    errors = _text(console)
    note(f"{short(words)}: {status}, {short(errors)}")
    assert status in (0, 2, 130), f"exit status {status}"
    if status in (0, 130):
        wrong = _meaningless(words)
        assert wrong is None, f"accepted: {wrong}"
        return
    assert "Traceback" not in errors, "a traceback"
    if not errors.startswith("usage: "):
        reasons = [line for line in errors.splitlines() if line.startswith("linkzoo: ")]
        assert len(reasons) == 1, f"{len(reasons)} lines of errors"
    if "not solved by a search" not in errors:  # `exact` may give up in the midst of a run
        assert not left_behind, f"refused, but left {left_behind}"


def _text(console: TextIOWrapper) -> str:
    """Returns the text that was printed on a console."""
    console.seek(0)
    return console.read()


def _meaningless(words: list[str]) -> str | None:
    """Returns an option whose number can't mean anything; None if there is none."""
    for index, option in enumerate(words):
        count = 2 if option == "--sprt" else 1
        for text in words[index + 1 : index + 1 + count] if option in _NUMBERS else []:
            if _is_meaningless(option, text):
                return f"{option} {text}"
    return None


def _is_meaningless(option: str, text: str) -> bool:
    """Whether the text is a number that this option can't have."""
    if not re.fullmatch(r"[-+]?(nan|inf|[0-9.]+(e[-+]?[0-9]+)?)", text):
        return False
    number = float(text)
    wrong = not math.isfinite(number) or abs(number) > 2**64
    wrong |= option != "--sprt" and number < 0
    return wrong or (option in _POSITIVE and number <= 0)
