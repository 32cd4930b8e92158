"""The disk cache of kernels."""

import os
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest
import torch

from linkzoo import compile as compile_module
from linkzoo.compile import ENVIRONMENTS, ON_DEVICE, capability_of, use_device
from linkzoo.cuda import compiler, cubins, device, vector
from linkzoo.cuda.compiler import kind_of
from linkzoo.engine import cache
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel

H100 = (9, 0)
FLOATS, INTEGERS = ((kind_of(np.zeros(2, dtype)),) for dtype in (np.float32, np.int64))


@compiled
def _rows(first: int, last: int, rows: Any) -> None:
    for i in range(first, last):
        rows[i] += 1


@compiled
def _others(first: int, last: int, rows: Any) -> None:
    for i in range(first, last):
        rows[i] -= 1


ROWS, OTHERS = RowKernel(_rows, 1), RowKernel(_others, 1)


@pytest.fixture
def made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The names of the kernels that are compiled into an empty folder."""
    compiled: list[Any] = []

    def cubin(*task: Any) -> bytes:
        compiled.append(task)
        return b"\x7fELF%d" % len(compiled)

    monkeypatch.setattr(compiler, "cubin", cubin)
    monkeypatch.setattr(cubins, "folder", lambda: tmp_path / "new" / "cubins")
    return compiled


def test_a_kernel_is_compiled_once(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """For its code, the kinds of its arguments, the GPU, the block and the versions."""
    first = cubins.machine_code(ROWS, FLOATS, H100)
    assert cubins.machine_code(ROWS, FLOATS, H100) == first
    tasks: list[Any] = [(ROWS, INTEGERS, H100), (OTHERS, FLOATS, H100), (ROWS, FLOATS, (8, 6))]
    for task in (*tasks, (RowKernel(_rows, 1, 32), FLOATS, H100)):
        for _ in range(2):
            assert cubins.machine_code(*task) != first
    assert len(made) == 5
    for module, name, value in (
        (cubins, "version", lambda _: "0.99"),
        (cubins, "_compiler", lambda: "other"),
        (numba, "__version__", "0.99.0"),
    ):
        with monkeypatch.context() as patch:
            patch.setattr(module, name, value)
            assert cubins.machine_code(ROWS, FLOATS, H100) != first
    monkeypatch.setattr(numba, "__version__", numba.__version__ + ".post1")  # a bug fix
    assert cubins.machine_code(ROWS, FLOATS, H100) == first
    assert len(made) == 8
    assert {file.suffix for file in cubins.folder().iterdir()} == {".cubin"}


def test_a_damaged_file_is_replaced(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    class Code:
        def __init__(self, data: bytes) -> None:
            self.data = data

        def get_kernel(self, _: str) -> bytes:
            if self.data.endswith(b"1"):
                raise RuntimeError("CUDA_ERROR_INVALID_IMAGE")
            return self.data

        from_cubin = classmethod(lambda cls, data: cls(data))

    monkeypatch.setattr(device, "ObjectCode", Code)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: H100)
    assert cubins.machine_code(ROWS, FLOATS, H100).endswith(b"1")
    assert device.load(ROWS, FLOATS).endswith(b"2")
    assert device.load(ROWS, FLOATS).endswith(b"2")
    assert len(made) == 2
    monkeypatch.setattr(Code, "get_kernel", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        device.load(ROWS, FLOATS)


def test_the_files_used_last_are_kept(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cubins, "_FILES", 3)
    for age, block in enumerate((1, 2, 3)):
        cubins.machine_code(RowKernel(_rows, 1, block), FLOATS, H100)
        for file in cubins.folder().iterdir():
            os.utime(file, (age - 10, age - 10))
    cubins.machine_code(RowKernel(_rows, 1, 1), FLOATS, H100)
    for block in (4, 5, 1):
        cubins.machine_code(RowKernel(_rows, 1, block), FLOATS, H100)
    assert len(made) == 5
    assert len(list(cubins.folder().iterdir())) == 3


def test_a_folder_that_cannot_be_written(
    made: list[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A warning, once."""
    (tmp_path / "new").write_text("a file")
    monkeypatch.setattr(cache, "_warned", set())
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        cubins.machine_code(ROWS, FLOATS, H100)
    cubins.machine_code(ROWS, FLOATS, H100)  # a warning would be an error
    assert len(made) == 2


def test_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Named by NUMBA_CACHE_DIR, beside the modules, or the user's."""
    find = cubins.folder.__wrapped__
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path))
    assert find() == tmp_path / "linkzoo_cubins"
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    assert find() == Path(cubins.__file__).parent / "__pycache__" / "linkzoo_cubins"
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert find().parts[-2:] == ("numba", "linkzoo_cubins")


@pytest.mark.parametrize(("arch", "found"), [("sm_90", (9, 0)), ("sm_120", (12, 0))])
def test_architectures(arch: str, found: tuple[int, int]) -> None:
    assert capability_of(arch) == found


@pytest.mark.parametrize("arch", ["sm_90a", "90", "sm_9", ""])
def test_what_is_no_architecture(arch: str) -> None:
    with pytest.raises(ValueError, match=f"^arch='{arch}': not an architecture such as sm_90$"):
        capability_of(arch)


@pytest.mark.nightly  # quick: the others of this file
def test_compiling_ahead(made: list[Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """All kernels of an environment, without a GPU; a second time none."""
    monkeypatch.setattr(device, "_target", None)  # undone afterwards
    monkeypatch.setattr(vector, "DEVICE", "cuda")
    for _ in range(2):
        use_device("linkage", H100)
        names = sorted(task[0].kernel.__name__ for task in made)
        assert names == ["random_actions", "refresh", "reset_rows", "step"]
    assert {task[2] for task in made} == {H100}


@pytest.mark.parametrize(
    ("arguments", "asked"),
    [
        ([], (ENVIRONMENTS,)),
        (["--device", "cuda", "--arch", "sm_90"], (ON_DEVICE, H100)),
    ],
)
def test_the_command(
    arguments: list[str], asked: tuple[Any, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    found: list[Any] = []
    monkeypatch.setattr(sys, "argv", ["compile", "linkage", *arguments])
    monkeypatch.setattr(compile_module, "compile_ahead", lambda *task: map(found.append, [task]))
    monkeypatch.setattr(sys, "stdout", StringIO())
    compile_module.main()
    assert found == [(["linkage"], asked[:1], *asked[1:])]


def test_what_the_command_refuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    for more, message in ((["--arch", "sm_90a"], "not an architecture"), ([], "no CUDA GPU")):
        monkeypatch.setattr(sys, "argv", ["compile", "--device", "cuda", *more])
        with pytest.raises(SystemExit):
            compile_module.main()
        assert message in capsys.readouterr().err
