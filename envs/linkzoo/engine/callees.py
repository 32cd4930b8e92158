"""Callees of compiled functions: compiled to LLVM IR once, optimised only where inlined.

Numba normally optimises every function with all its callees, and generates machine code, wrappers
for Python and C, and a cache entry for each. In a call tree, this optimises the leaves again for
every function above them. Callees that only compiled code calls need none of this: their IR is
linked into the entry points. Without this module, compiling a game takes 1.1 to 1.6 times as long
(lab/speed.md, `python -m lab.engine compile`).
"""

import dis
from itertools import pairwise
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite.binding as llvm
from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder
from numba.core.registry import CPUDispatcher

# Numba internals. If they are missing, functions are compiled Numba's way, more slowly.
_INTERNALS = ("_optimize_final_module", "_finalize_final_module", "_finalize_dynamic_globals")
_SUPPORTED = all(hasattr(JITCodeLibrary, name) for name in _INTERNALS)
_ENVIRONMENT = "_ZN08NumbaEnv"  # symbol prefix of a function's pointer to its Python constants


def make_callee(function: FunctionType) -> Any:
    """Returns a function that compiled code can call; Python can't.

    Args:
        function: A copy used nowhere else: Numba uses its identity to detect recursion. Its
            qualified name determines its symbols.
    """
    pipeline: type[CompilerBase] = Compiler
    if _SUPPORTED:
        pipeline = _CalleeCompiler
    options = {"nopython": True, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return _Callee(function, targetoptions=options, pipeline_class=pipeline)


def globals_by_field(function: FunctionType) -> dict[str, Any]:
    """Returns the globals of a function, named tuples of which it only reads fields as modules.

    Numba compiles in all fields of a named tuple wherever one is read, but of a module only the
    attribute that is read. With tuples, Love Formula (`CardTables`) takes 1.6 times as long to
    compile.
    """
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value = names.get(name)
        if not isinstance(value, tuple) or not hasattr(value, "_fields"):
            continue
        if _reads_only_fields(function.__code__, name):
            module = ModuleType(name)
            vars(module).update(zip(value._fields, value, strict=True))
            names[name] = module
    return names


def _reads_only_fields(code: CodeType, name: str) -> bool:
    """Returns whether code reads attributes of a global, and never the global itself."""
    for instruction, following in pairwise(dis.get_instructions(code)):
        is_global = instruction.opname == "LOAD_GLOBAL" and instruction.argval == name
        if is_global and following.opname != "LOAD_ATTR":
            return False
    inner = [constant for constant in code.co_consts if isinstance(constant, CodeType)]
    return all(_reads_only_fields(constant, name) for constant in inner)


class _Callee(CPUDispatcher):
    """A callee, compiled once for all signed integers and all literals of a type.

    Numba compiles a function again for each width of an integer and each literal argument.
    """

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Returns the template of a call with these types of arguments."""
        wide = tuple(map(_widened, args))
        return super().get_call_template(wide, {name: _widened(kind) for name, kind in kws.items()})


def _widened(kind: Any) -> Any:
    """Returns the widest type that computes the same: `int64` for signed integers."""
    kind = types.unliteral(kind)
    if kind in types.signed_domain:
        return types.int64
    return kind


class _CalleeCompiler(CompilerBase):
    def define_pipelines(self) -> list[Any]:
        """Returns Numba's pipeline with a different end."""
        state = self.state
        state.library = _CalleeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


class _CalleeLibrary(JITCodeLibrary):
    """LLVM IR that is only linked into others, neither optimised nor made machine code.

    Only the environment pointers are emitted, because Numba sets them.
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
        """Returns 0: there is no machine code."""
        self._ensure_finalized()
        return 0
