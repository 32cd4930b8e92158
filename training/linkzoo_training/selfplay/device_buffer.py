"""A rollout's buffer that the host fills row by row and the learner's device keeps."""

import torch
from torch import Tensor


class DeviceBuffer:
    """Rows [T, ...] written in `host`; `send` copies one to `device`, where it stays.

    Where both are the CPU they are one tensor, and nothing is copied. A row may be written again
    once the device has been waited for.
    """

    def __init__(self, host: Tensor, device: torch.device) -> None:
        self.host = host
        self.device = host.to(device)

    def send(self, t: int) -> Tensor:
        """Row t on the device, as the host has it now."""
        if self.device is not self.host:
            self.device[t].copy_(self.host[t], non_blocking=True)
        return self.device[t]
