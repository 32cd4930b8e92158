"""The clock of a run: it stops the run in time, says so, and runs while it trains alone."""

import time
from pathlib import Path
from typing import Any

import pytest
from numba.core import event

from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import learn
from tests.training import test_ppo
from tests.training.helpers import ppo_config


@pytest.mark.slow
def test_the_end_on_time_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`make train`: with how much of its budget of steps; a finished run says nothing of it."""
    config = ppo_config({**test_ppo.QUICK, "max_seconds": 1e-6})
    assert learn(config, tmp_path, resume=False) is not None
    output = " ".join(capsys.readouterr().out.split())
    assert "stopped by max_seconds after 384 of 3,840 steps: the schedules ended with it" in output
    assert learn(ppo_config(test_ppo.QUICK), tmp_path, resume=True) is not None
    assert "stopped by" not in capsys.readouterr().out


def test_schedules_follow_the_budget_that_is_spent_faster() -> None:
    trainer = PPOTrainer(ppo_config({**test_ppo.QUICK, "max_seconds": 8.0}))
    trainer.iteration, trainer.seconds = 1, 2.0
    assert trainer.progress == 2 / 8
    assert not trainer.finished
    assert trainer.eta == 6
    trainer.iteration = 5
    assert trainer.progress == 5 * 384 / 3840
    trainer.seconds = 8.5
    assert trainer.progress == 1
    assert trainer.finished


def test_compiling_is_not_on_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the start and later, in a resumed run too, whatever was compiled before."""
    trainer = PPOTrainer(ppo_config(test_ppo.QUICK))
    collect = trainer.play.collect

    def compiling(*arguments: Any) -> Any:
        with event.trigger_event("numba:compile"), event.trigger_event("numba:compile"):
            time.sleep(0.5)
        return collect(*arguments)

    monkeypatch.setattr(trainer.play, "collect", compiling)
    for _ in range(2):
        with event.trigger_event("numba:compile"):  # of an evaluation
            time.sleep(0.1)
        before, started = trainer.seconds, time.perf_counter()
        metrics = trainer.iterate()
        wall = time.perf_counter() - started
        assert 0 < trainer.seconds - before <= wall - 0.5
        assert metrics["steps/s"] >= 384 / (wall - 0.5)


def test_the_first_wait_for_workers_is_not_on_the_clock() -> None:
    """They are started then, and compile; later waits count."""
    with LocalExecutor(2) as executor:
        trainer = PPOTrainer(ppo_config(test_ppo.QUICK), executor)
        first = trainer.iterate()
        assert trainer.seconds <= 384 / first["steps/s"] * (1 - first["learner idle"]) + 1e-3
        before = trainer.seconds
        second = trainer.iterate()
        assert trainer.seconds - before == pytest.approx(384 / second["steps/s"])
