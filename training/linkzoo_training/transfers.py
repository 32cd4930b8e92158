"""What crosses between the host and the device of a network, so that neither waits for the other.

Where both are the CPU nothing is copied. A GPU copies beside what it computes, in a stream for each
direction: otherwise what one group of games needs would wait for another group's network.
"""

from collections.abc import Iterator
from functools import cache
from itertools import zip_longest
from typing import Any, NamedTuple

import torch
from numpy.typing import NDArray
from torch import Tensor


class Traffic:
    """Counts the bytes that cross."""

    def __init__(self) -> None:
        self._bytes = 0

    def count(self, tensor: Tensor) -> None:
        """Counts one that crosses."""
        self._bytes += tensor.numel() * tensor.element_size()

    def read(self) -> int:
        """Bytes since this was asked last."""
        found, self._bytes = self._bytes, 0
        return found


traffic = Traffic()  # of this process


class CopyStreams(NamedTuple):
    """Where a GPU copies, beside what it computes."""

    to_device: torch.cuda.Stream
    to_host: torch.cuda.Stream


@cache
def copy_streams(device: torch.device) -> CopyStreams:
    """Those of a GPU, the same in every call."""
    return CopyStreams(torch.cuda.Stream(device), torch.cuda.Stream(device))


def to_device(found: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    """What lies on the host on the device; a GPU copies it when its turn comes, and we go on."""
    tensor = found if isinstance(found, Tensor) else torch.from_numpy(found)
    if device.type == tensor.device.type:
        return tensor
    traffic.count(tensor)
    if device.type != "cuda":
        return tensor.to(device)
    computing, copying = torch.cuda.current_stream(device), copy_streams(device).to_device
    with torch.cuda.stream(copying):
        there = tensor.pin_memory().to(device, non_blocking=True)
    computing.wait_stream(copying)
    there.record_stream(computing)  # keeps its memory until that stream has read it
    return there


class ToHost:
    """Tensors of one device on their way to the host, which goes on until it asks for `arrays`."""

    def __init__(self, *tensors: Tensor) -> None:
        self._host, self._sent = list(tensors), None
        device = tensors[0].device
        if device.type == "cuda":
            copying = copy_streams(device).to_host
            copying.wait_stream(torch.cuda.current_stream(device))
            with torch.cuda.stream(copying):
                self._host = [_pinned(tensor) for tensor in tensors]
            self._sent = copying.record_event()

    def arrays(self) -> list[NDArray[Any]]:
        """What has arrived; waits for it."""
        if self._sent is not None:
            self._sent.synchronize()
        return [tensor.numpy() for tensor in self._host]


def _pinned(tensor: Tensor) -> Tensor:
    """A tensor of a GPU in pinned memory, where the current stream copies it."""
    traffic.count(tensor)
    tensor.record_stream(torch.cuda.current_stream(tensor.device))
    return torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(tensor, non_blocking=True)


def in_turn(*runs: Iterator[None]) -> None:
    """Has each run take a step after the other, until all have ended.

    A run stops where it has asked a network: while a GPU answers one, the host goes on with the
    others ("double-buffered sampling": Petrenko et al., "Sample Factory", ICML 2020).
    """
    for _ in zip_longest(*runs):
        pass


def splits_on(device: torch.device) -> int:
    """How many groups of games take turns: two keep a GPU and the host at work, one the CPU."""
    return 2 if device.type == "cuda" else 1


class DeviceBuffer:
    """Rows [T, N, ...] written in `host`; `send` copies one to `device`, where it stays.

    Where both are the CPU they are one tensor. A row may be written again once the device has been
    waited for: nothing that it was asked before still reads the row, here or there.
    """

    def __init__(self, host: Tensor, device: torch.device) -> None:
        self.host = host
        self.device = host.to(device)

    def send(self, t: int, games: slice) -> Tensor:
        """Some games of row t on the device, as the host has them now."""
        here, there = self.host[t, games], self.device[t, games]
        if self.device is self.host:
            return there
        traffic.count(here)
        if there.device.type != "cuda":
            return there.copy_(here)
        copying = copy_streams(there.device).to_device
        with torch.cuda.stream(copying):
            there.copy_(here, non_blocking=True)
        torch.cuda.current_stream(there.device).wait_stream(copying)
        return there
