"""All clients share their certificates: to read them took half of the time of these tests."""

import ssl
from functools import cache

import pytest

_context = cache(ssl.create_default_context)


@pytest.fixture(autouse=True)
def _certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ssl, "create_default_context", _context)
