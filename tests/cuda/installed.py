"""Skips tests where numba-cuda can't be imported, as with NumPy 2.5."""

import warnings
from functools import cache

import pytest

from linkzoo.cuda import require_packages


@cache
def problem() -> str:
    """The message of `make_vec(…, device="cuda")` about the installed packages, or nothing."""
    with warnings.catch_warnings(action="ignore"):  # NumPy's, of numba-cuda
        try:
            require_packages()
        except ImportError as error:
            return str(error)
    return ""


def skip_without_numba_cuda() -> None:
    """Skips the test, or all tests of the module that is being collected."""
    if problem():
        pytest.skip(problem(), allow_module_level=True)
