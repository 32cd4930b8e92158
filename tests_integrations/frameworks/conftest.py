"""A small Ray, started once."""

import os
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(scope="session")
def ray() -> Iterator[Any]:
    import ray

    os.environ.setdefault("RAY_worker_niceness", "0")  # or other work holds the tests up
    ray.init(num_cpus=2, include_dashboard=False, object_store_memory=100_000_000)
    yield ray
    ray.shutdown()
