"""How the package compiles: rule functions, and generic functions specialised for one game.

Rules are written once as plain functions marked with `compiled`. Generic code (the batch runner,
tree search) calls them by fixed names; `specialise` binds those names to one game's functions and
compiles the result. Both are compiled at their first use and cached on disk, under a name that
holds a digest of every source file and table that may be inlined: a cached function is never stale.
With `NUMBA_DISABLE_JIT=1` everything runs unchanged in the interpreter.
"""

import hashlib
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import FunctionType
from typing import Any, TypeVar, cast

import numba
import numpy as np

F = TypeVar("F", bound=Callable[..., Any])

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
    name = f"{plain.__name__}_{key}_{_digest(Path(plain.__code__.co_filename).parent)}"
    names = {**plain.__globals__, **bindings} if bindings else plain.__globals__
    bound = FunctionType(plain.__code__, names, name, plain.__defaults__)
    bound.__qualname__ = name
    bound.__module__ = plain.__module__
    bound.__doc__ = plain.__doc__
    return cast(F, numba.njit(bound, parallel=parallel, cache=True))


@cache
def _digest(folder: Path) -> str:
    """A short digest of the package's sources and tables, and of those in the function's folder."""
    digest = hashlib.sha256()
    for root in (Path(__file__).parent, folder):
        for path in sorted([*root.rglob("*.py"), *root.rglob("*.csv")]):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:12]
