"""What training switches on for its process is switched off again after each test."""

from collections.abc import Iterator

import pytest
import torch


@pytest.fixture(autouse=True)
def _denormals() -> Iterator[None]:
    """Training flushes denormals to zero; hypothesis has no floats then."""
    yield
    torch.set_flush_denormal(False)
