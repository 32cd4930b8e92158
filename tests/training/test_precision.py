"""Which precision a run computes in."""

from collections.abc import Iterator

import pytest
import torch

from linkzoo_training import runtime
from linkzoo_training.algorithms import distributed
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.runtime import use_bf16
from tests.training import test_ppo
from tests.training.helpers import ppo_config

CPU = torch.device("cpu")


@pytest.fixture
def fresh() -> Iterator[None]:
    """A process that hasn't measured yet, before and after."""
    runtime._is_bf16_faster.cache_clear()
    yield
    runtime._is_bf16_faster.cache_clear()


@pytest.mark.usefixtures("fresh")
@pytest.mark.parametrize(
    ("supported", "bf16_seconds", "expected"),
    [(True, 0.5, True), (True, 2.0, False), (False, 0.5, False)],
    ids=["faster", "slower", "not supported"],
)
def test_auto_is_bf16_where_the_processor_gains_by_it(
    monkeypatch: pytest.MonkeyPatch, supported: bool, bf16_seconds: float, expected: bool
) -> None:
    seconds = {torch.float32: 1.0, torch.bfloat16: bf16_seconds}
    monkeypatch.setattr(runtime, "_seconds_of_product", seconds.__getitem__)
    monkeypatch.setattr(torch.ops.mkldnn, "_is_mkldnn_bf16_supported", lambda: supported)
    assert use_bf16("auto", CPU) is expected


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_product_takes_time(dtype: torch.dtype) -> None:
    assert runtime._seconds_of_product(dtype) > 0


@pytest.mark.parametrize("precision", ["bf16", "fp32"])
def test_a_named_precision_is_not_measured(monkeypatch: pytest.MonkeyPatch, precision: str) -> None:
    monkeypatch.setattr(runtime, "_seconds_of_product", None)
    assert use_bf16(precision, CPU) is (precision == "bf16")


def test_all_ranks_compute_in_bf16_or_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """Muon rounds differently in bf16, so ranks that differed would learn different weights."""
    config = ppo_config({**test_ppo.QUICK, "precision": "bf16"})
    assert PPOTrainer(config).bf16
    monkeypatch.setattr(distributed, "all_gather", lambda value: [value, False])
    assert not PPOTrainer(config).bf16
