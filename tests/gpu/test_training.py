"""Training on a real GPU: `make test-gpu`."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from linkzoo_training.agents.policy import load_agent
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import AnyConfig, read_config
from linkzoo_training.selfplay.backend import Group
from linkzoo_training.selfplay.rollout import RolloutGames
from linkzoo_training.train import make_trainer, train
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import midgame, weights

pytestmark = [pytest.mark.gpu, pytest.mark.slow]

KINDS: dict[str, dict[str, Any]] = {
    "ppo": {},
    "ppo, games there": {"env_device": "cuda"},
    "ppo, everything there": {
        "env_device": "cuda",
        "game": "link_o",
        "options": {"target": 0},
        "initial_states": {"midgame": 0.3, "vary": {"target": [0, 20]}},
        "symmetric": True,
        "critic": "full",
        "kl_coef": 0.1,
        "teacher": {"agent": "greedy", "share": 0.3},
        "pool": {"share": 0.6, "snapshot_every": 2, "fixed_opponents": ["greedy"]},
    },
}
every_trainer = pytest.mark.parametrize("kind", [*KINDS, "alphazero"])
every_precision = pytest.mark.parametrize("precision", ["fp32", "bf16"])


def config_of(kind: str, **changes: Any) -> AnyConfig:
    base = test_alphazero.TINY if kind == "alphazero" else {**test_ppo.QUICK, **KINDS[kind]}
    return read_config({**base, "device": "cuda", **changes})


def make(kind: str, **changes: Any) -> Trainer:
    return make_trainer(config_of(kind, **changes))


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


def test_games_are_the_same_wherever_they_are_played() -> None:
    """By networks on the GPU: before these learn, they say the same but for rounding."""
    host, there = (
        trained(kind, 1, precision="fp32", pool={"share": 0.0}).play.tensors()
        for kind in ("ppo", "ppo, games there")
    )
    assert host.keys() == there.keys()
    for name, tensor in host.items():
        assert there[name].equal(tensor), name


@pytest.mark.filterwarnings("ignore:.*Synchronization debug mode")  # torch's, of the mode itself
def test_no_ply_makes_the_host_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a pool; once more than the first time, which compiles."""
    trainer = trained("ppo, games there", 1, pool={"share": 0.0})
    play, before = trainer.play, torch.cuda.get_sync_debug_mode()
    assert isinstance(play, RolloutGames)
    encode, check, encoded = play._encode, play._backend.check_finite, []

    def watched(group: Group, t: int) -> None:
        encoded.append(t)
        torch.cuda.set_sync_debug_mode("error")
        encode(group, t)

    def check_at_the_end() -> None:
        torch.cuda.set_sync_debug_mode(before)
        check()

    monkeypatch.setattr(play, "_encode", watched)
    monkeypatch.setattr(play._backend, "check_finite", check_at_the_end)
    try:
        trainer.iterate()
    finally:
        torch.cuda.set_sync_debug_mode(before)
    assert len(encoded) == trainer.config.horizon + 1


def test_a_policy_from_a_gpu_plays_on_the_cpu(tmp_path: Path) -> None:
    agent = load_agent(train(config_of("ppo"), folder=tmp_path / "run") / "checkpoint")
    positions = midgame(agent.game, 20, 5)
    assert positions.action_mask[np.arange(20), agent.act(positions)].all()
