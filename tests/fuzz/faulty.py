"""Properties that fail in every possible way, for tests/test_fuzz.py."""

import os
import time
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

WAYS = ["raise", "warn", "leave", "abort", "exit", "spin", "sleep", "hoard", "seldom"]


@pytest.mark.parametrize("way", [*WAYS, "accept"])
@settings(max_examples=100)
@given(number=st.integers(0, 2**30))
def test_examples_end(way: str, number: int) -> None:
    """Ends in the way that the parameter names."""
    hoard: list[Any] = []
    if way == "raise":
        raise KeyError("raised")
    if way == "warn":
        warnings.warn("warned", stacklevel=1)
    if way == "leave":
        Path("litter").touch()
    if way == "abort":
        os.abort()
    if way == "exit":
        os._exit(3)
    if way == "sleep":
        time.sleep(10_000)
    if way == "hoard":
        with suppress(MemoryError):
            while True:
                hoard.append(np.empty(2**28, np.int8))
    while way in ("spin", "hoard"):
        if way == "hoard":
            hoard.append(np.empty(2**20, np.int8))  # to the last MiB
    assert way != "seldom" or number < 2**29, "found"
