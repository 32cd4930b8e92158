"""Other systems, as far as this one can tell: imports without POSIX, and packages for drawings."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.common.play import run_python
from tests.packages import PACKAGES, Package

POSIX_MODULES = set("curses fcntl grp posix pty pwd readline resource termios tty".split())
# Names that Windows lacks.
POSIX_NAMES = {
    "os": set(
        "fork forkpty getuid geteuid getgid killpg getpgid setsid mkfifo wait3 wait4 getloadavg "
        "sysconf nice sched_getaffinity register_at_fork O_NOFOLLOW".split()
    ),
    "signal": set(
        "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGSTOP SIGCONT SIGPIPE alarm setitimer "
        "pthread_kill pthread_sigmask SIG_BLOCK SIG_SETMASK SIG_UNBLOCK".split()
    ),
}
# A process where these modules and names don't exist, and which names itself Windows; Numba and
# torch are imported before, with the system's own.
WINDOWS = f"""
import os, signal, sys
import gymnasium, numba, pettingzoo, filelock, pydantic, rich.console, torch, yaml
import asyncio, multiprocessing.context, multiprocessing.resource_tracker, tempfile, types
sys.platform = "win32"
sys.modules["msvcrt"] = types.ModuleType("msvcrt")
for module in {sorted(POSIX_MODULES)}:
    sys.modules[module] = None
for module, names in {POSIX_NAMES}.items():
    for name in names:
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
"""


def guarded(tree: ast.AST) -> Iterator[int]:
    """Yields the lines behind a question for the platform or for the name.

    These are the lines of the `if`, and after an `if` that returns the rest of the function.
    """
    for node in ast.walk(tree):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.If) and re.search(
                r"sys\.platform|hasattr\((os|signal)", ast.unparse(child.test)
            ):
                end = child.end_lineno
                if isinstance(node, ast.FunctionDef) and isinstance(child.body[-1], ast.Return):
                    end = node.end_lineno
                assert end is not None
                yield from range(child.lineno, end + 1)


def posix_uses(path: Path) -> list[str]:
    """Returns the uses of POSIX alone in a file that nothing guards."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    allowed = set(guarded(tree))
    uses = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            uses += [(node.lineno, a.name) for a in node.names if a.name in POSIX_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            uses.append((node.lineno, str(node.module)))
        elif isinstance(node, ast.Attribute):
            module = ast.unparse(node.value)
            if node.attr in POSIX_NAMES.get(module, ()):
                uses.append((node.lineno, f"{module}.{node.attr}"))
    return [f"{path.name}:{line} {name}" for line, name in uses if line not in allowed]


def test_the_search_finds_unguarded_uses(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        "import fcntl, os, sys\nif hasattr(os, 'fork'):\n    os.fork()\n"
        "def f():\n    os.getuid()\n"
        "    if not hasattr(os, 'nice'):\n        return\n    os.nice(1)\n"
    )
    assert posix_uses(file) == ["a.py:1 fcntl", "a.py:5 os.getuid"]


@pytest.mark.parametrize("package", PACKAGES, ids=lambda package: package.name)
def test_what_only_posix_has_is_guarded(package: Package) -> None:
    assert [use for path in package.modules.values() for use in posix_uses(path)] == []


def test_only_drawings_load_pillow_and_resvg() -> None:
    """After games and text neither is loaded; after a picture both are."""
    program = """
import sys
import linkzoo

drawing = ("PIL", "resvg_py")
env = linkzoo.make("linkage", render_mode="rgb_array")
env.reset(seed=1)
vec = linkzoo.make_vec("linkage", 2)
vec.step(vec.reset(0).action_mask.argmax(axis=1))
print([name for name in drawing if name in sys.modules])
env.render()
print([name for name in drawing if name in sys.modules])
"""
    assert run_python("-c", program).splitlines() == ["[]", "['PIL', 'resvg_py']"]


@pytest.mark.slow  # quick: test_what_only_posix_has_is_guarded
@pytest.mark.parametrize("module", ["linkzoo", "linkzoo_training.commands.cli"])
def test_it_imports_without_posix(module: str) -> None:
    run_python("-c", f"{WINDOWS}\nimport {module}")
