"""The miniatures as games that a trainer finds by name."""

import pytest

from linkzoo import registry
from tests.training.miniatures.play import MINIATURES


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """For this test, the miniatures are known by their names."""
    for mini in MINIATURES.values():
        monkeypatch.setitem(registry._known, mini.game.name, mini.game)
