"""Share of time in which a GPU runs no kernel, by a trace of all kernels.

NVML, used for a run's metrics, samples only a few times a second: too rarely for a few iterations.
"""

import json
import time
from collections.abc import Callable, Iterable
from math import inf
from pathlib import Path
from tempfile import TemporaryDirectory

import torch
from torch.profiler import ProfilerActivity, profile

from linkzoo_training.algorithms.trainer import Trainer

_ITERATIONS = 2  # traced iterations


def covered(spans: Iterable[tuple[float, float]]) -> float:
    """Returns the total length of the union of spans from start to end."""
    found, last = 0.0, -inf
    for first, end in sorted(spans):
        found += max(0.0, end - max(first, last))
        last = max(last, end)
    return found


def idle_share(work: Callable[[], object]) -> float:
    """Returns the share of the time of `work` in which no kernel ran, copies excluded."""
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CUDA]) as profiler:
        start = time.perf_counter()
        work()
        torch.cuda.synchronize()
        spent = time.perf_counter() - start
    with TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        profiler.export_chrome_trace(str(trace))
        events = json.loads(trace.read_bytes())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel"]
    microseconds = covered((event["ts"], event["ts"] + event["dur"]) for event in kernels)
    return 1 - microseconds / 1e6 / spent


def tell(trainer: Trainer) -> None:
    """Prints a GPU's idle share, copied bytes and peak memory; nothing on a CPU."""
    if trainer.device.type != "cuda":
        return
    metrics: dict[str, float] = {}

    def iterate() -> None:
        for _ in range(_ITERATIONS):
            metrics.update(trainer.iterate())

    idle = idle_share(iterate)
    memory = torch.cuda.max_memory_allocated() / 2**30
    print(
        f"GPU idle {idle:.1%}, {metrics['bytes/ply']:,.0f} bytes/ply cross, {memory:.2f} GiB used"
    )
