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

# Words in the names of tests that compile the same rules, and the game of these.
_TOGETHER = {name: name for name in (*game_names(), "connect_four", "leduc", "miniatures")}
_TOGETHER |= {"test_other_boards": "link_o"}
_SEARCHES = "gumbel monte_carlo own_network solved_positions solver uct".split()
_TOGETHER |= {f"test_{name}": "linkage" for name in _SEARCHES}
_TOGETHER |= {f"test_{name}": "love_links" for name in ("dataset", "improve", "linear")}
# These modules prepare something once per process: a network, a run, a package, a server.
_PREPARED = "cache distributed files fingerprints policy resume".split()
_TOGETHER |= {f"/test_{name}.py": name for name in _PREPARED} | {"tests/web/": "web"}
_IMPORTS_TORCH = re.compile(r"^(from|import) (torch|linkzoo_training)\b", re.MULTILINE)
_COMPILED = pytest.StashKey[list[str]]()


def pytest_configure(config: pytest.Config) -> None:
    """The tests are about the package's own games, whatever else is installed."""
    gc.disable()  # it took a quarter of collecting the tests
    installed = pytest.MonkeyPatch()
    installed.setattr(registry, "_installed", dict)
    installed.setattr(os, "fsync", lambda _: None)  # 700 files took 10 ms each
    config.add_cleanup(installed.undo)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Tests of one game run in one process (`--dist loadscope`), which compiles its rules once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByGame(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return next((game for word, game in _TOGETHER.items() if word in nodeid), nodeid)

    return ByGame(config, log) if config.getvalue("dist") == "loadscope" else None


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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Puts the tests that are marked so behind all others."""
    items.sort(key=lambda item: item.get_closest_marker("last") is not None)


def pytest_collection_finish(session: pytest.Session) -> None:
    """Looks what collecting has compiled, or has loaded from the cache."""
    kinds = {Dispatcher, CPUDispatcher, *CPUDispatcher.__subclasses__()}
    functions: list[Any] = [found for found in gc.get_objects() if type(found) in kinds]
    session.config.stash[_COMPILED] = [
        str(function)
        for function in functions
        if function.signatures and "linkzoo" in function.__module__
    ]
    # 550,000 objects of modules and tests stay to the end: full collections took 9 % of compiling.
    gc.enable()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)  # quick collections took another 8 % of it


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Networks of a test and of its fixtures start with the same weights, whatever ran before."""
    if "torch" in sys.modules:
        sys.modules["torch"].manual_seed(0)


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
    monkeypatch.setattr(aec, "entry_point", lambda function, *_: function)
    monkeypatch.setattr(threads, "_INTERPRETED", True)
    with np.errstate(all="ignore"):  # compiled code doesn't warn of overflow either
        yield


@pytest.fixture
def compiled_by_collecting(pytestconfig: pytest.Config) -> list[str]:
    """The package's functions that were compiled before the first test ran."""
    return pytestconfig.stash[_COMPILED]
