"""What a trainer needs of the machine: a device, a precision, and a way to be interrupted."""

import signal
import threading
from types import FrameType
from typing import Any

import torch


class StopSignal:
    """Notes Ctrl-C or TERM instead of breaking off; a second one breaks off."""

    def __init__(self) -> None:
        self.asked = False
        self._before: dict[int, Any] = {}

    def __enter__(self) -> "StopSignal":
        if threading.current_thread() is threading.main_thread():
            for number in (signal.SIGINT, signal.SIGTERM):
                self._before[number] = signal.signal(number, self._note)
        return self

    def __exit__(self, *error: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _note(self, _number: int, _frame: FrameType | None) -> None:
        if self.asked:
            raise KeyboardInterrupt
        self.asked = True


def find_device(name: str) -> torch.device:
    """The device that a configuration names; ValueError if there is none such here."""
    if name == "auto":
        name = "cuda" if torch.cuda.is_available() else "cpu"
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device: {name!r} is none of auto, cpu, cuda") from error
    if device.type not in ("cpu", "cuda"):
        raise ValueError(f"device: {name!r} is none of auto, cpu, cuda")
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError("device: cuda, but torch finds no GPU")
    return device


def use_bf16(precision: str, device: torch.device) -> bool:
    """Whether to compute in bfloat16: `auto` does where the processor or the GPU has it."""
    if precision != "auto":
        return precision == "bf16"
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported())
    return bool(torch.ops.mkldnn._is_mkldnn_bf16_supported())
