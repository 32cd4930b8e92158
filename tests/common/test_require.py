"""Errors of `device="cuda"` for missing or broken packages, and the tests that they skip."""

from typing import Any

import pytest

from linkzoo import cuda, make_vec
from tests.cuda.installed import problem, skip_without_numba_cuda

ROW_STACK = AttributeError("module 'numpy' has no attribute 'row_stack'")


def fail(monkeypatch: pytest.MonkeyPatch, module: str, error: Exception) -> None:
    """Lets the import of one module fail; the others are there."""

    def import_module(name: str) -> Any:
        if name == module:
            raise error

    monkeypatch.setattr(cuda, "import_module", import_module)
    monkeypatch.setattr(cuda, "version", {"numba-cuda": "1.0"}.get)


@pytest.mark.parametrize(("module", "name"), [("torch", "torch"), ("numba_cuda", "numba-cuda")])
def test_a_missing_package_is_named(
    module: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fail(monkeypatch, module, ModuleNotFoundError(f"No module named '{module}'", name=module))
    with pytest.raises(
        ImportError, match=rf"pip install '\.\[cuda\]' \({name} is not installed\)$"
    ):
        make_vec("linkage", 2, device="cuda")


@pytest.mark.parametrize(
    "error",
    [
        ROW_STACK,
        DeprecationWarning("The 'generic' unit"),
        OSError("libcudart.so"),
        ModuleNotFoundError("No module named 'cuda'", name="cuda"),
    ],
    ids=repr,
)
def test_a_broken_package_is_named(error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    """The message has the error, the versions and the command that installs the package."""
    fail(monkeypatch, "linkzoo.cuda.device", error)
    with pytest.raises(ImportError) as caught:
        make_vec("linkage", 2, device="cuda")
    message = str(caught.value)
    assert message.startswith("device='cuda': numba-cuda can't be imported (")
    assert f"{type(error).__name__}: {error}; numba-cuda 1.0, numba " in message
    assert "in a clone of linkzoo, pip install '.[cuda]'" in message


def test_tests_are_skipped_with_the_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    fail(monkeypatch, "linkzoo.cuda.device", ROW_STACK)
    problem.cache_clear()
    try:
        with pytest.raises(pytest.skip.Exception, match=r"row_stack.*pip install"):
            skip_without_numba_cuda()
    finally:
        problem.cache_clear()
