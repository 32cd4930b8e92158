"""What crosses between the host and the device of a network, so that neither waits for the other.

Where both are the CPU nothing is copied.
"""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any

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


def to_device(found: NDArray[Any] | Tensor, device: torch.device) -> Tensor:
    """What lies on the host on the device; a GPU copies it when its turn comes, and we go on."""
    tensor = found if isinstance(found, Tensor) else torch.from_numpy(found)
    if device.type == tensor.device.type:
        return tensor
    traffic.count(tensor)
    if device.type == "cuda":
        tensor = tensor.pin_memory()
    return tensor.to(device, non_blocking=True)


class ToHost:
    """Tensors of one device on their way to the host, which goes on until it asks for `arrays`."""

    def __init__(self, *tensors: Tensor) -> None:
        self._host, self._sent = list(tensors), None
        if tensors[0].device.type == "cuda":
            for tensor in tensors:
                traffic.count(tensor)
            self._host = [
                torch.empty_like(tensor, device="cpu", pin_memory=True).copy_(
                    tensor, non_blocking=True
                )
                for tensor in tensors
            ]
            self._sent = torch.cuda.Event()
            self._sent.record()

    def arrays(self) -> list[NDArray[Any]]:
        """What has arrived; waits for it."""
        if self._sent is not None:
            self._sent.synchronize()
        return [tensor.numpy() for tensor in self._host]


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
    waited for.
    """

    def __init__(self, host: Tensor, device: torch.device) -> None:
        self.host = host
        self.device = host.to(device)

    def send(self, t: int, games: slice) -> Tensor:
        """Some games of row t on the device, as the host has them now."""
        if self.device is not self.host:
            traffic.count(self.host[t, games])
            self.device[t, games].copy_(self.host[t, games], non_blocking=True)
        return self.device[t, games]
