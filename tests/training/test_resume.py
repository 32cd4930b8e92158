"""Runs that are killed go on to the weights of a run without a break, with every trainer."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from linkzoo_training.algorithms.resume import FIXED, FREE, is_in
from linkzoo_training.config.config import AlphaZeroConfig, PPOConfig, read_config
from linkzoo_training.config.fields import merged
from linkzoo_training.schema import field_names
from linkzoo_training.selfplay.executors import LocalExecutor
from linkzoo_training.train import learn, make_trainer, train
from tests.driving import first_quick
from tests.training import test_alphazero, test_ppo
from tests.training.helpers import weights

pytestmark = pytest.mark.last

RUN = """
import sys, time
from pathlib import Path
from linkzoo_training.algorithms.logger import Logger
from linkzoo_training.config.config import load_config
from linkzoo_training.selfplay.executors import ProcessExecutor
from linkzoo_training.train import train
log = Logger.log
def log_and_wait(self, metrics, *rest):
    log(self, metrics, *rest)
    if metrics["iteration"] == 20:
        time.sleep(100)  # the run must not end before it is killed
Logger.log = log_and_wait
workers = int(sys.argv[3])
executor = ProcessExecutor(workers) if workers else None
train(load_config(sys.argv[1]), folder=Path(sys.argv[2]), executor=executor)
"""


@pytest.mark.nightly  # quick: test_stopped_training_goes_on in test_ppo.py; slow: test_chaos.py
@pytest.mark.parametrize(
    ("fields", "iterations", "workers"),
    [
        ({**test_ppo.QUICK, "total_steps": 25 * 16 * 24}, 25, 2),
        ({**test_alphazero.TINY, "average": 9, "total_steps": 30 * 12 * 8}, 30, 0),
    ],
    ids=["ppo with workers", "alphazero"],
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


PPO = {**test_ppo.QUICK, "eval": {"every": 100}, "total_steps": 4 * 16 * 24}
AZ = {**test_alphazero.TINY, "eval": PPO["eval"], "total_steps": 4 * 12 * 8}
# Another value for every field that may change, and whether training depends on it.
FREELY: dict[str, Any] = {"name": "b", "save_every": 3, "views": 2}
FREELY |= {"temperature": 0.5, "eval": {"every": 4, "opponents": ["random"], "blocks": 3}}
SHARED: dict[str, Any] = {"num_threads": 2, "precision": "bf16", "symmetric": True}
SHARED |= {"max_seconds": 9999}
SHARED |= {
    "learning_rate": [1e-3, 1e-4],
    "initial_states": {"vary": {}, "midgame": 0.1},
}
IN_PPO: dict[str, Any] = {
    "total_steps": 6 * 16 * 24,
    "minibatches": 3,
    "epochs": 1,
    "gae_lambda": 0.5,
    "clip": 0.1,
}
IN_PPO |= {"entropy": [0.1, 0], "kl_coef": 0.1, "score_margin_weight": [1, 0.5]}
IN_PPO |= {"teacher": {"agent": "greedy", "share": 0.9}, "pool": {"active": 1, "snapshot_every": 1}}
IN_AZ: dict[str, Any] = {
    "total_steps": 6 * 12 * 8,
    "simulations": [3],
    "min_value_range": 0.5,
}
IN_AZ |= {"solver_limit": 100, "window": 2, "reuse": 1, "batch_size": 16}
IN_AZ |= {"score_margin_weight": 0.3, "symmetric": False, "max_staleness": 2}


def stopped(data: dict[str, Any], folder: Path, iterations: int = 3) -> None:
    """A run that was stopped after some iterations."""
    trainer = make_trainer(read_config(data))
    for _ in range(iterations):
        trainer.iterate()
    trainer.save(folder)


EFFECTIVE = (
    *("total_steps", "max_seconds", "device", "env_device", "num_threads", "precision"),
    *("initial_states", "symmetric", "pool.active", "pool.snapshot_every", "pool.league"),
    *("learning_rate", "score_margin_weight", "reward_hook"),
    *("minibatches", "epochs", "gae_lambda", "clip", "entropy", "kl_coef", "teacher"),
    *("simulations", "min_value_range", "solver_limit", "window", "reuse"),
    *("batch_size", "asynchronous", "max_staleness", "central_inference"),
)


@pytest.mark.parametrize("config", [PPOConfig, AlphaZeroConfig])
def test_every_field_may_change_or_says_why_not(config: type[Any]) -> None:
    reasons = [name for names in FIXED for name in names.split()]
    every = {*field_names(config), "processes"}
    leaves = [name for name in every if not any(other.startswith(f"{name}.") for other in every)]
    for name in leaves:
        assert sum(is_in(name, names) for names in (FREE, EFFECTIVE, reasons)) == 1, name


@pytest.mark.slow
def test_what_training_ignores_may_change(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The weights are those of a run without a break, and one line says so."""
    stopped(PPO, tmp_path)
    resumed = learn(read_config(merged(PPO, FREELY)), tmp_path, resume=True)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "resumed with" in line]
    assert "name='b' (was 'tiny')" in line
    assert "eval.blocks=3 (was 100)" in line
    assert line.endswith(": the weights will be those of a run without a break")
    whole = make_trainer(read_config(PPO))
    while not whole.finished:
        whole.iterate()
    assert resumed is not None
    assert weights(resumed) == weights(whole)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "changes"),
    first_quick([(PPO, SHARED | IN_PPO), (AZ, SHARED | IN_AZ)], slow=0),
    ids=["ppo", "alphazero"],
)
def test_what_acts_from_here_on_may_change(
    data: dict[str, Any],
    changes: dict[str, Any],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """All such fields: the run goes on to its new end, and state and card remember it."""
    stopped(data, tmp_path)
    config = read_config({**merged(data, changes), "initial_states": changes["initial_states"]})
    trainer = learn(config, tmp_path, resume=True)
    assert trainer is not None
    assert (trainer.progress, trainer.iteration) == (1, 6)
    (line,) = [line for line in capsys.readouterr().out.splitlines() if "resumed with" in line]
    assert "not the weights of a run without a break, because of " in line
    names = line.partition("because of ")[2].split(", ")
    assert {name.partition(".")[0] for name in names} == set(changes)
    stopped_there = [change["steps"] for change in trainer.changes]
    assert stopped_there == [3 * config.num_envs * config.horizon]
    learn(config, tmp_path, resume=True)
    assert "resumed with" not in capsys.readouterr().out
    trainer.publish(tmp_path / "checkpoint", [])
    card = json.loads((tmp_path / "checkpoint" / "card.json").read_text())
    fields = card["trained"]["changes"][0]["fields"]
    assert fields["total_steps"] == [data["total_steps"], config.total_steps]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"seed": 5}, r"seed=5 \(was 0\): all games so far follow from it"),
        ({"num_envs": 24}, r"num_envs=24 \(was 16\): the saved games, and the count"),
        ({"horizon": 5}, "horizon=5"),
        ({"width": 9}, r"width=9 \(was \d+\): the saved weights have these shapes"),
        ({"blocks": 3}, "blocks=3"),
        ({"average": 4}, "average=4"),
        ({"options": {"threshold": 13}}, "options.threshold=13 .*of this task"),
        ({"num_players": [2]}, "num_players"),
        ({"pool": {"size": 2}}, r"pool\.size=2 \(was 12\): the saved games are against this pool"),
        ({"initial_checkpoint": "linkage"}, "initial_checkpoint='linkage' .*at the start"),
        ({"total_steps": 2 * 16 * 24}, "total_steps: 768, but the run has 1152 steps already"),
    ],
)
def test_what_can_not_change_says_why(changes: dict[str, Any], message: str, run: Path) -> None:
    trainer = make_trainer(read_config(PPO))
    trainer.config = read_config(merged(PPO, changes))
    with pytest.raises(ValueError, match=f"training.safetensors: .*{message}"):
        trainer.load(run)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("run")
    stopped(PPO, folder)
    return folder


@pytest.mark.parametrize("flag", ["no", 0, None])
def test_resume_is_a_flag(flag: Any, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^resume: .* is not true or false"):
        train(read_config(PPO), folder=tmp_path, resume=flag)


def test_another_algorithm_says_why(run: Path) -> None:
    with pytest.raises(ValueError, match=r"algorithm='alphazero' \(was 'ppo'\): each trainer has"):
        make_trainer(read_config(AZ)).load(run)
