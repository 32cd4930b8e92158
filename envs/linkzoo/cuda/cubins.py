"""Disk cache of kernels: files of machine code, made by any machine for any GPU.

A file's name has a digest of everything that its code depends on: the kernel's code, closures and
constants (`linkzoo.engine.portable`), the kinds of its arguments, the compute capability, the
release of Numba, the version of numba-cuda and our compiler. So a file is never stale, and is valid
on every machine with these versions, with any version of Python, NumPy or CUDA's compilers. Of
several processes only one compiles a kernel. The folder is `linkzoo_cubins` in `NUMBA_CACHE_DIR`;
without that variable, beside the compiled modules of this package or in the user's cache folder.
"""

import hashlib
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numba
from numba.misc.appdirs import AppDirs

from linkzoo.cuda import compiler
from linkzoo.cuda.compiler import Kind
from linkzoo.engine.cache import Lock, announce, warn
from linkzoo.engine.portable import portable_source
from linkzoo.engine.threads import RowKernel

_FOLDER = "linkzoo_cubins"
_FILES = 256  # kernels kept on disk, the last used
_SECONDS = 0.25  # compile time per callee (measured, one core)
_WAIT = 600.0  # seconds to wait for another process, before compiling here too


def machine_code(
    rows: RowKernel,
    kinds: tuple[Kind, ...],
    capability: tuple[int, int],
    *,
    again: bool = False,
) -> bytes:
    """Returns the machine code of a kernel from the cache, or compiles it.

    Args:
        rows: The row function (`linkzoo.cuda.compiler.kernel`).
        kinds: The kinds of its arguments behind `first` and `last`.
        capability: Compute capability of the GPU.
        again: Compiles even if there is a file, because it can't be loaded.
    """
    source = portable_source(
        rows.kernel,  # type: ignore[arg-type]  # compiled
        ".".join(numba.__version__.split(".")[:2]),
        version("numba-cuda"),
        _compiler(),
        capability,
        rows.block,
        *map(_attributes, kinds),
    )
    name = rows.kernel.__name__
    path = folder() / f"{name}_{source.digest}.cubin"
    if not again and (code := _read(path)):
        return code
    lock = Lock(path.with_suffix(".lock"))
    titles = ", ".join(sorted(source.titles)) or name
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
    try:
        if lock.acquire(f"{titles} for the GPU", _WAIT) and (code := _read(path)):
            return code
        announce(source, " for the GPU", _SECONDS)
        code = compiler.cubin(rows, kinds, capability)
        _write(path, code)
        return code
    finally:
        lock.release()


@cache
def folder() -> Path:
    """Returns the folder of the files."""
    if chosen := numba.config.CACHE_DIR:  # type: ignore[attr-defined]  # NUMBA_CACHE_DIR
        return Path(chosen) / _FOLDER
    beside = Path(__file__).parent / "__pycache__" / _FOLDER
    with suppress(OSError):
        beside.mkdir(parents=True, exist_ok=True)
        if os.access(beside, os.W_OK):
            return beside
    return Path(AppDirs("numba", appauthor=False).user_cache_dir) / _FOLDER


@cache
def _compiler() -> str:
    """Returns a digest of our own compiler."""
    return hashlib.sha256(Path(compiler.__file__).read_bytes()).hexdigest()


def _attributes(kind: Kind) -> Any:
    """Returns the attributes of a kind, for a digest."""
    return kind.dtype.descr, kind.dtype.itemsize, kind.ndim, kind.layout


def _read(path: Path) -> bytes:
    """Returns a file's content, and marks it as used; no bytes if there is no file."""
    try:
        code = path.read_bytes()
    except OSError:
        return b""
    with suppress(OSError):
        os.utime(path)
    return code


def _write(path: Path, code: bytes) -> None:
    """Writes a file and removes the least recently used; warns on failure."""
    new = path.with_name(f"{path.name}.{os.getpid()}")
    try:
        new.write_bytes(code)
        new.replace(path)
    except OSError as error:
        warn(f"{path.parent} can't be written ({error.strerror or error})")
        return
    with suppress(OSError):  # another process may remove them too
        path.with_suffix(".lock").unlink()
        files = sorted(path.parent.glob("*.cubin"), key=lambda file: file.stat().st_mtime)
        for file in files[:-_FILES]:
            file.unlink()
