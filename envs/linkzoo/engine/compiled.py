"""How the package compiles: rule functions, and generic functions specialised for one game.

Rules are written once as plain functions marked with `compiled`. Generic code (the batch runner,
tree search) calls them by fixed names; `specialise` binds those names to one game's functions and
compiles the result. A function is compiled when Python calls it first, as a whole: what it calls
is only translated for it (`parts`), and optimised where it is used. It is cached on disk under a
name that holds a digest of all code and all constants it is made of (`cache`): a cached function is
never stale, and is compiled anew only if something of its own has changed.
With `NUMBA_DISABLE_JIT=1` everything runs unchanged in the interpreter.
"""

import os
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType, SimpleNamespace
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable

from linkzoo.engine.cache import Source, cache_of, source_of
from linkzoo.engine.parts import part_of

F = TypeVar("F", bound=Callable[..., Any])

# A NumPy record: one whole game. Its fields are read and written as attributes.
Record = np.record


@register_jitable
def local(size: Any, dtype: Any) -> Any:
    """An array [size] of a function's own, not filled; `size` is a constant that has a name.

    On a GPU it lies in the thread's own memory (`linkzoo.cuda.device`).
    """
    return np.empty(size, dtype)


def compiled(function: F) -> F:
    """Compiles a function over records and integers."""
    return specialise(function, "")


def specialise(function: F, key: str, **bindings: Any) -> F:
    """Returns `function`, compiled, with the global names in `bindings` bound to the given values.

    `key` names the specialisation: equal keys must mean equal bindings.
    """
    plain = cast(FunctionType, function)
    names = {**plain.__globals__, **bindings} if bindings else plain.__globals__
    return cast(F, _compile(plain, key, names))


def bind(modules: Sequence[ModuleType], key: str, **bindings: Any) -> list[SimpleNamespace]:
    """The modules with all their plain functions compiled and the names in `bindings` bound.

    For rules that are written over data known only when a game is made, such as a board: the
    functions call one another, across the modules too, as they are bound here. `key` is that of
    `specialise`. The modules themselves stay as they are.
    """
    spaces = [dict(vars(module)) for module in modules]
    made = {
        value: _compile(value, key, space)
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


def _compile(plain: FunctionType, key: str, names: dict[str, Any]) -> Any:
    """The function with these global names, under a name of its own."""
    name = f"{plain.__name__}_{key}"
    bound = FunctionType(plain.__code__, names, name, plain.__defaults__)
    bound.__qualname__ = name
    bound.__module__ = plain.__module__
    bound.__doc__ = plain.__doc__
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # as numba.njit does
        return bound
    return _Compiled(bound)


if hasattr(os, "register_at_fork"):  # a child couldn't compile, had another thread been at it
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


class _Compiled(CPUDispatcher):
    """A compiled function that Python calls; compiled code that calls it takes its part."""

    def __init__(self, function: FunctionType) -> None:
        super().__init__(function, targetoptions={"nopython": True, "nogil": True})
        self.part = part_of(function)
        self._bound = function
        self._source: Source | None = None

    @property
    def _numba_type_(self) -> Any:
        return self.part._numba_type_

    def compile(self, sig: Any) -> Any:
        """Loads the function from the cache, or compiles it for arguments of these types."""
        with global_compiler_lock:
            if self._source is None:
                self._enable_cache()
            try:
                return super().compile(sig)
            finally:
                self._cache.unlock()

    def _enable_cache(self) -> None:
        """Now, not when it was made: what it calls is known only when all modules are there."""
        source = source_of(self)
        name = f"{self._bound.__name__}_{source.digest}"
        self._bound.__name__ = self._bound.__qualname__ = name
        self._cache = cache_of(self._bound, source)
        self._source = source
