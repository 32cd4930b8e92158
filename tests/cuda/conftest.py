"""The modules here are skipped where numba-cuda can't be imported."""

from collections.abc import Iterable
from pathlib import Path

import pytest

from tests.cuda.installed import skip_without_numba_cuda


class CudaModule(pytest.Module):
    """A module that is imported only if numba-cuda can be."""

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        """Skips the module, or collects its tests."""
        skip_without_numba_cuda()
        return super().collect()


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module:
    """Every test module of this folder."""
    return CudaModule.from_parent(parent, path=module_path)
