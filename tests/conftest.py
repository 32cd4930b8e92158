"""Where and in what order tests run, and what collecting them compiles: all workers collect all."""

import gc
import os
import re
import sys
from collections.abc import Iterable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher
from numba.core.registry import CPUDispatcher

from linkzoo import game_names, registry
from linkzoo.engine import threads
from linkzoo.envs import aec
from tests.changed import changed_files, changes_everything, concerns

_IMPORTS_TORCH = re.compile(r"^(from|import) (torch|linkzoo_training)\b", re.MULTILINE)
_COMPILED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """The tests are about the package's own games, whatever else is installed."""
    gc.disable()  # it took a quarter of collecting the tests
    installed = pytest.MonkeyPatch()
    installed.setattr(registry, "_installed", dict)
    installed.setattr(os, "fsync", lambda _: None)  # 700 files took 10 ms each
    config.add_cleanup(installed.undo)


class TorchModule(pytest.Module):
    """A module that needs torch, where there is none."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Skips the module."""
        pytest.skip("torch is not installed", allow_module_level=True)


def pytest_pycollect_makemodule(
    module_path: Path, parent: pytest.Collector
) -> pytest.Module | None:
    """Skips what imports torch where it isn't installed (`make test-envs`)."""
    if find_spec("torch") or not _IMPORTS_TORCH.search(module_path.read_text(encoding="utf-8")):
        return None
    return TorchModule.from_parent(parent, path=module_path)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds `--changed-since`."""
    text = "leave out the tests of wings that no change since REVISION concerns (tests/changed.py)"
    parser.addoption("--changed-since", metavar="REVISION", help=text)


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Puts tests marked `last` behind all others, and makes nightly tests slow.

    So `make test` leaves out nightly tests, too.
    """
    revision = config.getoption("changed_since")
    if revision is not None:
        _deselect_unchanged(config, items, revision)
    for item in items:
        if item.get_closest_marker("nightly"):
            item.add_marker(pytest.mark.slow)
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def _deselect_unchanged(config: pytest.Config, items: list[pytest.Item], revision: str) -> None:
    """Leaves out the tests of wings that no change since a revision concerns."""
    try:
        changed = changed_files(revision)
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error
    if changes_everything(changed):
        return
    files = {item.path for item in items}
    concerned = {path for path in files if concerns(path, changed)}
    config.hook.pytest_deselected(items=[item for item in items if item.path not in concerned])
    items[:] = [item for item in items if item.path in concerned]


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Groups the tests that share compiled code or a fixture, for `--dist loadgroup`.

    One process compiles a game's rules and runs the tests of its folder and of its variants; the
    other modules have a group each. xdist's own groups, by marks, have no effect in pytest 9.2.
    """
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return _group_of(nodeid)

    if config.getoption("dist") == "loadgroup":
        return Groups(config, log)
    return None


def _group_of(nodeid: str) -> str:
    """Returns the game whose folder or variant (`link_o-6`) a test's id names, or else its file."""
    path, _, test = nodeid.partition("::")
    folder = Path(path).parent.name
    if folder in game_names():
        return folder
    variant = re.search(rf"\b({'|'.join(game_names())})-\d", test)
    if variant:
        return variant[1]
    return path


def pytest_collection_finish(session: pytest.Session) -> None:
    """Looks what collecting has compiled, or has loaded from the cache."""
    kinds = {Dispatcher, CPUDispatcher, *CPUDispatcher.__subclasses__()}
    functions: list[Any] = [found for found in gc.get_objects() if type(found) in kinds]
    session.config.stash[_COMPILED] = [
        str(function)
        for function in functions
        if function.signatures and "linkzoo" in function.__module__
    ]
    gc.enable()
    gc.freeze()  # modules and tests stay to the end: looking at them took 9 % of compiling


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Networks of a test and of its fixtures start with the same weights, whatever ran before."""
    if "torch" in sys.modules:
        sys.modules["torch"].default_generator.manual_seed(0)


@pytest.fixture(autouse=True)
def registered_before() -> Iterator[None]:
    """Games that a test registers are forgotten after it."""
    before = registry._known.copy(), registry._addresses.copy()
    yield
    registry._known, registry._addresses = before


@pytest.fixture(autouse=True)
def _denormals() -> Iterator[None]:
    """Training flushes denormals to zero in its process; hypothesis has no floats then."""
    yield
    if "torch" in sys.modules:
        sys.modules["torch"].set_flush_denormal(False)


@pytest.fixture
def uncompiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Rules run in the interpreter: those of a board or cards of a test's own play few plies."""
    monkeypatch.setattr(CPUDispatcher, "__call__", lambda self, *args: self.py_func(*args))
    for module in (aec, threads):
        monkeypatch.setattr(module, "entry_point", lambda function, *_: function)
    monkeypatch.setattr(threads, "_INTERPRETED", True)
    with np.errstate(all="ignore"):  # compiled code doesn't warn of overflow either
        yield


@pytest.fixture
def compiled_by_collecting(pytestconfig: pytest.Config) -> list[str]:
    """The package's functions that were compiled before the first test ran."""
    return pytestconfig.stash[_COMPILED]
