"""Imports of users' code: `path/to/file.py` and `package.module`."""

import ast
import hashlib
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from importlib.machinery import PathFinder
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

from linkzoo.core.user_files import local

_INSTALLED = ("site-packages", "dist-packages")
_OWN = __name__.partition(".")[0]


def import_home(home: str) -> ModuleType:
    """Imports a Python file by its path (`*.py`) or a module by its name.

    A file is imported once, under a name of its own. It can import modules from its own folder,
    like a script: the folder is appended to `sys.path`. Exceptions are those of the code.

    Raises:
        ImportError: A module of the folder was already imported from another folder.
    """
    if home.endswith(".py"):
        return _import_file(local(home))
    module = import_module(home)
    if home.partition(".")[0] != _OWN:  # workers have this package
        _note_module(home)
    return module


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


def source_digest(home: str) -> str | None:
    """Returns a SHA-256 of the code of a Python file (`*.py`) or of a module.

    It covers the modules of its folder, or of its package, that it imports, and those that they
    import, as far as `import` statements name them; no installed packages. The digest of a file
    that imports none of them is that of its content.

    Returns:
        The digest; None if there is no such file.
    """
    sources = _sources(home)
    if not sources:
        return None
    digests = {name: hashlib.sha256(path.read_bytes()) for name, path in sources.items()}
    if len(digests) == 1:
        return next(iter(digests.values())).hexdigest()
    lines = [f"{name} {digests[name].hexdigest()}\n" for name in sorted(digests)]
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _sources(home: str) -> dict[str, Path]:
    """Returns the files of a home, and of what it imports from its folder or package, by name."""
    if home.endswith(".py"):
        file = local(home).resolve()
        if not file.is_file():
            return {}
        return _closure(file.parent, {"": file})
    top = home.partition(".")[0]
    spec = find_spec(top)
    if spec is None or not spec.has_location or not spec.origin:
        return {}
    folder = Path(spec.origin).resolve().parent
    if spec.submodule_search_locations is not None:
        folder = folder.parent
    sources = {name: file for name, file in _named(folder, home) if file is not None}
    if home not in sources:
        return {}
    return _closure(folder, sources)


def _closure(folder: Path, sources: dict[str, Path]) -> dict[str, Path]:
    """Adds the modules of a folder that the sources import, by name, transitively.

    Of an installed module it adds those of its own package.
    """
    packages = {name.partition(".")[0] for name in sources}
    belongs = dict.fromkeys(packages, True)  # top-level modules, whether they count
    waiting = list(sources)
    while waiting:
        importer = waiting.pop()
        for imported in _imported(sources[importer], importer):
            top = imported.partition(".")[0]
            if top not in belongs:
                belongs[top] = folder.name not in _INSTALLED and _is_local(folder, top)
            if not belongs[top]:
                continue
            for name, file in _named(folder, imported):
                if file is not None and name not in sources:
                    sources[name] = file
                    waiting.append(name)
    return sources


def _imported(file: Path, name: str) -> Iterator[str]:
    """Yields the names that a file imports, modules or not; none if its syntax is wrong."""
    try:
        tree = ast.parse(file.read_bytes())
    except (SyntaxError, ValueError):
        return
    package = name.split(".")
    if file.name != "__init__.py":
        package.pop()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parents = package[: len(package) - node.level + 1] if node.level else []
            module = ".".join([*parents, *filter(None, [node.module])])
            yield from (f"{module}.{alias.name}" for alias in node.names)


def _named(folder: Path, name: str) -> Iterator[tuple[str, Path | None]]:
    """Yields a module and its packages by name, each with its file in a folder if it has one."""
    parts = name.split(".")
    for count in range(1, len(parts) + 1):
        path = folder.joinpath(*parts[:count])
        files = (path / "__init__.py", path.with_name(f"{path.name}.py"))
        yield ".".join(parts[:count]), next((file for file in files if file.is_file()), None)


def _is_local(folder: Path, top: str) -> bool:
    """Returns whether a top-level module is of a folder, not of Python or installed."""
    if not (folder / top).is_dir() and not (folder / f"{top}.py").is_file():
        return False
    installed = [path for path in sys.path if Path(path).name in _INSTALLED]
    return top not in sys.stdlib_module_names and PathFinder.find_spec(top, installed) is None


def _check_neighbours(sources: dict[str, Path]) -> None:
    """Raises ImportError if a module that a file imports from its folder came from another."""
    for name, source in sources.items():
        origin = getattr(sys.modules.get(name), "__file__", None)
        if name and origin and Path(origin).resolve() != source:
            raise ImportError(
                f"it imports {name} from its folder, and {origin} was imported by that name: "
                f"rename one of them"
            )


def _note(sources: dict[str, Path]) -> None:
    """Notes the files that workers on other machines need, except installed ones."""
    for file in sources.values():
        if not any(part in _INSTALLED for part in file.parts):
            local(file)


@cache
def _note_module(home: str) -> None:
    """Notes the files of a module: once, as reading those of a large package takes .1 s."""
    _note(_sources(home))


def _import_file(path: Path) -> ModuleType:
    file = path.resolve()
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
        sources = _sources(str(file))
        _note(sources)
        _check_neighbours(sources)
        if str(file.parent) not in sys.path:
            sys.path.append(str(file.parent))
        spec = spec_from_file_location(name, file)
        assert spec is not None
        assert spec.loader is not None
        module = sys.modules[name] = module_from_spec(spec)
        try:
            spec.loader.exec_module(module)
            _check_neighbours(sources)
        except BaseException:
            del sys.modules[name]
            raise
    return sys.modules[name]
