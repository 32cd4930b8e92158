"""`make gpu`, without a GPU: what it runs, that training goes on in slices, and the report."""

import json
import signal
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from benchmarks import gpu


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty place to run in."""
    monkeypatch.setattr(gpu, "ROOT", tmp_path)
    monkeypatch.setattr(gpu, "STATE", tmp_path / "runs" / "gpu.json")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["benchmarks.gpu", *arguments])
    gpu.main()


def test_without_a_gpu(
    here: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(SystemExit) as end:
        run(monkeypatch)
    assert end.value.code == 2
    assert capsys.readouterr().err.splitlines()[-1].endswith("device: cuda, but torch finds no GPU")
    assert not list(here.glob("*.md"))


def test_every_preset_for_a_gpu_is_trained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch, "--list")
    names = capsys.readouterr().out.splitlines()
    presets = Path(__file__).parents[2].glob("configs/*_gpu.yaml")
    assert {name for name in names if name.startswith("train ")} == {
        f"train {path.stem}" for path in presets
    }
    with pytest.raises(SystemExit):
        run(monkeypatch, "train nothing")
    assert "['train nothing']: no such task; there are ['tests', " in capsys.readouterr().err


def test_training_goes_on_in_slices(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was stopped continues in this call or in the next; what is finished stays."""
    statuses = {"tests": [0], "train linkage_ppo_gpu": [143, 143, 143, 0]}
    played = []

    def play(task: gpu.Task, seconds: float) -> dict[str, Any]:
        if task.name not in statuses:
            return {"rc": 1, "seconds": 2.0, "printed": "no GPU"}
        played.append(task.name)
        if task.run is not None:
            metrics = here / "runs" / task.run / "metrics.jsonl"
            metrics.parent.mkdir(parents=True, exist_ok=True)
            metrics.write_text(json.dumps({"iteration": 1, "steps": 1000 * len(played)}) + "\n")
        return {"rc": statuses[task.name].pop(0), "seconds": seconds, "printed": "end"}

    monkeypatch.setattr(gpu, "play", play)
    report = here / "report.md"
    cpu = ["--device", "cpu", "--presets", "linkage_ppo_gpu", "--report", str(report)]
    run(monkeypatch, *cpu, "--slices", "1", "--seconds", "100")
    assert played == ["tests", "train linkage_ppo_gpu"]
    assert "| train linkage_ppo_gpu | 143 | 100 |" in report.read_text()
    run(monkeypatch, *cpu, "--seconds", "100")
    assert played == ["tests", *["train linkage_ppo_gpu"] * 4]
    text = report.read_text()
    assert "| tests | 0 | 100 |" in text
    assert "| play linkage | 1 | 2 |" in text
    assert "| train linkage_ppo_gpu | 0 | 400 |" in text
    assert "| steps | 5,000 |" in text
    run(monkeypatch, *cpu)
    assert len(played) == 5
    statuses["tests"] = [1]
    run(monkeypatch, *cpu, "tests")
    assert "| tests | 1 | 520 |" in report.read_text()


def test_a_task_is_a_command_with_a_limit(here: Path) -> None:
    found = gpu.play(gpu.Task("help", "json.tool", ("--help",)), 60.0)
    assert found["rc"] == 0
    assert found["printed"].startswith("usage: ")
    sleep = "print('begun', flush=True); import time; time.sleep(600)"
    found = gpu.play(gpu.Task("sleep", "timeit", ("-n", "1", "-r", "1", sleep)), 2.0)
    assert found["rc"] == -signal.SIGTERM
    assert 2.0 <= found["seconds"] < 300
