"""Objects of users by their import paths: `path/to/file.py:NAME` and `package.module:NAME`."""

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


def check_import_path(path: str, what: str) -> None:
    """Raises ValueError if the file or package doesn't exist; runs none of its code.

    The message begins with `what` the path is for, such as "agent".
    """
    home = path.rpartition(":")[0]
    in_file = home.endswith(".py")
    if not (Path(home).is_file() if in_file else find_spec(home.partition(".")[0])):
        raise ValueError(f"{what} {path!r}: there is no {'file' if in_file else 'module'} {home}")


def import_object(path: str, what: str) -> Any:
    """Imports the object of an import path.

    A file can import modules from its own folder, like a script.

    Raises:
        ValueError: The file, module or name doesn't exist or fails to import; the message begins
            with `what` the path is for.
    """
    home, _, name = path.rpartition(":")
    try:
        module = _import_file(Path(home)) if home.endswith(".py") else import_module(home)
        found = getattr(module, name, None)
    except Exception as error:  # user code can raise anything
        raise ValueError(f"{what} {path!r}: {type(error).__name__}: {error}") from error
    if found is None:
        raise ValueError(f"{what} {path!r}: {home} has no {name}, or it is None")
    return found


def source_file(path: str) -> Path | None:
    """Returns the file of an import path; None for a module without one."""
    home = path.rpartition(":")[0]
    if home.endswith(".py"):
        return Path(home)
    found = find_spec(home)
    return Path(found.origin) if found and found.has_location and found.origin else None


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
