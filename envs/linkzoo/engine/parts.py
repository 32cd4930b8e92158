"""Functions as parts of compiled functions: translated once, and optimised only where they end up.

By itself Numba optimises every function, with all that it calls, and makes machine code, wrappers
for Python and C and a cache entry for it. In a call tree that optimises the leaves once for every
function above them: half of the time of compiling a game. Rules that compiled code calls need none
of this, only their LLVM code to be linked into what Python calls.
"""

from types import FunctionType
from typing import Any

import llvmlite.binding as llvm
import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder

# What this takes of Numba's inside; without it functions are compiled as Numba does, more slowly.
_SUPPORTED = all(
    hasattr(JITCodeLibrary, name)
    for name in (
        "_optimize_final_module",
        "_finalize_final_module",
        "_finalize_dynamic_globals",
        "get_pointer_to_function",
    )
)
_ENVIRONMENT = "_ZN08NumbaEnv"  # begins the name of a function's pointer to its Python constants


def part_of(function: FunctionType) -> Any:
    """The function as compiled code calls it; Python can't."""
    njit: Any = numba.njit  # its types leave options out
    return njit(
        _copy(function),  # for Numba, which goes by it, to tell a recursive function from its part
        no_cpython_wrapper=True,
        no_cfunc_wrapper=True,
        pipeline_class=_PartCompiler if _SUPPORTED else Compiler,
    )


def _copy(function: FunctionType) -> FunctionType:
    made = FunctionType(
        function.__code__, function.__globals__, function.__name__, function.__defaults__
    )
    made.__module__, made.__doc__ = function.__module__, function.__doc__
    # Names its symbols: code's own name is the same in rules that are compiled for several boards,
    # and the linker takes symbols of one name for one function.
    made.__qualname__ = function.__qualname__
    return made


class _PartCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        """Numba's own steps, with another end."""
        state = self.state
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _PartLibrary(JITCodeLibrary):
    """LLVM code that is only linked into others: it isn't optimised and never becomes machine code.

    Only the pointers to environments exist, for Numba sets them.
    """

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        pointers = [
            f"@{variable.name} = common global i8* null"
            for variable in self._final_module.global_variables
            if variable.name.startswith(_ENVIRONMENT)
        ]
        self._codegen._add_module(llvm.parse_assembly("\n".join(pointers)))
        self._finalized = True

    def get_pointer_to_function(self, _: str) -> int:
        """0: there is no machine code."""
        self._ensure_finalized()
        return 0
