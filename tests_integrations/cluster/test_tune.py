"""Sweeps on Ray Tune: runs stop early or take over weights, in the folders of any sweep."""

from pathlib import Path

import pytest
from tests_integrations.cluster.conftest import Machines

from linkzoo_training.algorithms.curves import learning_curves
from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.sweep import SweepRun, sweep_runs
from linkzoo_training.tuning import tune_sweep

ITERATIONS = 6
TINY = (
    f"name=tiny num_players=[2] num_envs=16 horizon=24 total_steps={ITERATIONS * 16 * 24} width=16 "
    "blocks=1 num_threads=1 device=cpu precision=fp32 pool.size=0 eval.every=1 eval.blocks=2 "
    "eval.opponents=[random] eval.final_opponents=[]"
).split()


def finished(runs: list[SweepRun]) -> list[SweepRun]:
    return [run for run in runs if run.finished]


def test_weak_runs_stop_early(machines: Machines, tmp_path: Path) -> None:
    """They are saved as far as they came; a second sweep goes on with them alone."""
    settings = [*TINY, "learning_rate=1e-2,1e-3,1e-4,1e-7"]
    runs = sweep_runs("love_links_ppo_quick", settings, tmp_path / "sweep")
    told: list[str] = []
    errors = tune_sweep(
        runs, settings, scheduler="asha", progress=lambda run, *_: told.append(run.label)
    )
    assert errors == {}
    assert sorted(told) == sorted(run.label for run in runs)
    strong = finished(runs)
    assert strong
    for run in runs:
        iterations = read_metrics(run.folder)[-1]["iteration"]
        assert (iterations == ITERATIONS) == (run in strong)
    folders = [path for path in (tmp_path / "sweep").glob("*") if path.is_dir()]
    curves = learning_curves(folders, "steps", "share against random")
    assert len(curves) == 4
    assert tune_sweep(strong, settings) == {}  # nothing is left to do


def test_a_population_takes_over_weights_and_rates(machines: Machines, tmp_path: Path) -> None:
    settings = [*TINY, "eval.every=3", "learning_rate=1e-2,1e-7"]
    runs = sweep_runs("love_links_ppo_quick", settings, tmp_path)
    assert tune_sweep(runs, settings, workers=2, scheduler="pbt") == {}
    assert all((run.folder / "checkpoint").exists() for run in runs)


def test_a_population_has_one_seed(tmp_path: Path) -> None:
    settings = [*TINY, "seed=1,2"]
    runs = sweep_runs("love_links_ppo_quick", settings, tmp_path)
    with pytest.raises(ValueError, match=r"pbt: .* seed=2 \(was 1\): all games so far follow"):
        tune_sweep(runs, settings, scheduler="pbt")
