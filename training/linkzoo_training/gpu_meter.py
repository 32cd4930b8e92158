"""How busy a GPU is."""

import threading
import time
from functools import cache

import torch

_PERIOD = 0.1  # seconds between samples; NVML's own are of 1/6 to 1 second


class GPUMeter:
    """Samples the share of time in which the GPU ran kernels, by NVML, from a thread of its own."""

    def __init__(self, device: torch.device) -> None:
        index: int | None = device.index
        if index is None:  # the current one, which may be another in another thread
            index = torch.cuda.current_device()
        self._device = torch.device("cuda", index)
        self._samples: list[float] = []
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            self._samples.append(torch.cuda.utilization(self._device) / 100)
            time.sleep(_PERIOD)

    def idle(self) -> float | None:
        """Mean share of time without a kernel since this was asked last; None without a sample."""
        samples, self._samples = self._samples, []
        return 1 - sum(samples) / len(samples) if samples else None


@cache
def gpu_meter(device: torch.device) -> GPUMeter | None:
    """The meter of a device; None where NVML (extra `cuda`) can't say."""
    try:
        torch.cuda.utilization(device)
    except Exception:  # noqa: BLE001 - NVML's are of a module that may be missing
        return None
    return GPUMeter(device)
