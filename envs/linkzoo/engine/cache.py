"""Disk cache of compiled functions, keyed by their code, with one compiling process at a time.

Extends Numba's cache: a function's cache name contains a digest of the code and constants of all
functions it is made of, so nothing else invalidates it. Old versions are removed. Of several
processes only one compiles a function while the others wait. All installations share the folder
that NUMBA_CACHE_DIR names. A read-only folder only causes a warning. With Numba's own cache, games
start 4.6 to 11.5 times as slowly (lab/speed.md, `python -m lab.engine cache`).
"""

import hashlib
import os
import re
import sys
import time
import warnings
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.dispatcher import Dispatcher
from numba.core.extending import _Intrinsic

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl

LIBRARIES = {"numba", "numpy", "llvmlite", *sys.stdlib_module_names}
_SETTINGS = "OPT LOOP_VECTORIZE SLP_VECTORIZE BOUNDSCHECK DEBUGINFO_DEFAULT".split()  # Numba's
_SYMBOLS = 2  # version of the symbol naming scheme in machine code (`callees`)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")  # object addresses in a `repr`
# Versions of a function kept on disk: a factory makes one per game, and code changes back and
# forth, for example between branches.
_VERSIONS = 32
_WAIT = 120.0  # seconds to wait for another process, before compiling here too
_PATIENCE = 2.0  # seconds of waiting before a message
_SECONDS = 0.12  # compile time per callee (measured, one core)
_WORTH_SAYING = 1.5  # seconds of compiling before a message
_announced: set[str] = set()
_warned: set[str] = set()


@dataclass(frozen=True)
class Source:
    """Sources of a function's compiled code."""

    digest: str
    functions: int  # their number
    titles: frozenset[str]  # of their games


def source_of(function: Dispatcher) -> Source:
    """Returns the source of a function: code and constants, including all functions it calls."""
    settings = [getattr(numba.config, name, None) for name in _SETTINGS]
    walk = Walk(numba.__version__, _SYMBOLS, settings)
    walk.value(function, ())
    return walk.source()


def _title(module: str) -> str:
    """Returns the title of the game whose package holds a module; empty if there is no GAME."""
    while module := module.rpartition(".")[0]:
        game = getattr(sys.modules.get(module), "GAME", None)
        if game is not None:
            return str(game.title)
    return ""


class Walk:
    """Digests values and functions, including the globals that they use.

    Args:
        versions: Whatever else the compiled code depends on.
    """

    def __init__(self, *versions: Any) -> None:
        self.digest = hashlib.sha256()
        self.functions: dict[FunctionType, int] = {}  # in order of first visit
        self._met: set[Any] = set()  # visited names in modules and classes
        self.say(*versions)

    def source(self) -> Source:
        """Returns the source of all that has been digested."""
        titles = {_title(function.__module__) for function in self.functions} - {""}
        return Source(self.digest.hexdigest()[:12], len(self.functions), frozenset(titles))

    def value(self, value: Any, names: tuple[str, ...]) -> None:
        """Digests a value used by code with these names."""
        kind = type(value)
        if isinstance(value, Dispatcher):
            self.say(value.targetoptions)
            value = value.py_func
        elif isinstance(value, _Intrinsic):
            value = value._defn
        if isinstance(value, np.ndarray):
            self.say(value.dtype.descr, value.shape)
            self.digest.update(value.tobytes())
        elif isinstance(value, tuple | list):
            self.say(kind.__module__, kind.__qualname__, getattr(value, "_fields", len(value)))
            for item in value:
                self.value(item, names)
        elif isinstance(value, frozenset):
            self.say(sorted(map(repr, value)))
        elif _home(value).partition(".")[0] in LIBRARIES:  # Numba compiles it by name
            self.say(_home(value), getattr(value, "__qualname__", value.__name__))
        elif isinstance(value, FunctionType):
            self._function(value)
        elif isinstance(value, ModuleType | type):
            self._space(value, names)
        else:
            self.say(kind.__module__, kind.__qualname__, _ADDRESS.sub("", repr(value)))

    def _function(self, function: FunctionType) -> None:
        if function in self.functions:
            self.say(self.functions[function])
            return
        self.functions[function] = len(self.functions)
        self.value(function.__defaults__, ())
        self.value([cell.cell_contents for cell in function.__closure__ or ()], ())
        self.code(function.__code__, function.__globals__)

    def code(self, code: CodeType, names: dict[str, Any]) -> None:
        """Digests code with the globals and attributes that it names."""
        self.say(code.co_code, code.co_exceptiontable, code.co_flags)
        self.say(code.co_names, code.co_varnames, code.co_freevars)
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                self.code(constant, names)
            else:
                self.value(constant, code.co_names)
        for name in code.co_names:
            if name in names:
                self.say(name)
                self.value(names[name], code.co_names)

    def _space(self, space: Any, names: tuple[str, ...]) -> None:
        """Digests the attributes of a module or class that are among the names."""
        whose = f"{_home(space)} {space.__name__}"
        self.say(whose)
        for name in names:
            if hasattr(space, name) and (whose, name, names) not in self._met:
                self._met.add((whose, name, names))
                self.say(name)
                self.value(getattr(space, name), names)

    def say(self, *words: Any) -> None:
        """Digests plain values by their representation."""
        self.digest.update(repr(words).encode())


def _home(value: Any) -> str:
    """Returns the module of a function or class, or a module's own name; else ""."""
    if isinstance(value, ModuleType):
        return value.__name__
    home = getattr(value, "__module__", "")
    if isinstance(home, str) and hasattr(value, "__name__"):
        return home
    return ""


class Uncached(NullCache):
    """Null cache for functions that are compiled in each process."""

    def __init__(self, source: Source) -> None:
        self._source = source

    def load_overload(self, *_: Any) -> None:
        """Returns None."""
        announce(self._source)

    def unlock(self) -> None:
        """Does nothing."""


class Cache(FunctionCache):
    """Cache of one function, with the digest of its source appended to its name."""

    def __init__(self, function: FunctionType, source: Source) -> None:
        super().__init__(function)  # type: ignore[no-untyped-call]  # numba's
        self._source = source
        self._folder = Path(self._cache_path)
        named = numba.config.CACHE_DIR  # type: ignore[attr-defined]  # NUMBA_CACHE_DIR
        if named and self._folder.parent == Path(named):
            # Numba makes a folder for each place of installation. One for each package is enough:
            # the digest tells code apart.
            self._folder = Path(named) / function.__module__.rpartition(".")[0]
            self._folder.mkdir(parents=True, exist_ok=True)
            self._cache_path = str(self._folder)
        before, _, behind = self._impl.filename_base.partition(source.digest)
        suffix = behind.partition(".")[2]
        # Keyed by digest alone, not by line number or file date.
        self._cache_file = IndexDataCacheFile(
            self._cache_path, f"{before}{source.digest}.{suffix}", source.digest
        )
        self._versions = re.compile(
            rf"({re.escape(before)}[0-9a-f]{{12}}\.{re.escape(suffix)})\.(\d+\.nbc|nbi|lock)"
        )
        self._lock = Lock(self._folder / f"{before}{source.digest}.{suffix}.lock")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Returns the function for these types; None if it must be compiled, while others wait."""
        overload = self._load(sig, target_context)
        titles = ", ".join(sorted(self._source.titles)) or self._name
        if overload is None and self._lock.acquire(titles):  # another process has compiled it
            overload = self._load(sig, target_context)
        if overload is None:
            announce(self._source)
        return overload

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        return sig, codegen.magic_tuple()  # Numba adds code and closure; the digest covers them

    def _load(self, sig: Any, target_context: Any) -> Any:
        try:
            return super().load_overload(sig, target_context)  # type: ignore[no-untyped-call]  # numba's
        except OSError:
            return None
        except Exception:  # noqa: BLE001  # a damaged file can raise anything
            with suppress(OSError):
                self._cache_file.flush()  # numba's
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Writes the compiled code and removes old versions; warns on failure."""
        try:
            super().save_overload(sig, data)  # type: ignore[no-untyped-call]  # numba's
        except OSError as error:
            warn(f"{self._folder} can't be written ({error.strerror or error})")
        else:
            self._remove_old()

    def _remove_old(self) -> None:
        """Keeps the newest versions. A process reading a removed one recompiles it."""
        versions: dict[str, list[os.DirEntry[str]]] = {}
        with suppress(OSError), os.scandir(self._folder) as entries:
            for entry in entries:
                if match := self._versions.fullmatch(entry.name):
                    versions.setdefault(match[1], []).append(entry)
            age = {
                base: max(entry.stat().st_mtime for entry in files)
                for base, files in versions.items()
            }
            for base in sorted(age, key=age.__getitem__, reverse=True)[_VERSIONS:]:
                for entry in versions[base]:
                    Path(entry.path).unlink()

    def unlock(self) -> None:
        """Releases the lock."""
        self._lock.release()


def cache_of(function: FunctionType, source: Source) -> Cache | Uncached:
    """Returns the cache of a function; warns and returns Uncached if no folder is writable."""
    try:
        return Cache(function, source)
    except RuntimeError:  # Numba found no locator
        warn(f"neither {Path(function.__code__.co_filename).parent} nor the user's can be written")
    return Uncached(source)


class Lock:
    """An inter-process file lock; the operating system releases it when the process dies."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor: int | None = None

    def acquire(self, title: str, seconds: float | None = None) -> bool:
        """Waits for the lock, with a message if it takes long.

        Continues without a lock after some seconds, or if files can't be locked.

        Args:
            title: The thing that another process may be compiling, for the message.
            seconds: The longest wait; None for 120.

        Returns:
            Whether the lock was held elsewhere.
        """
        try:
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o666)
        except OSError:
            return False
        if seconds is None:
            seconds = _WAIT
        start = time.monotonic()
        announced = False
        while not _try_lock(self._descriptor):
            passed = time.monotonic() - start
            if passed > _PATIENCE and not announced:
                announced = True
                _say(f"waiting for another process that compiles {title}")
            if passed > seconds:
                break
            time.sleep(0.05)
        return time.monotonic() - start >= 0.05

    def release(self) -> None:
        """Releases the lock, if held."""
        if self._descriptor is not None:
            descriptor, self._descriptor = self._descriptor, None
            if sys.platform != "win32":
                fcntl.flock(descriptor, fcntl.LOCK_UN)  # a forked child may hold it open
            os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    """Tries to lock the file; True also if files can't be locked."""
    try:
        if sys.platform == "win32":
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        else:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    except OSError:
        return True
    return True


def announce(source: Source, suffix: str = "", seconds: float | None = None) -> None:
    """Prints once which games are being compiled, if it takes long.

    Args:
        source: The source of the function.
        suffix: Text after the games' names, such as " for the GPU".
        seconds: Compile time per callee; None for the CPU's.
    """
    if seconds is None:
        seconds = _SECONDS
    expected = seconds * source.functions
    new = {f"{title}{suffix}" for title in source.titles} - _announced
    if new and expected >= _WORTH_SAYING:
        _announced.update(new)
        rounded = round(expected)
        if expected >= 10:
            rounded = 5 * round(expected / 5)
        _say(f"compiling {', '.join(sorted(new))}, once, about {rounded} s")


def _say(line: str) -> None:
    with suppress(AttributeError, OSError, ValueError):  # stderr is missing or closed
        sys.stderr.write(f"{line}\n")


def warn(problem: str) -> None:
    """Warns once that compiled functions aren't cached."""
    if not _warned:
        _warned.add(problem)
        warnings.warn(
            f"compiled functions are not kept for the next time: {problem}; the environment "
            "variable NUMBA_CACHE_DIR names a folder to keep them in",
            RuntimeWarning,
            stacklevel=2,
        )
