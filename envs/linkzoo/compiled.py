"""How the package compiles: rule functions, and generic functions specialised for one game.

Rules are written once as plain functions marked with `compiled`. Generic code (the batch runner,
tree search) calls them by fixed names; `specialise` binds those names to one game's functions and
compiles the result. Both are compiled at their first use and cached on disk, under a name that
holds a digest of every source file and table that may be inlined: a cached function is never stale.
With `NUMBA_DISABLE_JIT=1` everything runs unchanged in the interpreter.
"""

import hashlib
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

# Files that compiled code is made of.
_SOURCES = ("*.py", "*.csv", "*.json")

# A NumPy record: one whole game. Its fields are read and written as attributes.
Record = np.record


def compiled(function: F) -> F:
    """Compiles a function over records and integers."""
    return specialise(function, "")


def specialise(function: F, key: str, *, parallel: bool = False, **bindings: Any) -> F:
    """Returns `function`, compiled, with the global names in `bindings` bound to the given values.

    `key` names the specialisation in the on-disk cache: equal keys must mean equal bindings.
    `parallel` turns `numba.prange` loops into loops over CPU threads.
    """
    plain = cast(FunctionType, function)
    names = {**plain.__globals__, **bindings} if bindings else plain.__globals__
    return cast(F, _compile(plain, key, names, parallel))


def bind(modules: Sequence[ModuleType], key: str, **bindings: Any) -> list[SimpleNamespace]:
    """The modules with all their plain functions compiled and the names in `bindings` bound.

    For rules that are written over data known only when a game is made, such as a board: the
    functions call one another, across the modules too, as they are bound here. `key` is that of
    `specialise`. The modules themselves stay as they are.
    """
    spaces = [dict(vars(module)) for module in modules]
    made = {
        value: _compile(value, key, space, False)
        for module, space in zip(modules, spaces, strict=True)
        for value in vars(module).values()
        if isinstance(value, FunctionType) and value.__module__ == module.__name__
    }
    for space in spaces:
        space.update(
            {
                name: made[value]
                for name, value in space.items()
                if isinstance(value, FunctionType) and value in made
            },
            **bindings,
        )
    return [SimpleNamespace(**space) for space in spaces]


def _compile(plain: FunctionType, key: str, names: dict[str, Any], parallel: bool) -> Any:
    """The function with these global names, under the name that the on-disk cache knows."""
    name = f"{plain.__name__}_{key}_{_digest(Path(plain.__code__.co_filename).parent)}"
    bound = FunctionType(plain.__code__, names, name, plain.__defaults__)
    bound.__qualname__ = name
    bound.__module__ = plain.__module__
    bound.__doc__ = plain.__doc__
    return numba.njit(bound, parallel=parallel, cache=True)


@cache
def _digest(folder: Path) -> str:
    """A short digest of the package's sources and tables, and of those in the function's folder."""
    digest = hashlib.sha256()
    for root in (Path(__file__).parent, folder):
        for path in sorted(path for kind in _SOURCES for path in root.rglob(kind)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
