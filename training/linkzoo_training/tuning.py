"""Sweeps on Ray Tune (the extra `tune`): runs that stop early, or take over each other's weights.

Tune starts each run of `sweep_runs` in a process of its own. Runs report the mean win rate of their
short matches (`eval.every`), and their folders are those of any sweep.
"""

import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import mean
from tempfile import TemporaryDirectory
from typing import Any

from ray import tune
from ray.tune.schedulers import ASHAScheduler, FIFOScheduler, PopulationBasedTraining
from ray.tune.schedulers.trial_scheduler import TrialScheduler

from linkzoo_training.algorithms.resume import find_changes
from linkzoo_training.callbacks import Callback, Run
from linkzoo_training.config.config import AnyConfig, read_config
from linkzoo_training.config.fields import flat, override
from linkzoo_training.resources import STATE_FILE
from linkzoo_training.sweep import SweepRun, find_unfinished, train_run, values_of

METRIC = "win_rate"  # of the last short matches
_FOLDER = ".tune"  # of Tune's own files, beside the runs' folders
_TIME = {"time_attr": "steps", "metric": METRIC, "mode": "max"}
_FIRST_SHARE = 0.1  # of a run's steps before ASHA may stop it
_PBT_SHARE = 0.1  # of a run's steps between changes of a population: each starts a process


class _Report(Callback):
    """Reports the results of short matches to Tune as soon as the run's state is saved."""

    def __init__(self) -> None:
        self._metrics: dict[str, float] | None = None

    def on_iteration(self, run: Run, metrics: Mapping[str, float]) -> None:
        """Reports the matches of the iteration before; saves if this one had some."""
        if self._metrics is not None:
            with TemporaryDirectory() as folder:
                shutil.copy(run.folder / STATE_FILE, folder)
                tune.report(self._metrics, checkpoint=tune.Checkpoint.from_directory(folder))
            self._metrics = None
        win_rates = [value for name, value in metrics.items() if name.startswith("win/")]
        if win_rates:
            self._metrics = {**metrics, METRIC: mean(win_rates)}
            run.save()


def _train_trial(trial: Mapping[str, Any], runs: Sequence[SweepRun]) -> None:
    """Trains or resumes the run of a trial, with the values that Tune has chosen for its fields."""
    run = runs[trial["run"]]
    settings = [f"{name}={value}" for name, value in trial.items() if name != "run"]
    config = read_config(override(run.config.to_dict(), settings))
    if (checkpoint := tune.get_checkpoint()) is not None:
        run.folder.mkdir(parents=True, exist_ok=True)
        with checkpoint.as_directory() as folder:
            shutil.copy(Path(folder) / STATE_FILE, run.folder)
    failure = train_run(replace(run, config=config), logged=True, callbacks=[_Report()])
    if failure:
        raise RuntimeError(failure)


def _scheduler(
    name: str | None, runs: Sequence[SweepRun], values: Mapping[str, list[str]]
) -> TrialScheduler:
    config = runs[0].config
    if name == "asha":
        first = max(1, int(_FIRST_SHARE * config.total_steps))
        return ASHAScheduler(**_TIME, max_t=config.total_steps, grace_period=first)
    if name == "pbt":
        for run in runs[1:]:
            _check_same_state(config, run.config)
        interval = max(1, int(_PBT_SHARE * config.total_steps))
        return PopulationBasedTraining(
            **_TIME, perturbation_interval=interval, hyperparam_mutations=dict(values)
        )
    return FIFOScheduler()


def _check_same_state(config: AnyConfig, other: AnyConfig) -> None:
    """Raises ValueError unless a run of one configuration can go on with the other's state."""
    try:
        find_changes(flat(config.to_dict()), flat(other.to_dict()))
    except ValueError as error:
        raise ValueError(f"--scheduler pbt: {error}") from error


def tune_sweep(
    runs: Sequence[SweepRun],
    settings: Sequence[str],
    *,
    workers: int | None = None,
    scheduler: str | None = None,
    gpus: float = 0.0,
    progress: Callable[[SweepRun, str, int], None] = lambda *_: None,
) -> dict[str, str]:
    """Trains the unfinished runs on Ray Tune; an error ends only its own run.

    Args:
        runs: The runs of `sweep_runs`.
        settings: The settings of the sweep.
        workers: The most runs at once; None: as many as there is room for. Each takes `num_threads`
            CPUs.
        scheduler: asha stops weak runs early (Li et al. 2020); pbt lets weak runs take over the
            weights of strong ones, and the neighbours of their values (Jaderberg et al. 2017); None
            trains all runs to their ends.
        gpus: GPUs per run, such as 0.5.
        progress: Called after each run, with its error or an empty text, and the number of
            finished and failed runs.

    Returns:
        The errors of failed runs, by label.

    Raises:
        ValueError: pbt, and runs can't take over each other's weights.
    """
    unfinished, errors = find_unfinished(runs, progress)
    if not unfinished:
        return errors
    values = {name: texts for name, texts in map(values_of, settings) if len(texts) > 1}
    space: dict[str, Any] = {"run": tune.grid_search(list(range(len(unfinished))))}
    if scheduler == "pbt":
        space |= {
            name: tune.sample_from(partial(_first_value, unfinished, name)) for name in values
        }
    trainable = tune.with_resources(
        tune.with_parameters(_train_trial, runs=unfinished),
        {"cpu": runs[0].config.num_threads, "gpu": gpus},
    )
    home = runs[0].folder.parent.absolute()
    tuner = tune.Tuner(
        trainable,
        param_space=space,
        tune_config=tune.TuneConfig(
            scheduler=_scheduler(scheduler, runs, values), max_concurrent_trials=workers
        ),
        run_config=tune.RunConfig(name=_FOLDER, storage_path=str(home), verbose=0),
    )
    done = len(runs) - len(unfinished)
    for number, result in enumerate(tuner.fit(), start=1):
        run = unfinished[result.config["run"]]
        if result.error is not None:
            errors[run.label] = str(result.error)
        progress(run, errors.get(run.label, ""), done + number)
    return errors


def _first_value(runs: Sequence[SweepRun], name: str, trial: Mapping[str, Any]) -> str:
    """Returns the text of the value that a field has at first in a trial."""
    number: int = trial["run"]
    return runs[number].values[name]
