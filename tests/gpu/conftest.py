"""The modules here are skipped where numba-cuda can't be imported."""

from tests.cuda.conftest import pytest_pycollect_makemodule

__all__ = ["pytest_pycollect_makemodule"]
