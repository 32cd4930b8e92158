"""Command lines of `linkzoo`, with changed words and nasty values."""

import math
import re
import shutil
import sys
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path

from linkzoo.games.linkage import solver
from linkzoo.registry import NAMES
from linkzoo_training.commands.cli import main
from linkzoo_training.commands.tools import bench
from tests.fuzz.dice import FLOATS, INTEGERS, STRINGS, Dice, mutate_text, short

_FIRST_QUICK = "{first}_ppo_quick"
_TRAIN = (
    "num_envs=4 horizon=8 width=8 blocks=1 network=flat minibatches=2 total_steps=32 num_threads=1 "
    "eval.every=9 eval.blocks=1 eval.final_opponents=[random] eval.final_blocks=1 device=cpu "
    "initial_states.vary={}"
)
_BEST_RESPONSE = "experiment best-response random --game {first} --games 2 --steps 32 "
_BEST_RESPONSE += f"--config {_FIRST_QUICK} {_TRAIN}"
# Each ends soon; `{run}` is a new folder.
_LINES = [
    "evaluate random greedy --games 2 --seed 1 --openings 0-2 --batch 2",
    "evaluate random random --games 2 --sprt 0 10 --players 2 skip_forced=true",
    "evaluate random uct-2 --games 2 --simulations 3 --openings 2 --json result.json",
    "evaluate {first} random --games 2 --simulations 2",
    "tournament random greedy --games 2 --seed 1 --openings 0 --players 2 --output {run}",
    "play {first} --opponent random --seat 0 --seed 1 --record game.json",
    "play {first} --opponent uct-2 --seat 1 --seed 5 --simulations 2 threshold=9",
    "tools bench --game {first} --players 2",
    "llm benchmark random --game {first} --positions 3 --games 2 --batch 2 --json b.json --seed 1",
    f"train {_FIRST_QUICK} name={{run}} {_TRAIN}",
    _BEST_RESPONSE,
]
# Options whose value decides how long the command takes: no large numbers for them.
_LONG = {"--games", "--steps", "--simulations", "--batch", "--workers", "--seconds"}
_ABOVE_ZERO = {"--games", "--batch", "--simulations", "--players", "--steps", "--workers"}
_NUMBERS = {*_ABOVE_ZERO, "--seed", "--seat", "--sprt", "--seconds"}
_ENOUGH = 50


def warm(game: str, folder: Path) -> None:
    """Measures and solves less, and runs what is to be changed."""
    bench._SECONDS = 0.01
    solver.Solver.winner.__defaults__ = (2**16,)  # 2**24 take half a minute
    for line in _LINES:
        status, _, errors = _run(_words(line), "quit\n")
        _clean()
        assert status == 0, f"{line}: {errors}"


def _words(line: str) -> list[str]:
    return line.replace("{first}", NAMES[0]).replace("{run}", "run").split()


def attempt(dice: Dice, game: str, folder: Path) -> bool:
    """A changed command line is run, with a person at the terminal who soon quits."""
    words = _words(dice.pick(_LINES))
    for _ in range(1 if dice.chance(0.7) else 2):
        _change(dice, words)
    dice.note(short(words))
    try:
        status, _, errors = _run(words, dice.pick(["", "quit\n", "?\nhelp\nx\n99999\n-1\nq\n"]))
        left = sorted(path.name for path in Path().iterdir())
    finally:
        _clean()
    dice.note(f"{short(words)}: {status}, {short(errors)}")
    assert status in (0, 2, 130), f"exit status {status}"
    if status in (0, 130):
        wrong = _nonsense(words)
        assert wrong is None, f"accepted: {wrong}"
        return True
    assert "Traceback" not in errors, "a traceback"
    if not errors.startswith("usage: "):
        lines = [line for line in errors.splitlines() if line.startswith("linkzoo: ")]
        assert len(lines) == 1, f"{len(lines)} lines of errors"
    assert not left, f"refused, but left {left}"
    return False


def _run(words: list[str], typed: str) -> tuple[object, str, str]:
    """Exit status, stdout, stderr."""
    out, errors, before = StringIO(), StringIO(), sys.stdin
    sys.stdin = StringIO(typed)
    try:
        with redirect_stdout(out), redirect_stderr(errors):
            status: object = main(words)
    except SystemExit as stop:
        status = stop.code or 0
    finally:
        sys.stdin = before
    return status, out.getvalue(), errors.getvalue()


def _clean() -> None:
    """Takes away what a command wrote into the current folder."""
    for path in Path().iterdir():
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink()


def _change(dice: Dice, words: list[str]) -> None:
    """Drops, doubles, swaps or changes a word, or gives an option a nasty value."""
    at, other, kind = dice.below(len(words)), dice.below(len(words)), dice.below(12)
    options = [i for i, word in enumerate(words) if word.startswith("--")]
    if kind < 5 and options:
        at = dice.pick(options)
        if at + 1 < len(words):
            words[at + 1] = _value(dice, words[at])
    elif kind == 5:
        settings = [i for i, word in enumerate(words) if "=" in word]
        if settings:
            at = dice.pick(settings)
            name = words[at].partition("=")[0]
            if name not in (
                "total_steps",
                "eval.final_blocks",
                "num_envs",
                "horizon",
                "name",
                "width",
            ):
                words[at] = f"{name}={dice.pick([*STRINGS, '[', '{', '!!python/name:os.system'])}"
    elif kind == 6 and "=" not in words[at]:  # which limit how long it takes
        del words[at]
    elif kind == 7:
        words[at], words[other] = words[other], words[at]
    elif kind == 8:
        words.insert(at, dice.pick(STRINGS))
    elif kind == 9:
        agents = ["uct-0", "uct-2147483647", "uct-99999999999", "cheat-2", "exact", "checkpoint"]
        agents += ["nobody", "{0}:2147483647", "{0}@0", "{0}@99", "{0}~9e9", "{0}~0.5:0", "human"]
        names = [i for i, word in enumerate(words) if word in ("random", "greedy", NAMES[0])]
        if names:
            words[dice.pick(names)] = dice.pick(agents).format(NAMES[0])
    elif "=" not in words[at] and words[at - 1] not in _LONG:
        words[at] = mutate_text(dice, words[at])


def _value(dice: Dice, option: str) -> str:
    """A value for an option, but none that rightly takes long."""
    if dice.chance(0.3):
        return dice.pick(STRINGS)
    number = dice.pick(INTEGERS) if dice.chance(0.6) else dice.pick(FLOATS)
    if option in _LONG and number > _ENOUGH:
        number = -number
    if option == "--openings":
        return dice.pick(["0", "2-4", "4-2", "9999999999999", f"{number}", f"0-{number}"])
    return str(number) if abs(number) < 1e300 or not isinstance(number, int) else "1" * 400


def _nonsense(words: list[str]) -> str | None:
    """A number in a command line that ran through, though it can't mean anything."""
    for index, option in enumerate(words):
        count = 2 if option == "--sprt" else 1
        if option not in _NUMBERS:
            continue
        for text in words[index + 1 : index + 1 + count]:
            if not re.fullmatch(r"[-+]?(nan|inf|[0-9.]+(e[-+]?[0-9]+)?)", text):
                continue
            number = float(text)
            wrong = not math.isfinite(number) or abs(number) > 2**64
            wrong |= option != "--sprt" and number < 0
            wrong |= option in _ABOVE_ZERO and number <= 0
            if wrong:
                return f"{option} {text}"
    return None
