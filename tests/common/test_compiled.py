"""Compiled functions are cached under names that change with every source they may hold."""

import importlib
import importlib.util
import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest
from numba import prange

import linkzoo
from linkzoo import compiled as module
from linkzoo.compiled import bind, compiled, specialise

SOURCE = """
from linkzoo.compiled import compiled

@compiled
def answer():
    return {answer}
"""


@pytest.fixture(autouse=True)
def _forget_digests() -> Iterator[None]:
    """Digests are taken once a process; here sources change."""
    module._digest.cache_clear()
    yield
    module._digest.cache_clear()


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def write(path: Path, answer: int) -> Any:
    """The function `answer` of a package that was just written."""
    path.write_text(SOURCE.format(answer=answer))
    os.utime(path, ns=(10**18, 10**18))
    module._digest.cache_clear()
    for stale in path.parent.glob("__pycache__/*.pyc"):
        stale.unlink()  # Python's own cache looks at the time, in seconds, and the size
    return load(path).answer


def double(number: Any) -> Any:
    return 2 * number


help_with: Callable[[Any], Any]  # declared, not defined: `specialise` binds it


def add_helped(number: Any) -> Any:
    return number + help_with(number)  # noqa: F821


def count_up(numbers: Any) -> None:
    for i in prange(numbers.shape[0]):
        numbers[i] += i


@compiled
def tripled(number: Any) -> Any:
    """Three times as much."""
    return 3 * number


@compiled
def squared(number: Any) -> Any:
    return number * number


def test_a_changed_file_changes_the_name(tmp_path: Path) -> None:
    first = write(tmp_path / "rules.py", 41)
    again = write(tmp_path / "rules.py", 41)
    changed = write(tmp_path / "rules.py", 42)
    assert first.__name__ == again.__name__ != changed.__name__


def test_a_changed_neighbour_changes_the_name(tmp_path: Path) -> None:
    """What a function calls is inlined into its cached code."""
    first = write(tmp_path / "rules.py", 41)
    (tmp_path / "pieces.py").write_text("SIZE = 7\n")
    second = write(tmp_path / "rules.py", 41)
    (tmp_path / "pieces.py").write_text("SIZE = 8\n")
    third = write(tmp_path / "rules.py", 41)
    (tmp_path / "deeper").mkdir()
    (tmp_path / "deeper" / "data.py").write_text("SIZE = 8\n")
    fourth = write(tmp_path / "rules.py", 41)
    (tmp_path / "deeper" / "board.json").write_text("{}")
    fifth = write(tmp_path / "rules.py", 41)
    assert len({function.__name__ for function in (first, second, third, fourth, fifth)}) == 5


def test_the_core_is_part_of_every_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change of chance.py makes every game's code anew, wherever the game's files are."""
    core = tmp_path / "core"
    shutil.copytree(
        Path(linkzoo.__file__).parent, core, ignore=shutil.ignore_patterns("__pycache__", "fonts")
    )
    monkeypatch.setattr(module, "__file__", str(core / "compiled.py"))
    game = tmp_path / "game"
    game.mkdir()
    first = write(game / "rules.py", 41)
    with (core / "chance.py").open("a") as source:
        source.write("# changed\n")
    second = write(game / "rules.py", 41)
    assert first.__name__ != second.__name__


def test_a_changed_function_is_never_stale(tmp_path: Path) -> None:
    """Even when the file keeps its size and its time, which are all that numba looks at."""
    path = tmp_path / "rules.py"
    stamps = []
    for number in (41, 42, 41):
        function = write(path, number)
        assert function() == number
        stamps.append((path.stat().st_size, path.stat().st_mtime_ns))
    assert len(set(stamps)) == 1
    if hasattr(function, "stats"):  # with NUMBA_DISABLE_JIT=1 nothing is cached
        assert sum(function.stats.cache_hits.values()) == 1  # the third is the first
        assert len(list(tmp_path.glob("__pycache__/*.nbi"))) == 2


def test_bindings() -> None:
    """Each specialisation calls its own functions; the original is untouched."""
    three = specialise(add_helped, "three", help_with=tripled)
    square = specialise(add_helped, "square", help_with=squared)
    assert (three(5), square(5), three(5)) == (20, 30, 20)
    assert "help_with" not in globals()
    names = [plain(function).__name__ for function in (three, square)]
    assert len(set(names)) == 2
    assert names[0].startswith("add_helped_three_")
    with pytest.raises(NameError):
        add_helped(1)


def plain(function: Any) -> FunctionType:
    """The Python function below a compiled one (itself with NUMBA_DISABLE_JIT=1)."""
    found: FunctionType = getattr(function, "py_func", function)
    return found


def test_names_and_docstrings() -> None:
    assert plain(tripled).__doc__ == "Three times as much."
    assert plain(tripled).__module__ == __name__
    assert plain(specialise(double, "a")).__name__ != plain(specialise(double, "b")).__name__
    assert double(4) == specialise(double, "a")(4) == 8


PARTS = {
    "parts": """
LIMIT: int

def capped(number):
    return min(number, LIMIT)
""",
    "whole": """
from parts import capped

def twice_capped(number):
    return later(2 * number)

def later(number):
    return capped(number)
""",
}


def test_modules_are_bound_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions call each other as bound, whatever their order and module; modules stay plain."""
    monkeypatch.syspath_prepend(tmp_path)
    for name, source in PARTS.items():
        (tmp_path / f"{name}.py").write_text(source)
    modules = [importlib.import_module(name) for name in PARTS]
    low, high = (bind(modules, f"limit{limit}", LIMIT=limit) for limit in (3, 7))
    assert (low[1].twice_capped(5), high[1].twice_capped(2), high[1].twice_capped(5)) == (3, 4, 7)
    assert low[0].capped is not high[0].capped
    assert low[0].LIMIT == 3
    assert not hasattr(modules[0], "LIMIT")
    assert not hasattr(modules[0].capped, "py_func")


def test_parallel_loops() -> None:
    numbers = np.zeros(1000, np.int64)
    specialise(count_up, "threads", parallel=True)(numbers)
    specialise(count_up, "")(numbers)
    assert np.array_equal(numbers, 2 * np.arange(1000))
