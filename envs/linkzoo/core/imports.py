"""Imports of users' code: `path/to/file.py` and `package.module`."""

import hashlib
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType


def import_home(home: str) -> ModuleType:
    """Imports a Python file by its path (`*.py`) or a module by its name.

    A file is imported once, under a name of its own. It can import modules from its own folder,
    like a script: the folder is appended to `sys.path`. Exceptions are those of the code.
    """
    if home.endswith(".py"):
        return _import_file(Path(home))
    return import_module(home)


def whole_path(address: str) -> str:
    """Returns `FILE.py:name` with the file's whole path; other addresses as they are."""
    home, _, name = address.rpartition(":")
    if home.endswith(".py"):
        return f"{Path(home).resolve()}:{name}"
    return address


def import_hint(home: str, error: BaseException) -> str:
    """Returns the end of a message: the remedy if the module `home` isn't found, else ""."""
    top = home.partition(".")[0]
    if home.endswith(".py") or not isinstance(error, ModuleNotFoundError) or error.name != top:
        return ""
    return (
        f" (add the folder with {top} to the environment variable PYTHONPATH, or name a file, "
        f"FILE.py:NAME)"
    )


def _import_file(path: Path) -> ModuleType:
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
