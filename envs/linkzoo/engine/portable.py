"""Digests of compiled functions that are equal in all versions of Python.

`linkzoo.engine.cache` digests bytecode, which differs between versions. Here it is the syntax tree,
without comments, docstrings and annotations, so that code compiled on one machine is found on
another (`linkzoo.cuda.cubins`). A function whose file was edited after the import is digested by
its bytecode.
"""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from types import CodeType
from typing import Any

from numba.core.dispatcher import Dispatcher

from linkzoo.engine.cache import Source, Walk

_NO_CODE = ("annotation", "returns")  # fields of syntax trees


def portable_source(function: Dispatcher, *versions: Any) -> Source:
    """Returns the source of a compiled function; all its modules must be loaded.

    Args:
        function: A compiled function.
        versions: Whatever else the compiled code depends on, the same in all versions of Python.
    """
    walk = _Walk(*versions)
    walk.value(function, ())
    return walk.source()


class _Walk(Walk):
    def code(self, code: CodeType, names: dict[str, Any]) -> None:
        """Digests the syntax tree instead of the bytecode, if the file still has it."""
        tree = _trees(code.co_filename).get(code)
        if tree is None:
            super().code(code, names)
            return
        self.say(tree, code.co_freevars)
        used = tuple(sorted(set(_names(code))))
        for name in used:
            if name in names:
                self.say(name)
                self.value(names[name], used)


def _names(code: CodeType) -> Iterator[str]:
    """Yields the names of globals and attributes in code and the functions inside it."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)


@cache
def _trees(path: str) -> dict[CodeType, str]:
    """Returns the syntax trees of a file's functions, by the code that Python makes of them."""
    try:
        text = Path(path).read_text(encoding="utf-8")
        codes = [compile(text, path, "exec", dont_inherit=True)]
        module = ast.parse(text)
    except (OSError, SyntaxError, ValueError):
        return {}
    nodes = {
        (
            node.name,
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
        ): node
        for node in ast.walk(module)
        if isinstance(node, ast.FunctionDef)
    }
    trees = {}
    while codes:
        code = codes.pop()
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        definition = nodes.get((code.co_name, code.co_firstlineno))
        if definition is not None:
            trees[code] = _text(definition)
    return trees


def _text(tree: Any) -> str:
    """Returns a syntax tree as text, without docstrings, annotations and empty fields."""
    if isinstance(tree, list):
        return "[" + ", ".join(map(_text, tree)) + "]"
    if not isinstance(tree, ast.AST):
        return repr(tree)
    fields = dict(ast.iter_fields(tree))
    if isinstance(tree, ast.FunctionDef) and ast.get_docstring(tree, clean=False) is not None:
        fields["body"] = tree.body[1:]
    texts = [
        f"{name}={_text(value)}"
        for name, value in fields.items()
        if value not in (None, []) and name not in _NO_CODE
    ]
    return f"{type(tree).__name__}({', '.join(texts)})"
