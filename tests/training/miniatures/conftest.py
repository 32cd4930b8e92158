"""The miniatures as games that a trainer finds by name."""

import sys
from importlib import import_module
from types import ModuleType
from typing import Any

import pytest

from tests.training.miniatures.play import MINIATURES


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """For this test, the package's games are the miniatures."""
    names = tuple(mini.game.name for mini in MINIATURES.values())
    monkeypatch.setattr(import_module("linkzoo.games"), "NAMES", names)
    monkeypatch.setattr("linkzoo_training.config.games", names)
    for mini in MINIATURES.values():
        module: Any = ModuleType(mini.game.name)
        module.GAME = mini.game
        monkeypatch.setitem(sys.modules, f"linkzoo.{mini.game.name}", module)
