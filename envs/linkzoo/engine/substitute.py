"""Copies of compiled functions in which other functions are called."""

from collections.abc import Mapping
from types import CellType, CodeType, FunctionType, ModuleType
from typing import Any, TypeVar

from linkzoo.engine.cache import LIBRARIES
from linkzoo.engine.compiled import compiled, plain_function

F = TypeVar("F")


def substitute(function: F, replacements: Mapping[Any, Any]) -> F:
    """Returns a function with other callees, at any depth.

    Args:
        function: A compiled function, or a plain one that compiled code calls.
        replacements: Functions by the function that each takes the place of, with equal parameters.

    Returns:
        A copy; the function itself if it calls none of the replaced functions.
    """
    return _Substitution(replacements).value(function, ())  # type: ignore[no-any-return]  # an F


class _Substitution:
    """Copies of functions, made once each."""

    def __init__(self, replacements: Mapping[Any, Any]) -> None:
        self._replacements = replacements
        self._copies: dict[FunctionType, Any] = {}

    def value(self, value: Any, names: tuple[str, ...]) -> Any:
        """Returns the copy of a value that is used by code with these names."""
        if isinstance(value, ModuleType):
            return self._module(value, names)
        function = plain_function(value)
        if function is None or _is_of_library(function.__module__):
            return value
        if value in self._replacements:
            return self._replacements[value]
        if function not in self._copies:
            self._copies[function] = value  # recursion
            self._copies[function] = self._function(value, function)
        return self._copies[function]

    def _function(self, value: Any, function: FunctionType) -> Any:
        names = _names(function.__code__)
        used = {name: function.__globals__[name] for name in names if name in function.__globals__}
        changed = {name: self.value(item, names) for name, item in used.items()}
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        closure = [self.value(item, names) for item in cells]
        same_names = all(changed[name] is item for name, item in used.items())
        if same_names and all(new is old for new, old in zip(closure, cells, strict=True)):
            return value
        copy = FunctionType(
            function.__code__,
            {**function.__globals__, **changed},
            function.__name__,
            function.__defaults__,
            tuple(CellType(item) for item in closure) or None,
        )
        copy.__qualname__ = function.__qualname__
        copy.__module__ = function.__module__
        if value is function:
            return copy
        return compiled(copy, unique=True)

    def _module(self, module: ModuleType, names: tuple[str, ...]) -> ModuleType:
        """Returns a module whose attributes with these names are replaced."""
        if _is_of_library(module.__name__):
            return module
        used = {name: vars(module)[name] for name in names if name in vars(module)}
        functions = {name: item for name, item in used.items() if plain_function(item) is not None}
        changed = {name: self.value(item, ()) for name, item in functions.items()}
        if all(changed[name] is item for name, item in functions.items()):
            return module
        copy = ModuleType(module.__name__, module.__doc__)
        vars(copy).update(vars(module))
        vars(copy).update(changed)
        return copy


def _is_of_library(module: str) -> bool:
    return module.partition(".")[0] in LIBRARIES


def _names(code: CodeType) -> tuple[str, ...]:
    """Returns the names of globals and attributes that code uses, inner functions included."""
    names = list(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            names += _names(constant)
    return tuple(dict.fromkeys(names))
