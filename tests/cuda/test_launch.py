"""The calls of the driver: kernels, streams, grids and arguments."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo.cuda import device
from linkzoo.engine.compiled import compiled
from linkzoo.engine.threads import RowKernel
from tests.cuda.without_gpu import Driver, Launch, without_gpu

RECORD = np.dtype([("seed", np.uint64), ("cells", np.int16, 4)])


@pytest.fixture
def driver() -> Iterator[Driver]:
    with without_gpu() as found:
        yield found


@compiled
def _add(first: int, last: int, rows: Any, number: Any, factor: Any) -> None:
    for i in range(first, last):
        rows[i] += rows.dtype.type(number) * rows.dtype.type(factor)


ADD = RowKernel(_add, 1)


@compiled
def _store(first: int, last: int, records: Any, columns: Any) -> None:
    for i in range(first, last):
        records[i].cells[1] = columns[i, 1]
        records[i].seed += np.uint64(1)


def test_streams_and_grids(driver: Driver) -> None:
    """On torch's current stream; a grid for all rows, but no more than the GPU can hold."""
    for count, stream in ((1, 0), (64, 0), (65, 4711), (40_000, 4711), (0, 0)):
        driver.stream = stream
        rows = torch.zeros(count, dtype=torch.int64)
        device.launch(ADD, rows, 3, np.uint64(2))
        assert (rows == 6).all()
    grids = [(launch.stream, launch.grid * launch.block) for launch in driver.launches]
    assert grids == [(0, 64), (0, 64), (4711, 128), (4711, 4 * 132 * 64)]


def test_rows_of_a_block(driver: Driver) -> None:
    rows = torch.zeros(33, dtype=torch.int64)
    device.launch(RowKernel(_add, 1, 32), rows, 3, np.uint64(2))
    assert (rows == 6).all()
    assert driver.launches == [Launch("_add", 0, 2, 32)]


def test_views(driver: Driver) -> None:
    """Records, and columns of a matrix, which aren't contiguous."""
    expected = np.zeros(5, RECORD)
    expected["cells"][:, 1], expected["seed"] = np.arange(5) + 0.5 > 2, 1
    memory = torch.zeros(5 * RECORD.itemsize, dtype=torch.uint8)
    columns = torch.zeros(5, 7, dtype=torch.bool)[:, 3:]
    columns[:, 1] = torch.arange(5) >= 2
    device.launch(RowKernel(_store, 1), device.view(memory, RECORD), columns)
    assert memory.numpy().tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match=r"the last axis can't be viewed as \[\('seed'"):
        device.view(memory[1:], RECORD)
    with pytest.raises(ValueError, match="can't be viewed as uint64"):
        device.view(torch.zeros(2, 3, 8, dtype=torch.uint8).transpose(1, 2), np.uint64)


@pytest.mark.parametrize("number", [2, np.uint64(2), np.float32(2)], ids=repr)
def test_a_kernel_is_loaded_once_for_each_kind(driver: Driver, number: Any) -> None:
    for dtype in (torch.float32, torch.float32, torch.int8):
        rows = torch.zeros(3, dtype=dtype)
        for factor in (True, np.bool_(True)):
            device.launch(ADD, rows, number, factor)
        assert (rows == 4).all()
    assert len(driver.loaded) == len(set(driver.loaded)) == 2
    assert driver.launches[0] == driver.launches[-1]


def test_every_thread_of_the_host_makes_the_gpu_current(
    driver: Driver, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []

    class Device:
        def __init__(self, index: int) -> None:
            self.index = index

        def set_current(self) -> None:
            made.append(self.index)

    monkeypatch.setattr(device, "Device", Device)
    rows = torch.zeros(3)

    def launch() -> None:
        for _ in range(2):
            device.launch(ADD, rows, 1, 1)

    other = threading.Thread(target=launch)
    other.start()
    other.join()
    assert made == [0]
    assert (rows == 2).all()
    assert len(driver.launches) == 2
