"""The server that the tests of a module share."""

from collections.abc import Iterator

import pytest

from tests.web.server import Client, serving


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with serving(tmp_path_factory.mktemp("games")) as asking:
        yield asking
