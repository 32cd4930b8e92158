"""Other systems, as far as this one can tell.

Imports without POSIX, text files, processes, paths, and packages for drawings.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from itertools import chain
from pathlib import Path

import pytest

from tests.common.play import run_python
from tests.driving import first_quick
from tests.packages import PACKAGES, Package, imports

POSIX_MODULES = set("curses fcntl grp posix pty pwd readline resource termios tty".split())
# Names that Windows lacks.
POSIX_NAMES = {
    "os": set(
        "fork forkpty getuid geteuid getgid killpg getpgid setsid mkfifo wait3 wait4 getloadavg "
        "sysconf nice sched_getaffinity register_at_fork O_NOFOLLOW O_DIRECTORY O_NONBLOCK uname "
        "chown fchown openpty posix_spawn statvfs pathconf WNOHANG EX_OK".split()
    ),
    "signal": set(
        "SIGKILL SIGHUP SIGUSR1 SIGUSR2 SIGALRM SIGCHLD SIGQUIT SIGSTOP SIGCONT SIGPIPE SIGWINCH "
        "alarm setitimer pause sigwait pthread_kill pthread_sigmask SIG_BLOCK SIG_SETMASK "
        "SIG_UNBLOCK".split()
    ),
    "select": {"epoll", "poll"},
    "socket": {"AF_UNIX", "SO_REUSEPORT", "socketpair"},
    "time": {"tzset", "clock_gettime", "CLOCK_MONOTONIC_RAW", "CLOCK_THREAD_CPUTIME_ID"},
}
MENTIONED = re.compile(rf"\b({'|'.join([*POSIX_MODULES, *chain(*POSIX_NAMES.values())])})\b")
POSIX_PATH = re.compile(r"/(tmp|var|usr|etc|home|root|dev|proc|sys|opt)\b")
# Names of Linux that macOS lacks.
LINUX_NAMES = {
    "os": set(
        "sched_getaffinity sched_setaffinity memfd_create pipe2 posix_fadvise posix_fallocate "
        "sendfile eventfd getrandom pidfd_open O_DIRECT O_TMPFILE".split()
    ),
    "select": {"epoll"},
    "signal": {"sigtimedwait", "sigwaitinfo", "pidfd_send_signal"},
    "socket": {"AF_NETLINK", "SOCK_CLOEXEC"},
    "time": {"CLOCK_BOOTTIME", "pthread_getcpuclockid"},
}
# Modules of other packages are imported first, while the system still has all its names.
BEFORE = """
import asyncio, multiprocessing.context, multiprocessing.resource_tracker, os, select, signal
import socket, sys, tempfile, time, types
for name in {outside}:
    try:
        __import__(name)
    except ImportError:  # of an extra that isn't here
        pass
"""
# Then these modules and names don't exist, and the process names itself another system.
SYSTEMS = {
    "win32": ("msvcrt", POSIX_MODULES, POSIX_NAMES),
    "darwin": ("fcntl", set[str](), LINUX_NAMES),
}
OTHER_SYSTEM = """
sys.platform = {platform!r}
sys.modules.setdefault({locks!r}, types.ModuleType({locks!r}))
for module in {modules}:
    sys.modules[module] = None
for module, names in {names}.items():
    for name in names:
        if hasattr(sys.modules[module], name):
            delattr(sys.modules[module], name)
"""
IMPORT_ALL = """
import importlib
for name in {modules}:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name.split(".")[0] in {refused}:
            raise
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
    if not MENTIONED.search(path.read_text(encoding="utf-8")):
        return []
    tree = tree_of(path)
    allowed = set(guarded(tree))
    uses = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            uses += [(node.lineno, a.name) for a in node.names if a.name in POSIX_MODULES]
        elif isinstance(node, ast.ImportFrom) and node.module in POSIX_MODULES:
            uses.append((node.lineno, str(node.module)))
        elif isinstance(node, ast.Attribute):
            module = name_of(node.value)
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


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(node: ast.expr) -> str:
    """Returns the dotted name that an expression is or ends with: `open` of `path().open`."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{name_of(node.value)}.{node.attr}".lstrip(".")
    return ""


def calls(path: Path, names: str) -> Iterator[tuple[str, ast.Call]]:
    """Yields the calls of a file, with the called name: `open` of `path.open(...)`.

    Files without one of the names have none that matter; reading them takes the longest.
    """
    if not re.search(rf"\b({names})\b", path.read_text(encoding="utf-8")):
        return
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Call):
            yield name_of(node.func).rpartition(".")[2], node


def keywords(call: ast.Call) -> set[str | None]:
    return {keyword.arg for keyword in call.keywords}


def texts_without_encoding(path: Path) -> list[str]:
    """Returns the uses of text files in the system's encoding, which may not be UTF-8."""
    uses = []
    for name, call in calls(path, "write_text|read_text|open|fdopen|NamedTemporaryFile"):
        if "encoding" in keywords(call):
            continue
        if name == "write_text" or (name == "read_text" and not call.args):
            uses.append(call)
        elif name in ("open", "fdopen", "NamedTemporaryFile"):
            file_comes_first = name_of(call.func) in ("open", "os.fdopen")
            modes = call.args[1:2] if file_comes_first else call.args[:1]
            if len(call.args) == file_comes_first and "mode" not in keywords(call):
                modes = [ast.Constant("r")]
            modes += [keyword.value for keyword in call.keywords if keyword.arg == "mode"]
            if any(re.fullmatch("'[rwax]t?[+]?'", ast.unparse(mode)) for mode in modes):
                uses.append(call)
    return [f"{path.name}:{call.lineno} {ast.unparse(call)}" for call in uses]


def forks(path: Path) -> list[str]:
    """Returns the processes that don't start by `spawn`, the only way on Windows."""
    uses = []
    for name, call in calls(path, "get_context|ProcessPoolExecutor|multiprocessing"):
        if name == "get_context":
            fine = [ast.unparse(argument) for argument in call.args] == ["'spawn'"]
        elif name == "ProcessPoolExecutor":
            fine = len(call.args) > 1 or "mp_context" in keywords(call)
        else:
            fine = name_of(call.func) not in (
                "multiprocessing.Process",
                "multiprocessing.Pool",
                "multiprocessing.Manager",
            )
        if not fine:
            uses.append(f"{path.name}:{call.lineno} {ast.unparse(call)}")
    return uses


def fixed_paths(path: Path) -> list[str]:
    """Returns the paths of POSIX systems in a file, but those that it asks for first."""
    if not POSIX_PATH.search(path.read_text(encoding="utf-8")):
        return []
    return [
        f"{path.name}:{node.lineno} {node.value!r}"
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and POSIX_PATH.match(node.value)
        and node.value != "/proc/cpuinfo"  # `bench` names the processor by it, if it is a file
    ]


def test_the_searches_find_what_they_look_for(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_text(
        "open('a')\nopen('a', 'rb')\npath.read_text()\npath.read_text(encoding='utf-8')\n"
        "get_context('fork')\nget_context('spawn')\nProcessPoolExecutor(2)\nmultiprocessing.Pool()\n"
        "Path('/tmp/x')\nPath('/proc/cpuinfo')\n",
        encoding="utf-8",
    )
    assert [use.split()[0] for use in texts_without_encoding(file)] == ["a.py:1", "a.py:3"]
    assert [use.split()[0] for use in forks(file)] == ["a.py:5", "a.py:7", "a.py:8"]
    assert fixed_paths(file) == ["a.py:9 '/tmp/x'"]


@pytest.mark.slow
@pytest.mark.parametrize("search", [texts_without_encoding, forks, fixed_paths])
def test_files_and_processes_suit_every_system(search: Callable[[Path], list[str]]) -> None:
    files = [path for package in PACKAGES for path in package.modules.values()]
    assert [use for path in files for use in search(path)] == []


@pytest.mark.slow
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
@pytest.mark.parametrize("system", first_quick(list(SYSTEMS), slow=0))
def test_every_module_imports_elsewhere(system: str) -> None:
    """Packages of others import as on this system."""
    locks, modules, names = SYSTEMS[system]
    own = {package.name for package in PACKAGES}
    paths = {name: path for package in PACKAGES for name, path in package.modules.items()}
    outside = set[str]()
    for path in paths.values():
        for name in imports(path.read_text(encoding="utf-8")):
            if name.split(".")[0] not in own | modules:
                outside.add(name.rpartition(".")[0] or name)
    program = BEFORE.format(outside=sorted(outside))
    program += OTHER_SYSTEM.format(
        platform=system, locks=locks, modules=sorted(modules), names=names
    )
    listed = [name for name in paths if not name.endswith("__main__")]
    program += IMPORT_ALL.format(modules=listed, refused=sorted(own | modules))
    run_python("-c", program)
