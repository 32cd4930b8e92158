"""Transfers between the host and a real GPU: `make test-gpu`."""

import numpy as np
import pytest
import torch

from linkzoo_training.networks.transfers import DeviceBuffer, ToHost, to_device

pytestmark = [pytest.mark.gpu, pytest.mark.slow]


def test_a_busy_gpu_copies_in_order_with_what_it_computes() -> None:
    device, count = torch.device("cuda"), 200_000
    busy = torch.rand(4096, 4096, device=device)
    host = torch.zeros(10, count).pin_memory()
    buffer = DeviceBuffer(host, device)
    sent = []
    for row in range(len(host)):
        host[row] = row
        there = buffer.send(row, slice(count)) + to_device(np.full(count, 0.5, np.float32), device)
        for _ in range(5):  # long enough for a copy to overtake it, if it didn't wait
            busy = (busy @ busy).sigmoid()
        sent.append(ToHost(there + 0 * busy[0, 0]))
        del there
    for row, copy in enumerate(sent):
        (arrived,) = copy.arrays()
        assert (arrived == row + 0.5).all()
