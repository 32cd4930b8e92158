"""Workers as Ray actors: the same weights and matches as in this process, killed actors or not."""

from pathlib import Path
from typing import Any

import pytest

from linkzoo_training.agents.specs import AgentSpec
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import read_config
from linkzoo_training.evaluation.tournament import Tournament, run_tournament
from linkzoo_training.selfplay.executors import Executor, LocalExecutor, RayExecutor
from linkzoo_training.train import make_trainer

AGENTS = (AgentSpec("random"), AgentSpec("greedy"))
COMMON = {
    "name": "tiny",
    "game": "linkage",
    "width": 16,
    "blocks": 1,
    "precision": "fp32",
    "num_threads": 1,
    "device": "cpu",
}
PPO = {**COMMON, "num_envs": 16, "horizon": 24, "pool": {"snapshot_every": 2, "size": 2}}
ALPHAZERO = {**COMMON, "algorithm": "alphazero", "num_envs": 8, "horizon": 8, "simulations": [4]}


def weights(trainer: Trainer) -> bytes:
    return b"".join(t.numpy().tobytes() for t in trainer.network.state_dict().values())


def trained(fields: dict[str, Any], executor: Executor, kill: Any = None) -> bytes:
    """The weights after six iterations; `kill()` comes in the middle, while the workers play."""
    trainer = make_trainer(read_config(fields), executor)
    for iteration in range(6):
        metrics = trainer.iterate()
        assert 0 <= metrics["learner idle"] <= 1
        if iteration == 2 and kill is not None:
            kill()
    return weights(trainer)


@pytest.mark.parametrize("fields", [PPO, ALPHAZERO], ids=["ppo", "alphazero"])
def test_a_run_survives_the_death_of_an_actor(ray: Any, fields: dict[str, Any]) -> None:
    with RayExecutor(2) as executor:
        found = trained(fields, executor, lambda: ray.kill(executor._actors[0], no_restart=False))
    assert found == trained(fields, LocalExecutor(2))


def test_tournaments_are_those_of_this_process(ray: Any, tmp_path: Path) -> None:
    settings = Tournament("linkage", (*AGENTS, AgentSpec.parse("uct-5")), 6, 1, 2, "0")
    with RayExecutor(2) as executor:
        found = run_tournament(settings, tmp_path / "ray", executor=executor)
    expected = run_tournament(settings, tmp_path / "here")
    for one, other in zip(expected, found, strict=True):
        assert (one.share == other.share).all()


def test_errors_of_actors_are_raised_here(ray: Any, tmp_path: Path) -> None:
    settings = Tournament("linkage", AGENTS, 2, 1, 2, "nonsense")
    with RayExecutor(1) as executor, pytest.raises(ValueError, match="nonsense"):
        run_tournament(settings, tmp_path, executor=executor)
