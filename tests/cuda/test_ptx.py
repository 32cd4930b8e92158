"""The kernels as a GPU's machine code: compiled without a GPU, and within its limits.

`make test-ptx` and `make test-nightly` run this where NVVM and ptxas are installed.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from cuda import pathfinder

import linkzoo.compile
from linkzoo import VecEnv
from linkzoo.compile import use_device
from linkzoo.cuda.compiler import ENTRY, cubin, kind_of, ptx
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.threads import RowKernel
from linkzoo_training.commands.tools import compile as compile_command
from linkzoo_training.commands.tools.compile import use_rollouts
from tests.cuda.without_gpu import Loaded, without_gpu

pytestmark = [pytest.mark.ptxas, pytest.mark.slow]

ARCHITECTURE = (9, 0)
CONSTANTS = 4352  # bytes of constant memory: the kernel's own arguments, no tables
STACK = 1024  # bytes a thread, for the rules' arrays
# Registers that the kernels of a step and of a new game may use, somewhat more than they did with
# the compilers of CUDA 12.9, 13.0 and 13.5. The threads of a multiprocessor share 65,536: with 128,
# it holds 512.
REGISTERS = [
    ("linkage", 96, 88),
    ("link_o", 72, 104),
    ("love_links", 128, 112),
    ("connect_four:GAME", 88, 64),  # a game from outside the package
    pytest.param("love_formula", 144, 144, marks=pytest.mark.nightly),
]


class Used(NamedTuple):
    """The resources of a kernel as ptxas reports them, in bytes except `registers`."""

    registers: int
    stack: int
    spills: int
    constants: int


def ptxas(text: str, folder: Path) -> Used:
    """Assembles PTX; fails where ptxas does."""
    source = folder / "kernel.ptx"
    source.write_text(text)
    program = pathfinder.find_nvidia_binary_utility("ptxas")
    assert program is not None, "no ptxas: pip install nvidia-cuda-nvcc"
    architecture = "sm_{}{}".format(*ARCHITECTURE)
    command = [program, "-v", f"-arch={architecture}", str(source), "-o", str(folder / "cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

    def number(pattern: str) -> int:
        return sum(map(int, re.findall(pattern, done.stderr)))

    return Used(
        registers=number(r"Used (\d+) registers"),
        stack=number(r"(\d+) bytes stack frame"),
        spills=number(r"(\d+) bytes spill"),
        constants=number(r"(\d+) bytes cmem"),
    )


@cache
def kernels_of(use: Callable[..., None], game: str) -> dict[str, list[Loaded]]:
    """The kernels of `linkzoo tools compile --device cuda` for a use of a game, by name."""
    kernels: dict[str, list[Loaded]] = defaultdict(list)
    with without_gpu() as driver, pytest.MonkeyPatch.context() as patch:
        for module in (linkzoo.compile, compile_command):
            patch.setattr(module, "compile_for", lambda _: None)
        use(game, ARCHITECTURE)
    for loaded in driver.loaded:
        kernels[loaded.rows.kernel.__name__].append(loaded)
    return kernels


def assembled(loaded: Loaded, folder: Path) -> tuple[str, Used]:
    """The PTX of a kernel, and the resources that ptxas reports."""
    text = ptx(loaded.rows, loaded.kinds, ARCHITECTURE)
    used = ptxas(text, folder)
    print(loaded.rows.kernel.__name__, used)
    return text, used


@pytest.mark.parametrize("kernel", ["step", "reset_rows"])
@pytest.mark.parametrize(("game", "step", "renew"), REGISTERS)
def test_it_fits(game: str, step: int, renew: int, kernel: str, tmp_path: Path) -> None:
    """Without spills and without tables in constant memory, of which there are 64 kB."""
    vec = VecEnv(game, 2)
    row = vec._mask[0].nbytes + vec._flat[0].nbytes  # a step has them in the thread's memory
    registers, stack = (step, STACK + row) if kernel == "step" else (renew, STACK)
    (loaded,) = kernels_of(use_device, game)[kernel]
    text, used = assembled(loaded, tmp_path)
    assert ".const" not in text
    assert 16 < used.registers <= registers, used
    assert used.spills == 0, used
    assert used.constants <= CONSTANTS, used
    assert used.stack <= stack, used
    tables = re.findall(r"(?m)^\.\S.* (linkzoo_\w+)\[", text)
    assert tables
    assert len(tables) == len(set(tables)), "a table lies there twice"


_SIZE = 4


@compiled
def _reversed(numbers: Any, turn: Any) -> None:
    own = local(_SIZE, np.int64)
    for index in range(_SIZE):
        own[(index + turn) % _SIZE] = numbers[index]
    for index in range(_SIZE):
        numbers[index] = own[_SIZE - 1 - index]


@compiled
def _rows_with_arrays(first: Any, last: Any, numbers: Any) -> None:
    for i in range(first, last):
        _reversed(numbers[i], i)


ROWS_WITH_ARRAYS = RowKernel(_rows_with_arrays, 1)


def test_arrays_of_a_function_are_the_threads_own() -> None:
    text = ptx(ROWS_WITH_ARRAYS, (kind_of(np.zeros((3, _SIZE), np.int64)),), ARCHITECTURE)
    assert re.search(r"\.local .*\[32\]", text)


def test_machine_code() -> None:
    """Linked, with the symbol by which it is loaded."""
    code = cubin(ROWS_WITH_ARRAYS, (kind_of(np.zeros((3, _SIZE), np.int64)),), ARCHITECTURE)
    assert code.startswith(b"\x7fELF")
    assert f".text.{ENTRY}\0".encode() in code


@pytest.mark.parametrize("kernel", ["refresh", "random_actions"])
def test_the_other_kernels(kernel: str, tmp_path: Path) -> None:
    (loaded,) = kernels_of(use_device, "linkage")[kernel]
    _, used = assembled(loaded, tmp_path)
    assert used.registers <= 72, used
    assert used.spills == 0, used


@pytest.mark.parametrize("game", ["link_o", "love_links"])
def test_action_features(game: str, tmp_path: Path) -> None:
    for loaded in kernels_of(use_rollouts, game)["observe_actions"]:
        _, used = assembled(loaded, tmp_path)
        assert used.registers <= 128, used
        assert used.spills == 0, used


@pytest.mark.parametrize("name", ["_draw", "_uniforms", "_act", "_count", "_advantages"])
def test_the_kernels_of_a_rollout(name: str, tmp_path: Path) -> None:
    """Initial states and symmetries are drawn; both have that name."""
    kernels = kernels_of(use_rollouts, "linkage")[name]
    assert len(kernels) == {"_draw": 2}.get(name, 1)
    for loaded in kernels:
        _, used = assembled(loaded, tmp_path)
        assert used.registers <= 96, used
        assert used.spills == 0, used
