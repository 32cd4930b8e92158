"""Runs whose folder is kept in an object store."""

import signal
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch

from linkzoo.core.files import write_atomically
from linkzoo_training.algorithms.ppo import PPOTrainer
from linkzoo_training.algorithms.trainer import STATE_FILE
from linkzoo_training.checkpoints import checkpoint
from linkzoo_training.checkpoints.checkpoint import load_tensors
from linkzoo_training.storage import Storage
from linkzoo_training.train import train
from tests.training import test_ppo
from tests.training.helpers import ppo_config

EVAL = {**test_ppo.QUICK["eval"], "every": 100}
CONFIG = ppo_config({**test_ppo.QUICK, "total_steps": 5 * 16 * 24, "eval": EVAL})


def stop_after(iteration: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets TERM come at the end of an iteration."""
    iterate = PPOTrainer.iterate

    def interrupted(trainer: PPOTrainer) -> dict[str, float]:
        metrics = iterate(trainer)
        if trainer.iteration == iteration:
            signal.raise_signal(signal.SIGTERM)
        return metrics

    monkeypatch.setattr(PPOTrainer, "iterate", interrupted)


def check_a_run_goes_on_elsewhere(url: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Stopped on one machine, resumed on another, and found by a third: the same weights."""
    whole = train(CONFIG, folder=folder / "whole")
    with monkeypatch.context() as patch:
        stop_after(3, patch)
        train(CONFIG, folder=folder / "first" / "run", storage=url)
    with pytest.raises(ValueError, match=f"{url}/run has a run: continue with --resume"):
        train(CONFIG, folder=folder / "second" / "run", storage=url)
    train(CONFIG, folder=folder / "second" / "run", storage=url, resume=True)
    third = Storage(url, folder / "third" / "run")
    third.fetch()
    for name in ("checkpoint/model.safetensors", "checkpoint/card.json", "metrics.jsonl"):
        assert (third.folder / name).read_bytes() == (folder / "second" / "run" / name).read_bytes()
    weights = "checkpoint/model.safetensors"
    assert (third.folder / weights).read_bytes() == (whole / weights).read_bytes()
    assert not list(third.folder.glob("run.*"))


@pytest.mark.slow
def test_a_run_goes_on_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    check_a_run_goes_on_elsewhere("memory://bucket/runs", tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_store_that_fails_is_told_at_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run goes on, and its folder is complete."""

    def fails(*_: Any) -> None:
        raise OSError("no such bucket")

    monkeypatch.setattr("fsspec.implementations.memory.MemoryFileSystem.pipe_file", fails)
    with pytest.raises(OSError, match=r"storage: .* lacks the last files: no such bucket"):
        train(CONFIG, folder=tmp_path / "run", storage="memory://failing")
    assert (tmp_path / "run" / "checkpoint" / "card.json").exists()
    with pytest.raises(ValueError, match="storage: nowhere://bucket"):
        train(CONFIG, folder=tmp_path / "other", storage="nowhere://bucket")


def test_learning_does_not_wait_for_a_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A slow disk delays the next save, and the state is that of the time of the call."""
    seconds = 0.3
    trainer = PPOTrainer(replace(CONFIG, save_every=100))
    trainer.save(tmp_path)
    expected, _ = load_tensors(tmp_path / STATE_FILE)
    write = write_atomically

    def write_slowly(path: Path, data: bytes) -> None:
        time.sleep(seconds)
        write(path, data)

    monkeypatch.setattr(checkpoint, "write_atomically", write_slowly)
    (tmp_path / STATE_FILE).unlink()
    started = time.perf_counter()
    saved: list[bool] = []
    trainer.save(tmp_path, wait=False, saved=lambda: saved.append(True))
    assert time.perf_counter() - started < seconds
    next(trainer.network.parameters()).data.zero_()
    trainer.save(tmp_path / "next")
    assert saved == [True]
    written, _ = load_tensors(tmp_path / STATE_FILE)
    assert all(torch.equal(written[name], tensor) for name, tensor in expected.items())
