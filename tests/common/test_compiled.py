"""Functions are compiled with the names that they are bound to (their cache: test_cache.py)."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any

import numba
import pytest

from linkzoo import get_game
from linkzoo.engine.compiled import bind, compiled, specialise


def double(number: Any) -> Any:
    return 2 * number


help_with: Callable[[Any], Any]  # declared, not defined: `specialise` binds it


def add_helped(number: Any) -> Any:
    return number + help_with(number)  # noqa: F821


@compiled
def tripled(number: Any) -> Any:
    """Three times as much."""
    return 3 * number


@compiled
def squared(number: Any) -> Any:
    return number * number


def test_bindings() -> None:
    """Each specialisation calls its own functions; the original is untouched."""
    three = specialise(add_helped, "three", help_with=tripled)
    square = specialise(add_helped, "square", help_with=squared)
    assert (three(5), square(5), three(5)) == (20, 30, 20)
    assert "help_with" not in globals()
    names = [plain(function).__name__ for function in (three, square)]
    assert names[0].startswith("add_helped_three")
    assert names[1].startswith("add_helped_square")
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


@pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT),  # type: ignore[attr-defined]  # set when numba is imported
    reason="nothing is compiled",
)
def test_symbols_of_different_bindings_have_different_names() -> None:
    """The linker takes functions of one name for one, also when other processes compiled them.

    Numba tells functions of one process from one another by counting them, and nothing else.
    """
    three: Any = specialise(add_helped, "three", help_with=tripled)
    square: Any = specialise(add_helped, "square", help_with=squared)
    names = [made.part.py_func.__qualname__ for made in (three, square)]
    assert names == ["add_helped_three", "add_helped_square"]
    boards = [get_game("link_o", {"board": board}) for board in ("ring4x16", "ring4x12")]
    for part in ("observe", "legal_actions", "apply", "new_game"):
        one, other = (getattr(game, part).part.py_func.__qualname__ for game in boards)
        assert one != other
        assert one.startswith(f"{part}_link_o_")


@compiled
def countdown(number: Any) -> Any:
    return 0 if number <= 0 else 1 + countdown(number - 1)


@compiled
def share(number: Any, parts: Any) -> Any:
    return number // parts


@compiled
def shares(number: Any, parts: Any) -> Any:
    return share(number, parts) + share(number, countdown(parts))


def test_functions_called_from_both_sides() -> None:
    """From Python and from compiled code: results, recursion and exceptions are the same."""
    assert (countdown(5), share(7, 2), shares(7, 2)) == (5, 3, 6)
    for function in (share, shares):
        with pytest.raises(ZeroDivisionError):
            function(7, 0)
