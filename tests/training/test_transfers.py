"""Transfers between the host and a network's device, and work that goes on meanwhile."""

from collections.abc import Iterator

import numpy as np
import torch

from linkzoo_training.networks.transfers import (
    DeviceBuffer,
    ToHost,
    in_turn,
    splits_on,
    to_device,
    traffic,
)


def test_on_the_cpu_it_is_one_tensor() -> None:
    host = torch.zeros(3, 4)
    buffer = DeviceBuffer(host, torch.device("cpu"))
    host[1] = 7
    assert buffer.device is host
    assert buffer.send(1, slice(2, 4)).data_ptr() == host[1, 2:].data_ptr()


def test_elsewhere_only_the_games_that_are_sent_arrive() -> None:
    host = torch.zeros(3, 4)
    buffer = DeviceBuffer(host, torch.device("cpu"))
    buffer.device = torch.zeros(3, 4)  # stands for another device's
    host[:] = torch.arange(12.0).reshape(3, 4)
    assert buffer.send(-1, slice(1, 3)).equal(host[-1, 1:3])
    assert buffer.device.count_nonzero() == 2


def test_runs_take_turns_until_all_have_ended() -> None:
    steps = []

    def run(name: str, length: int) -> Iterator[None]:
        for step in range(length):
            steps.append(f"{name}{step}")
            yield
        steps.append(f"{name} ends")

    in_turn(run("a", 1), run("b", 3), run("c", 0))
    assert steps == ["a0", "b0", "c ends", "a ends", "b1", "b2", "b ends"]
    in_turn()


def test_on_the_cpu_nothing_is_copied() -> None:
    device, array = torch.device("cpu"), np.arange(6.0)
    tensor = to_device(array, device)
    (back,) = ToHost(tensor).arrays()
    assert np.shares_memory(array, back)
    assert splits_on(device) == 1


def test_bytes_that_cross_are_counted() -> None:
    traffic.read()
    host = torch.zeros(3, 4, dtype=torch.int16)
    for device in map(torch.device, ("cpu", "meta")):
        there = to_device(np.zeros(5, np.int64), device)
        to_device(there, device)  # is there already
        DeviceBuffer(host, device).send(1, slice(1, 3))
        assert traffic.read() == (0 if device.type == "cpu" else 5 * 8 + 2 * 2)
    assert traffic.read() == 0
