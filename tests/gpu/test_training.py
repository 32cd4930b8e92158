"""Training on a real GPU: `make test-gpu`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.alphazero import AlphaZeroTrainer
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.train import train
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import alphazero_config, midgame, ppo_config, weights

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

every_trainer = pytest.mark.parametrize("kind", ["ppo", "ppo, games there", "alphazero"])
every_precision = pytest.mark.parametrize("precision", ["fp32", "bf16"])


def make(kind: str, **changes: Any) -> Trainer:
    changes = {"device": "cuda", **changes}
    if kind == "alphazero":
        return AlphaZeroTrainer(alphazero_config({**test_alphazero.TINY, **changes}))
    env_device = "cuda" if kind == "ppo, games there" else "cpu"
    return PPOTrainer(ppo_config({**test_ppo.QUICK, "env_device": env_device, **changes}))


def trained(kind: str, iterations: int, **changes: Any) -> Trainer:
    trainer = make(kind, **changes)
    for _ in range(iterations):
        trainer.iterate()
    return trainer


@every_precision
@every_trainer
def test_the_same_seed_gives_the_same_weights(kind: str, precision: str) -> None:
    first, again, other = (trained(kind, 5, precision=precision, seed=seed) for seed in (1, 1, 2))
    assert weights(first) == weights(again) != weights(other)


@every_precision
@every_trainer
def test_a_resumed_run_is_the_uninterrupted_run(kind: str, precision: str, tmp_path: Path) -> None:
    whole = trained(kind, 7, precision=precision)
    trained(kind, 4, precision=precision).save(tmp_path)
    resumed = make(kind, precision=precision)
    resumed.load(tmp_path)
    for _ in range(3):
        resumed.iterate()
    assert weights(resumed) == weights(whole)


def test_a_policy_from_a_gpu_plays_on_the_cpu(tmp_path: Path) -> None:
    config = ppo_config({**test_ppo.QUICK, "device": "cuda"})
    agent = load_agent(train(config, folder=tmp_path / "run") / "checkpoint")
    positions = midgame(agent.game, 20, 5)
    assert positions.action_mask[np.arange(20), agent.act(positions)].all()
