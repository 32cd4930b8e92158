"""Asynchronous copies between the host and a network's device.

On the CPU nothing is copied. A GPU copies while it computes, in one stream per direction: otherwise
the copies of one group of games would wait for another group's network.
"""

from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor


class Traffic:
    """Counter of copied bytes."""

    _bytes = 0

    def count(self, tensor: Tensor) -> None:
        """Adds the bytes of a tensor."""
        self._bytes += tensor.numel() * tensor.element_size()

    def read(self) -> int:
        """Returns the bytes since the last call."""
        count = self._bytes
        self._bytes = 0
        return count


traffic = Traffic()  # one per process


@cache
def copy_streams(device: torch.device) -> tuple[torch.cuda.Stream, torch.cuda.Stream]:
    """Returns the streams of a GPU for copies to the device and to the host."""
    return torch.cuda.Stream(device), torch.cuda.Stream(device)


def to_device(array: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    """Copies a host array to the device; asynchronously to a GPU."""
    tensor = array
    if not isinstance(tensor, Tensor):
        tensor = torch.from_numpy(tensor)
    if device.type == tensor.device.type:
        return tensor
    traffic.count(tensor)
    if device.type != "cuda":
        return tensor.to(device)
    computing = torch.cuda.current_stream(device)
    copying, _ = copy_streams(device)
    with torch.cuda.stream(copying):
        sent = tensor.pin_memory().to(device, non_blocking=True)
    computing.wait_stream(copying)
    sent.record_stream(computing)  # keeps the memory until that stream has read it
    return sent


class ToHost:
    """Asynchronous copy of tensors of one device to the host."""

    def __init__(self, *tensors: Tensor) -> None:
        self._host = list(tensors)
        self._sent: torch.cuda.Event | None = None
        device = tensors[0].device
        if device.type == "cuda":
            _, copying = copy_streams(device)
            copying.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(copying):
                self._host = [_pinned(tensor) for tensor in tensors]
            self._sent = copying.record_event()

    def arrays(self) -> list[NDArray[Any]]:
        """Waits for the copies and returns them."""
        if self._sent is not None:
            self._sent.synchronize()
        return [tensor.numpy() for tensor in self._host]


def _pinned(tensor: Tensor) -> Tensor:
    """Starts a copy of a GPU tensor to pinned memory, in the current stream."""
    traffic.count(tensor)
    tensor.record_stream(torch.cuda.current_stream(tensor.device))
    return torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)


def in_turn(*runs: Iterator[None]) -> None:
    """Steps the iterators in turn until all have ended.

    Each yields after calling a network: while a GPU computes for one, the host advances the others
    ("double-buffered sampling": Petrenko et al., "Sample Factory", ICML 2020).
    """
    for _ in zip_longest(*runs):
        pass


def splits_on(device: torch.device) -> int:
    """Returns the number of interleaved groups of games: two keep GPU and host busy, one a CPU."""
    if device.type == "cuda":
        return 2
    return 1


class DeviceBuffer:
    """Host rows [T, N, ...] with a copy on the device; `send` updates one row there.

    On the CPU both are one tensor. Synchronise with the device before writing a row again: queued
    work may still read it.
    """

    def __init__(self, host: Tensor, device: torch.device) -> None:
        self.host = host
        self.device = host.to(device)

    def send(self, t: int, games: slice) -> Tensor:
        """Copies games of row t to the device and returns them there."""
        source = self.host[t, games]
        target = self.device[t, games]
        if self.device is self.host:
            return target
        traffic.count(source)
        if target.device.type != "cuda":
            return target.copy_(source)
        copying, _ = copy_streams(target.device)
        with torch.cuda.stream(copying):
            target.copy_(source, non_blocking=True)
        torch.cuda.current_stream(target.device).wait_stream(copying)
        return target
