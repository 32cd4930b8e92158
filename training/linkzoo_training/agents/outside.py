"""Agents from outside the package: `path/to/file.py:Agent` and `package.module:Agent`."""

import hashlib
import re
import sys
from importlib import import_module
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from linkzoo import Agent
from linkzoo.core.agent import is_agent

_ADDRESS = re.compile(r"(.+\.py|[^\W\d]\w*(?:\.[^\W\d]\w*)*):([^\W\d]\w*)")


def is_outside(spec: str) -> bool:
    """Whether an agent's name is the address of one from outside, be there one or not."""
    return _ADDRESS.fullmatch(spec) is not None


def check_outside(spec: str) -> None:
    """ValueError if there is no such file or package. Nothing of it runs."""
    home = _parts(spec)[0]
    there = Path(home).is_file() if home.endswith(".py") else find_spec(home.partition(".")[0])
    if not there:
        what = "file" if home.endswith(".py") else "module"
        raise ValueError(f"agent {spec!r}: there is no {what} {home}")


def load_outside(spec: str) -> Agent:
    """The agent at an address: an object with `name` and `act`, or what makes one when called.

    ValueError if there is no such file, module or name, if it can't be imported or made, or if it
    is no agent.
    """
    home, name = _parts(spec)
    try:
        module = _of_file(Path(home)) if home.endswith(".py") else import_module(home)
    except Exception as error:  # another's code can raise anything
        raise ValueError(f"agent {spec!r}: {type(error).__name__}: {error}") from error
    if not hasattr(module, name):
        raise ValueError(f"agent {spec!r}: {home} has no {name}")
    made: Any = getattr(module, name)
    if isinstance(made, type) or not hasattr(made, "act"):
        try:
            made = made()
        except Exception as error:
            raise ValueError(f"agent {spec!r}: {type(error).__name__}: {error}") from error
    if not is_agent(made):
        raise ValueError(f"agent {spec!r}: an agent has a `name` and a method `act(positions)`")
    agent: Agent = made
    return agent


def outside_file(spec: str) -> Path | None:
    """The file of an address; None for a module that has none."""
    home = _parts(spec)[0]
    if home.endswith(".py"):
        return Path(home)
    found = find_spec(home)
    return Path(found.origin) if found and found.has_location and found.origin else None


def _parts(spec: str) -> tuple[str, str]:
    """The file or module, and the name in it."""
    parts = _ADDRESS.fullmatch(spec)
    if parts is None:
        raise ValueError(f"agent {spec!r}: not path/to/file.py:NAME or package.module:NAME")
    return parts[1], parts[2]


def _of_file(path: Path) -> ModuleType:
    """The module of a file, imported once."""
    file = path.resolve()
    name = f"{file.stem}_{hashlib.sha256(str(file).encode()).hexdigest()[:12]}"
    if name not in sys.modules:
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
