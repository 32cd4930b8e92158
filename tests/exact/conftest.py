"""Quick tests run in the interpreter: their games are small. The slow tests compile them."""

import pytest


@pytest.fixture(autouse=True)
def _quick_tests_are_interpreted(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("slow") is None:
        request.getfixturevalue("uncompiled")
