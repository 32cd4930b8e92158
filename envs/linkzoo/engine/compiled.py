"""The compiler of the package: `@compiled` on a function, also on one inside a factory.

Rules are plain functions over records and integers. Generic code (loops over games, tree search) is
made by factories that take rules as arguments, such as `linkzoo.core.kernels.make_fill_masks`.

A function is compiled as a whole when Python first calls it: its callees (`callees`) are optimised
only where they are inlined. The disk cache (`cache`) is keyed by a digest of all its code, closures
and constants, so a cached function is never stale and is recompiled only if one of these changes.
With `NUMBA_DISABLE_JIT=1` everything runs unchanged in the interpreter.
"""

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cached_property
from types import FunctionType, ModuleType
from typing import Any, TypeVar, cast

import numba
import numpy as np
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.extending import register_jitable

from linkzoo.engine.cache import Source, cache_of, source_of
from linkzoo.engine.callees import globals_by_field, make_callee

__all__ = ["rebind"]

F = TypeVar("F", bound=Callable[..., Any])


@register_jitable
def local(size: int, dtype: Any) -> Any:
    """Returns an uninitialised local array [size]; `size` must be a named constant.

    On a GPU it is allocated in the thread's local memory (`linkzoo.cuda.compiler`).
    """
    return np.empty(size, dtype)


@register_jitable
def shared(size: int, dtype: Any) -> Any:
    """Like `local`, but on a GPU the threads of a block share the array."""
    return np.empty(size, dtype)


@register_jitable
def thread() -> int:
    """Returns the number of this thread in its block on a GPU; 0 on a CPU."""
    return 0


@register_jitable
def threads() -> int:
    """Returns the number of threads in a block on a GPU; 1 on a CPU."""
    return 1


@register_jitable
def barrier() -> None:
    """Waits for all threads of the block on a GPU."""


def compiled(function: F, *, unique: bool = False) -> F:
    """Compiles a function over records, arrays and numbers when Python first calls it.

    Compiled code can call it too. Globals and closures are constants: don't change them afterwards.

    Args:
        function: A plain function that Numba's nopython mode supports.
        unique: Whether it is a copy of another function, with other globals.

    Returns:
        The compiled function; with `NUMBA_DISABLE_JIT=1` the function itself.
    """
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]  # as numba.njit does
        return function
    return cast(F, _Compiled(cast(FunctionType, function), unique=unique))


def plain_function(value: Any) -> FunctionType | None:
    """Returns the plain function of a compiled or plain function; None for other values."""
    if isinstance(value, _Compiled):
        return value.function
    if isinstance(value, FunctionType):
        return value
    return None


def entry_point(function: F, *arguments: Any) -> F:
    """Returns the machine code of a compiled function for the exact types of these arguments.

    This skips the type lookup, without which `step` and `last` of a `GameEnv` take 1.15 times as
    long.

    Args:
        function: A compiled function; it is compiled for the arguments if necessary.
        arguments: Arguments with the types and memory layouts of all later calls, which aren't
            checked.
    """
    if not isinstance(function, _Compiled):  # interpreter
        return function
    signature = tuple(map(numba.typeof, arguments))
    function.compile(signature)
    overload: Any = function.overloads[signature]
    return cast(F, overload.entry_point)


class Rebound:
    """Functions of rules modules, bound to other values of some constants.

    A call returns the bound function: `rebound(turns.apply)` is `turns.apply` with these constants.
    """

    def __init__(self, functions: Mapping[Any, Any]) -> None:
        self._functions = functions

    def __call__(self, function: F) -> F:
        """Returns the bound version of a function of the modules.

        Raises:
            ValueError: The function belongs to none of the modules.
        """
        if function not in self._functions:
            raise ValueError(f"{function.__qualname__} belongs to none of the bound modules")
        return cast(F, self._functions[function])


def rebind(modules: Sequence[ModuleType], constants: Mapping[str, Any]) -> Rebound:
    """Binds rules modules to other values of some constants.

    For rules over configurable data, such as a board: the modules declare the standard data as an
    ordinary constant, and this makes the rules for other data. Bound functions refer to one
    another, by function or by module. The modules don't change.

    Args:
        modules: Modules with functions, compiled or plain, that use the constants.
        constants: New values by name, set in each module that has the name. If the modules have
            these very values, their own functions are returned.

    Raises:
        ValueError: No module has a constant of this name, or two have different ones.
    """
    functions = [function for module in modules for function in _own_functions(module)]
    changed = False
    for name, constant in constants.items():
        holders = [module for module in modules if name in vars(module)]
        if not holders:
            raise ValueError(f"no module has a constant {name!r}")
        if len({id(vars(module)[name]) for module in holders}) > 1:
            holder_names = [module.__name__ for module in holders]
            raise ValueError(f"{name!r} is another constant in some of the modules {holder_names}")
        changed |= vars(holders[0])[name] is not constant
    if not changed:
        return Rebound({function: function for function in functions})
    copies = {module.__name__: ModuleType(module.__name__, module.__doc__) for module in modules}
    bound = {function: _bind(function, copies[function.__module__]) for function in functions}
    by_id: dict[int, Any] = {id(module): copies[module.__name__] for module in modules}
    by_id |= {id(function): copy for function, copy in bound.items()}
    for module in modules:
        names = copies[module.__name__].__dict__
        for name, value in vars(module).items():
            names[name] = by_id.get(id(value), constants.get(name, value))
    return Rebound(bound)


def _own_functions(module: ModuleType) -> list[Callable[..., Any]]:
    """Returns the functions that a module defines, compiled or plain."""
    functions = []
    for value in vars(module).values():
        plain = plain_function(value)
        if plain is not None and plain.__module__ == module.__name__:
            functions.append(value)
    return functions


def _bind(function: Callable[..., Any], module: ModuleType) -> Callable[..., Any]:
    """Returns a copy of a function that looks up its globals in another module."""
    if isinstance(function, _Compiled):
        return compiled(_copy(function.function, module.__dict__), unique=True)
    return _copy(cast(FunctionType, function), module.__dict__)


def _copy(function: FunctionType, names: dict[str, Any], name: str = "") -> FunctionType:
    copy = FunctionType(function.__code__, names, closure=function.__closure__)
    copy.__name__ = name or function.__name__
    copy.__qualname__ = name or function.__qualname__
    copy.__module__ = function.__module__
    copy.__doc__ = function.__doc__
    copy.__defaults__ = function.__defaults__
    return copy


if hasattr(os, "register_at_fork"):  # else a fork during compilation breaks the child
    os.register_at_fork(
        before=global_compiler_lock.acquire,
        after_in_parent=global_compiler_lock.release,
        after_in_child=global_compiler_lock.release,
    )


@contextmanager
def _garbage_kept() -> Iterator[None]:
    """Stops the garbage collector for a while."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


class _Compiled(CPUDispatcher):
    """A compiled function that Python calls; compiled callers inline its LLVM code."""

    def __init__(self, function: FunctionType, *, unique: bool) -> None:
        self.function = function  # original function: the copy's name below gets the digest
        super().__init__(
            _copy(function, function.__globals__), targetoptions={"nopython": True, "nogil": True}
        )
        self._unique = unique or function.__closure__ is not None
        self._finds_cache = True

    @cached_property
    def source(self) -> Source:
        """The source, computed when compiling because only then all modules are loaded."""
        return source_of(self)

    @cached_property
    def callee(self) -> Any:
        """The version for compiled callers."""
        function = self.function
        # The linker identifies functions by symbol. The digest distinguishes functions of one
        # factory, or of a module bound to other constants.
        name = function.__qualname__
        if self._unique:
            name += f"_{self.source.digest}"
        return make_callee(_copy(function, globals_by_field(function), name))

    @property
    def _numba_type_(self) -> Any:
        return self.callee._numba_type_

    def compile(self, sig: Any) -> Any:
        """Loads the function from the cache, or compiles it for these argument types.

        The garbage collector waits: it would walk over everything that is imported again and
        again, because Numba creates and drops many objects.
        """
        with global_compiler_lock, _garbage_kept():
            if self._finds_cache:
                name = f"{self.function.__qualname__}_{self.source.digest}"
                self.py_func.__name__ = self.py_func.__qualname__ = name
                self._cache = cache_of(cast(FunctionType, self.py_func), self.source)
                self._finds_cache = False
            try:
                return super().compile(sig)
            finally:
                self._cache.unlock()
