"""Runs that are killed go on to the weights of a run without a break, with every trainer."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from linkzoo_training.config.config import merged, read_config
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import train
from tests.training import test_alphazero, test_ppo

pytestmark = pytest.mark.last

RUN = """
import sys
from pathlib import Path
from linkzoo_training.config.config import load_config
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.train import train
workers = int(sys.argv[3])
executor = ProcessExecutor(workers) if workers else None
train(load_config(sys.argv[1]), folder=Path(sys.argv[2]), executor=executor)
"""


@pytest.mark.parametrize(
    ("fields", "iterations", "workers"),
    [
        ({**test_ppo.QUICK, "average": 9, "total_steps": 40 * 16 * 24}, 40, 0),
        pytest.param(
            {**test_ppo.QUICK, "total_steps": 25 * 16 * 24}, 25, 2, marks=pytest.mark.slow
        ),
        pytest.param(
            {**test_alphazero.TINY, "average": 9, "total_steps": 30 * 12 * 8},
            30,
            0,
            marks=pytest.mark.slow,
        ),
    ],
    ids=["ppo", "ppo with workers", "alphazero"],
)
def test_a_killed_run_goes_on(
    fields: dict[str, Any], iterations: int, workers: int, tmp_path: Path
) -> None:
    """Kill -9 while it trains, then `--resume`: the same weights, every iteration reported once.

    Workers are processes at first, and played here afterwards; they end with their learner.
    """
    data = merged(fields, {"eval": {"every": 100}})
    path, folder = tmp_path / "killed.yaml", tmp_path / "killed"
    path.write_text(json.dumps(data), encoding="utf-8")  # JSON is YAML
    command = [sys.executable, "-c", RUN, str(path), str(folder), str(workers)]
    metrics = folder / "metrics.jsonl"
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        while process.poll() is None:
            if metrics.exists() and metrics.read_text().count("\n") >= 5:
                process.kill()
            time.sleep(0.01)
        process.communicate(timeout=60)  # until nobody holds the pipe: workers have it too
    assert process.returncode == -signal.SIGKILL
    config = read_config(data)
    executor = LocalExecutor(workers) if workers else None
    train(config, folder=folder, resume=True, executor=executor)
    whole = train(config, folder=tmp_path / "whole", executor=executor)
    files = [run / "checkpoint" / "model.safetensors" for run in (whole, folder)]
    assert files[0].read_bytes() == files[1].read_bytes()
    rows = [json.loads(line) for line in metrics.read_text().splitlines()]
    assert [row["iteration"] for row in rows] == list(range(1, iterations + 1))
