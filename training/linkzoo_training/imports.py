"""Imports of users' objects: `path/to/file.py:NAME` and `package.module:NAME`."""

import hashlib
import re
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

_IMPORT_PATH = re.compile(r"(?:.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):[^\W\d]\w*")


def is_import_path(text: str) -> bool:
    """Returns whether a text has the form of an import path, whether or not it exists."""
    return _IMPORT_PATH.fullmatch(text) is not None


def check_import_path(path: str, kind: str) -> None:
    """Checks that the file or package of an import path exists; runs none of its code.

    Args:
        path: The import path.
        kind: The kind of the object, such as "agent", for the message.

    Raises:
        ValueError: There is no such file or package.
    """
    home = path.rpartition(":")[0]
    if home.endswith(".py"):
        if not Path(home).is_file():
            raise ValueError(f"{kind} {path!r}: there is no file {home}")
    elif find_spec(home.partition(".")[0]) is None:
        raise ValueError(f"{kind} {path!r}: there is no module {home}")


def import_object(path: str, kind: str) -> Any:
    """Imports the object of an import path.

    A file can import modules from its own folder, like a script.

    Args:
        path: The import path.
        kind: The kind of the object, such as "agent", for messages.

    Returns:
        The object.

    Raises:
        ValueError: The file, module or name doesn't exist or fails to import.
    """
    home, _, name = path.rpartition(":")
    try:
        module = _import_file(Path(home)) if home.endswith(".py") else import_module(home)
        value = getattr(module, name, None)
    except Exception as error:  # user code can raise anything
        raise ValueError(f"{kind} {path!r}: {type(error).__name__}: {error}") from error
    if value is None:
        raise ValueError(f"{kind} {path!r}: {home} has no {name}, or it is None")
    return value


def source_file(path: str) -> Path | None:
    """Returns the file of an import path; None for a module without one."""
    home = path.rpartition(":")[0]
    if home.endswith(".py"):
        return Path(home)
    spec = find_spec(home)
    if spec is None or not spec.has_location or not spec.origin:
        return None
    return Path(spec.origin)


def _import_file(path: Path) -> ModuleType:
    """Imports a file once and returns its module; appends its folder to `sys.path`."""
    file = path.resolve()
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        if str(file.parent) not in sys.path:
            sys.path.append(str(file.parent))
        spec = spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
