"""Functions are compiled with their closures and constants (their cache: test_cache.py)."""

import importlib
from collections.abc import Callable
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from numpy.typing import NDArray

from linkzoo import compiled
from linkzoo.engine.compiled import rebind

is_compiled = pytest.mark.skipif(
    bool(numba.config.DISABLE_JIT),  # type: ignore[attr-defined]  # set when numba is imported
    reason="nothing is compiled",
)


@compiled
def tripled(number: int) -> int:
    """Three times as much."""
    return 3 * number


@compiled
def squared(number: int) -> int:
    return number * number


def make_added(function: Callable[[int], int]) -> Callable[[int], int]:
    @compiled
    def added(number: int) -> int:
        """The number and the function's result for it."""
        return number + function(number)

    return added


def test_closures() -> None:
    """Each function of a factory calls its own closure variables, also inside another closure."""
    three, square = make_added(tripled), make_added(squared)
    assert (three(5), square(5), three(5)) == (20, 30, 20)
    assert make_added(three)(2) == 10
    assert make_added(square)(2) == 8


def plain(function: Any) -> FunctionType:
    """The Python function below a compiled one (itself with NUMBA_DISABLE_JIT=1)."""
    python_function: FunctionType = getattr(function, "function", function)
    return python_function


def test_names_and_docstrings() -> None:
    assert plain(tripled).__doc__ == tripled.__doc__ == "Three times as much."
    assert plain(tripled).__module__ == tripled.__module__ == __name__
    assert plain(make_added(tripled)).__name__ == "added"


MODULES = {
    "limits": """
from linkzoo import compiled

LIMIT = 3

@compiled
def capped(number):
    return min(number, LIMIT)
""",
    "users": """
import limits
from linkzoo import compiled
from limits import LIMIT, capped

@compiled
def twice_capped(number):
    return later(2 * number)

@compiled
def later(number):
    return capped(number) + 10 * LIMIT

@compiled
def by_module(number):
    return limits.capped(number) + 10 * limits.LIMIT

def label():
    return f"at most {LIMIT}"
""",
}


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    monkeypatch.syspath_prepend(tmp_path)
    for name, source in MODULES.items():
        (tmp_path / f"{name}.py").write_text(source)
    return [importlib.import_module(name) for name in MODULES]


def test_rebind(modules: list[Any]) -> None:
    """Bound functions call each other with their constants; modules stay as they are."""
    limits, users = modules
    low, high = (rebind(modules, {"LIMIT": limit}) for limit in (2, 7))
    assert low(users.twice_capped)(5) == 22
    assert [high(users.twice_capped)(number) for number in (2, 5)] == [74, 77]
    assert low(users.by_module)(5) == 22
    assert high(users.by_module)(5) == 75
    assert users.by_module(5) == users.twice_capped(5) == 33
    assert low(users.label)() == "at most 2"
    assert users.label() == "at most 3"
    assert limits.LIMIT == 3
    assert low(limits.capped) is not high(limits.capped)
    assert low(limits.capped).__name__ == "capped"
    assert rebind(modules, {"LIMIT": users.LIMIT})(users.label) is users.label


def test_a_function_of_another_module_is_not_bound(modules: list[Any]) -> None:
    """A bound module may call it, but it isn't one of theirs: `users` imports `capped`."""
    limits, users = modules
    for constants in ({"label": users.label}, {"label": 3}):
        with pytest.raises(ValueError, match="capped belongs to none of the bound modules"):
            rebind([users], constants)(limits.capped)


def test_rebind_refuses_a_constant_that_no_module_has(modules: list[Any]) -> None:
    with pytest.raises(ValueError, match="no module has a constant 'LIMITS'"):
        rebind(modules, {"LIMITS": 3})


def test_rebind_refuses_two_constants_of_one_name(
    modules: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Features of actions had an `AT` of their own, and got the observation's for other cards."""
    monkeypatch.setattr(modules[1], "LIMIT", [3], raising=False)
    with pytest.raises(ValueError, match=r"'LIMIT' is another constant in some of the modules"):
        rebind(modules, {"LIMIT": 2})


@is_compiled
def test_symbols_of_different_functions_have_different_names(modules: list[Any]) -> None:
    """The linker takes functions of one name for one, also when other processes compiled them.

    Numba tells functions of one process from one another by counting them, and nothing else.
    """
    later = modules[1].later
    bound: list[Any] = [rebind(modules, {"LIMIT": limit})(later) for limit in (4, 5)]
    made: list[Any] = [make_added(function) for function in (tripled, squared)]
    for pair in (bound, made):
        names = [function.callee.py_func.__qualname__ for function in pair]
        assert names[0] != names[1]
        assert len({name.rpartition("_")[0] for name in names}) == 1
    again: Any = make_added(tripled)
    assert again.callee.py_func.__qualname__ == made[0].callee.py_func.__qualname__


@compiled
def countdown(number: int) -> int:
    return 0 if number <= 0 else 1 + countdown(number - 1)


@compiled
def share(number: int, parts: int) -> int:
    return number // parts


@compiled
def shares(number: int, parts: int) -> int:
    return share(number, parts) + share(number, countdown(parts))


def test_functions_called_from_both_sides() -> None:
    """From Python and from compiled code: results, recursion and exceptions are the same."""
    assert (countdown(5), share(7, 2), shares(7, 2)) == (5, 3, 6)
    for function in (share, shares):
        with pytest.raises(ZeroDivisionError):
            function(7, 0)


class Shelf(NamedTuple):
    """Constants of compiled functions."""

    width: int
    heights: NDArray[np.int64]


SHELF = Shelf(2, np.array([3, 4]))


@compiled
def area(row: int) -> int:
    """Reads fields alone."""
    return SHELF.width * int(SHELF.heights[row])


@compiled
def height(shelf: Shelf) -> int:
    return int(shelf.heights.sum())


@compiled
def whole(row: int) -> int:
    """Reads a field, and passes the whole tuple on."""
    return SHELF.width + height(SHELF) + len(SHELF)


@compiled
def of_shelf(row: int) -> tuple[int, int]:
    return area(row), whole(row)


def test_named_tuples_are_constants() -> None:
    """Compiled functions read their fields, or use the whole tuple."""
    assert of_shelf(1) == (8, 11)


@compiled
def shifted(number: int, by: int = 1) -> int:
    """Shifts a number."""
    return number << by


@compiled
def shifts(small: NDArray[np.int8], wide: NDArray[np.int64], plain: NDArray[np.uint8]) -> int:
    """Calls `shifted` with integers of several widths, and with literals."""
    total = shifted(small[0], 2) + shifted(wide[0], 10) + shifted(3, by=11)
    return total + shifted(5) + shifted(7) + int(shifted(plain[0], 2))


def test_a_callee_is_compiled_once_for_widths_and_literals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))  # a cached function compiles none
    arrays = (np.array([-2], np.int8), np.array([4], np.int64), np.array([6], np.uint8))
    total = (-2 << 2) + (4 << 10) + (3 << 11) + (5 << 1) + (7 << 1) + (6 << 2)
    assert shifts(*arrays) == total
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        return
    signatures = list(shifted.callee.overloads)  # type: ignore[attr-defined]
    first = sorted(str(signature[0]) for signature in signatures)
    assert first == ["int64", "int64", "uint8"]  # with `by`, without it, and unsigned
