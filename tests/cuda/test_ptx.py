"""The kernels as a GPU's machine code: compiled without a GPU, and within its limits.

`make test-ptx` and `make test-nightly` run this where NVVM and ptxas are installed.
"""

import re
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch
from cuda import pathfinder

from linkzoo import VecEnv, get_game
from linkzoo.cuda.device import ptx
from linkzoo.cuda.staged import staged_random_actions, staged_step
from linkzoo.engine.compiled import compiled, local
from linkzoo.engine.threads import RowKernel
from linkzoo_training.config.config import read_config
from linkzoo_training.networks.inputs import Inputs
from linkzoo_training.networks.symmetries import DRAW as DRAW_VIEWS
from linkzoo_training.selfplay.backend import HostBackend, as_tensor
from linkzoo_training.selfplay.gae import advantages
from linkzoo_training.selfplay.initial_states import DRAW, InitialStates
from linkzoo_training.selfplay.sampling import UNIFORMS

pytestmark = [pytest.mark.ptxas, pytest.mark.slow]

ARCHITECTURE = (9, 0)
CONSTANTS = 4352  # bytes of constant memory: the kernel's own arguments, no tables
STACK = 1024  # bytes a thread, for the rules' arrays
# Registers that the kernels of a step and of a new game may use, somewhat more than they did. The
# threads of a multiprocessor share 65,536: with 128, it holds 512.
REGISTERS = [
    ("linkage", 56, 88),
    ("link_o", 72, 104),
    ("love_links", 104, 144),
    pytest.param("love_formula", 136, 160, marks=pytest.mark.nightly),
]


class Used(NamedTuple):
    """What ptxas says of a kernel; bytes but for `registers`."""

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


def arguments(vec: VecEnv, name: str) -> tuple[RowKernel, tuple[Any, ...]]:
    """The rows and arrays of a kernel."""
    run, seeds = vec._kernels, np.zeros(vec.num_envs, np.uint64)
    plies = np.zeros(vec.num_envs, np.int64)
    words = np.zeros(1, np.uint64)  # the types count, not how many
    shown = (vec._seat, vec._payoff, vec._margin, vec._done, vec._length)
    return {
        "step": (
            staged_step(vec.game),
            (vec.states, vec._actions, vec._seed, vec.episodes, words, words, *shown),
        ),
        "renew": (run.reset_rows, (vec.states, vec._mask, seeds, seeds, plies)),
        "legal": (run.fill_masks, (vec.states, vec._mask)),
        "observe": (run.observe, (vec.states, vec._seat, vec._flat)),
        "random": (
            staged_random_actions(vec.game),
            (vec._actions, seeds, 7, words),
        ),
    }[name]


@pytest.mark.parametrize("kernel", ["step", "renew"])
@pytest.mark.parametrize(("game", "step", "renew"), REGISTERS)
def test_it_fits(game: str, step: int, renew: int, kernel: str, tmp_path: Path) -> None:
    """Without spills and without tables in constant memory, of which there are 64 kB."""
    vec = VecEnv(game, 2)
    rows, arrays = arguments(vec, kernel)
    row = vec._mask[0].nbytes + vec._flat[0].nbytes  # a step has them in the thread's memory
    registers, stack = (step, STACK + row) if kernel == "step" else (renew, STACK)
    text = ptx(rows.kernel, arrays, ARCHITECTURE)
    used = ptxas(text, tmp_path)
    print(game, kernel, used)
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
    for place in range(_SIZE):
        own[(place + turn) % _SIZE] = numbers[place]
    for place in range(_SIZE):
        numbers[place] = own[_SIZE - 1 - place]


@compiled
def _rows_with_arrays(first: Any, last: Any, numbers: Any) -> None:
    for i in range(first, last):
        _reversed(numbers[i], i)


def test_arrays_of_a_function_are_the_threads_own() -> None:
    text = ptx(_rows_with_arrays, (np.zeros((3, _SIZE), np.int64),), ARCHITECTURE)
    assert re.search(r"\.local .*\[32\]", text)


@pytest.mark.parametrize("kernel", ["legal", "observe", "random"])
def test_the_other_kernels(kernel: str, tmp_path: Path) -> None:
    rows, arrays = arguments(VecEnv("linkage", 2), kernel)
    used = ptxas(ptx(rows.kernel, arrays, ARCHITECTURE), tmp_path)
    assert used.registers <= 72, used
    assert used.spills == 0, used


@pytest.mark.parametrize("game", ["link_o", "love_links"])
def test_action_features(game: str, tmp_path: Path) -> None:
    vec, inputs = VecEnv(game, 2), Inputs(get_game(game), lists_actions=True)
    rows = vec._kernels.observe_actions
    assert rows is not None
    listed = np.zeros((2, inputs.width), inputs.dtype)[:, len(inputs.map) :]
    arrays = vec.states, np.empty_like(vec.states), vec._mask, listed
    used = ptxas(ptx(rows.kernel, arrays, ARCHITECTURE), tmp_path)
    assert used.registers <= 128, used
    assert used.spills == 0, used


def rollout_kernels() -> dict[str, tuple[RowKernel, tuple[Any, ...]]]:
    """The rows and arguments of what a rollout launches beside a game's kernels."""
    config = read_config({"name": "x", "game": "linkage", "num_envs": 2})
    states, backend = as_tensor(VecEnv("linkage", 2).states), HostBackend(torch.device("cpu"))
    chances = InitialStates(config, states, backend).chances(0.0, [])
    seed, numbers, seats = np.uint64(0), np.zeros(2, np.int64), np.zeros(2, np.int8)
    values, done = np.zeros((3, 2, 2), np.float32), np.zeros((2, 2), np.bool_)
    acting, decay, advantage = np.zeros((3, 2), np.int8), np.float32(0.9), values[0].copy()
    learned = (seats, values[1:], values, done, acting, decay, advantage, values[1:])
    rows = np.zeros((2, states.shape[1]), np.uint8)
    given = (a.numpy() if isinstance(a, torch.Tensor) else a for a in chances)
    drawn = rows, numbers, numbers, done[0], numbers, seats
    begun = (numbers, seats, rows, *given, *drawn)
    return {
        "initial states": (DRAW, begun),
        "views": (DRAW_VIEWS, (numbers, 192, seed, 7, 0)),
        "uniforms": (UNIFORMS, (np.zeros(2, np.float32), seed, 7, 0)),
        "advantages": (advantages, learned),
    }


@pytest.mark.parametrize("name", ["initial states", "views", "uniforms", "advantages"])
def test_the_kernels_of_a_rollout(name: str, tmp_path: Path) -> None:
    rows, given = rollout_kernels()[name]
    used = ptxas(ptx(rows.kernel, given, ARCHITECTURE), tmp_path)
    assert used.registers <= 96, used
    assert used.spills == 0, used
