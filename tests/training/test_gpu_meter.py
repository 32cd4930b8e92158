"""How busy a GPU is, by a stand-in for NVML."""

from threading import Event

import pytest
import torch

from linkzoo_training import gpu_meter
from linkzoo_training.algorithms.ppo import PPOTrainer
from tests.training.helpers import ppo_config
from tests.training.test_ppo import QUICK

GPU = torch.device("cuda", 0)


def test_idle_is_the_mean_since_it_was_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    busy, asked = [100, 40, 10, 50], Event()

    def utilization(_: torch.device) -> int:
        if not busy:
            asked.set()
            Event().wait()  # for ever
        return busy.pop()

    monkeypatch.setattr(torch.cuda, "utilization", utilization)
    monkeypatch.setattr(gpu_meter, "_PERIOD", 0)
    meter = gpu_meter.GPUMeter(GPU)
    assert asked.wait(60)
    assert meter.idle() == 0.5
    assert meter.idle() is None


@pytest.mark.parametrize("error", [ModuleNotFoundError("pynvml"), Exception("Not Supported")])
def test_without_nvml_there_is_none(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    def refuse(_: object) -> int:
        raise error

    monkeypatch.setattr(torch.cuda, "utilization", refuse)
    assert gpu_meter.gpu_meter.__wrapped__(GPU) is None


def test_metrics_of_a_gpu() -> None:
    """Bytes a ply, and how idle it was if that is known; a run on the CPU says neither."""

    class Meter(gpu_meter.GPUMeter):
        def __init__(self) -> None:
            self._samples = [0.75, 1.0]

    trainer = PPOTrainer(ppo_config(QUICK))
    assert not {"bytes/ply", "GPU idle"} & trainer.iterate().keys()
    trainer.device, trainer._meter = GPU, Meter()
    metrics = trainer.progressed(1.0)
    assert (metrics["bytes/ply"], metrics["GPU idle"]) == (0, 0.125)
