"""Torch's settings: defaults while networks are made and trained, the program's own afterwards."""

import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

import numpy as np
import torch

from linkzoo.engine import threads
from linkzoo_training.networks import shards

_NUMPY_ERRORS: Any = {"all": "warn", "under": "ignore"}  # NumPy's defaults


@contextmanager
def torch_defaults() -> Iterator[None]:
    """Computes with torch's defaults, whatever the program has set, and restores its settings.

    The default dtype is float32, the default device is the CPU, and gradients are recorded. The
    global generator of the CPU is restored, too.
    """
    dtype = torch.get_default_dtype()
    with (
        torch.random.fork_rng(devices=[]),
        _cpu_by_default(),
        torch.inference_mode(False),
        torch.enable_grad(),
        torch.autocast("cpu", enabled=False),
        torch.autocast("cuda", enabled=False),
    ):
        try:
            torch.set_default_dtype(torch.float32)
            yield
        finally:
            torch.set_default_dtype(dtype)


def _cpu_by_default() -> AbstractContextManager[Any]:
    """Makes the CPU torch's default device, where it isn't.

    Inside `with torch.device(...)` every call of torch goes through Python, which takes a
    microsecond. Torch 2.7 leaves such a `with` out of `torch.get_default_device()`.
    """
    if torch.empty(0).device.type == "cpu":
        return nullcontext()
    return torch.device("cpu")


@contextmanager
def training_settings(device: torch.device) -> Iterator[None]:
    """Trains on a device with torch's and NumPy's defaults, and restores the program's settings.

    It restores all that training sets: also threads, denormals, and the generators and the current
    device of CUDA.
    """
    row_threads = threads.get_num_threads()
    shard_threads = shards.get_num_threads()
    torch_threads = torch.get_num_threads()
    flushes_denormals = sys.float_info.min / 2 == 0
    deterministic = torch.backends.cudnn.deterministic
    try:
        with torch_defaults(), np.errstate(**_NUMPY_ERRORS), _cuda_kept(device):
            yield
    finally:
        torch.backends.cudnn.deterministic = deterministic
        threads.set_num_threads(row_threads)
        shards.use(shard_threads)
        torch.set_num_threads(torch_threads)
        if not flushes_denormals:
            torch.set_flush_denormal(False)
            threads.restart()  # in helper threads, too


@contextmanager
def _cuda_kept(device: torch.device) -> Iterator[None]:
    """Restores the generators and the current device of CUDA, if training uses a GPU."""
    if device.type != "cuda":
        yield
        return
    states = torch.cuda.get_rng_state_all()
    try:
        with torch.cuda.device(torch.cuda.current_device()):
            yield
    finally:
        torch.cuda.set_rng_state_all(states)
