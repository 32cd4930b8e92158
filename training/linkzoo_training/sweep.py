"""Sweeps: one run per combination of values, each in a folder of its own, on any executor."""

import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, redirect_stderr, redirect_stdout
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import yaml

from linkzoo_training.algorithms.resume import contents_of
from linkzoo_training.callbacks import Callback
from linkzoo_training.checkpoints.checkpoint import CARD, load_card
from linkzoo_training.config.config import AnyConfig, load_config
from linkzoo_training.runtime import StopSignal
from linkzoo_training.selfplay.dispatch import TaskWorker
from linkzoo_training.selfplay.executors import Executor, LocalExecutor
from linkzoo_training.train import train

__all__ = ["SweepRun", "run_sweep", "sweep_runs"]

_MAX_RUNS = 10_000
LOG = "log.txt"  # in a run's folder: what it prints on an executor


@dataclass(frozen=True)
class SweepRun:
    """A run of a sweep.

    Attributes:
        label: The settings in which it differs from other runs, `field=value,field=value`.
        values: The same as texts by field.
        config: Its configuration.
        folder: Its folder.
    """

    label: str
    values: Mapping[str, str]
    config: AnyConfig
    folder: Path

    @property
    def finished(self) -> bool:
        """Whether its checkpoint is there, of this configuration and its agents and files.

        Raises:
            ValueError: The checkpoint's card is damaged, or an agent or a file is missing.
        """
        folder = self.folder / "checkpoint"
        if not (folder / CARD).is_file():
            return False
        trained: dict[str, Any] = load_card(folder)["trained"]
        contents = contents_of(self.config)
        same_contents = trained.get("contents", contents) == contents
        return bool(trained.get("config") == self.config.to_dict() and same_contents)


def sweep_runs(
    config: str | Path, settings: Sequence[str], folder: Path | None = None
) -> list[SweepRun]:
    """Returns the runs of a sweep: every combination of the values.

    Args:
        config: A YAML file, or the name of a preset.
        settings: `field=value,value,...`, where `1..3` is 1, 2, 3; one value holds for all runs.
        folder: The folder of the runs' folders; None: `runs/NAME_sweep`.

    Raises:
        ValueError: A configuration is invalid, two runs would share a folder, or there are more
            than 10,000 runs.
    """
    choices = dict(map(values_of, settings))
    count = 1
    for values in choices.values():
        count *= len(values)
    if count > _MAX_RUNS:
        raise ValueError(f"a sweep of {count:,} runs: at most {_MAX_RUNS:,} are possible")
    runs: dict[Path, SweepRun] = {}
    for chosen in product(*choices.values()):
        fields = dict(zip(choices, chosen, strict=True))
        run_config = load_config(config, [f"{name}={value}" for name, value in fields.items()])
        differing = {name: value for name, value in fields.items() if len(choices[name]) > 1}
        label = ",".join(f"{name}={value}" for name, value in differing.items()) or "single"
        home = folder or Path("runs") / f"{run_config.name}_sweep"
        path = home / re.sub(r"[^\w.,=+-]", "_", label)
        if path in runs:
            raise ValueError(f"{label} and {runs[path].label} would share the folder {path}")
        runs[path] = SweepRun(label, differing, run_config, path)
    return list(runs.values())


def values_of(setting: str) -> tuple[str, list[str]]:
    """Returns the field of a setting `field=value,value,...`, and its values as texts."""
    name, separator, text = setting.partition("=")
    if not separator:
        raise ValueError(f"{setting!r} is not field=value,value")
    return name, [value for part in _split(text) for value in _expand(part)] or [text]


def _split(text: str) -> list[str]:
    """Splits a text at the commas between YAML values, not inside a value."""
    whole = f"[{text}]"
    try:
        node = yaml.compose(whole, yaml.SafeLoader)
    except yaml.YAMLError as error:
        raise ValueError(f"{text!r} has no valid YAML values ({error})") from error
    assert isinstance(node, yaml.SequenceNode)
    return [whole[value.start_mark.index : value.end_mark.index] for value in node.value]


def _expand(text: str) -> list[str]:
    """Returns the integers of a range `1..3`, else the text."""
    bounds = re.fullmatch(r"(-?\d{1,9})\.\.(-?\d{1,9})", text)
    if not bounds:
        return [text]
    first, last = map(int, bounds.groups())
    if not first <= last < first + _MAX_RUNS:
        raise ValueError(f"{text}: a range is LOW..HIGH of at most {_MAX_RUNS:,} integers")
    return [str(value) for value in range(first, last + 1)]


def train_run(run: SweepRun, *, logged: bool, callbacks: Sequence[Callback] = ()) -> str:
    """Trains or resumes a run; returns the error of a failed run, else an empty text.

    If `logged`, the output goes to a file in the run's folder.
    """
    stop = StopSignal()
    try:
        with _log_in(run.folder) if logged else nullcontext():
            train(run.config, folder=run.folder, resume=True, stop=stop, callbacks=callbacks)
    except Exception as error:  # noqa: BLE001 - whatever it is, the other runs go on
        return _described(error)
    if stop.exit_code:
        raise KeyboardInterrupt  # the run is saved
    return ""


@contextmanager
def _log_in(folder: Path) -> Iterator[None]:
    """Sends the output, and the traceback of an error, to a file in a folder."""
    folder.mkdir(parents=True, exist_ok=True)
    file = (folder / LOG).open("a", encoding="utf-8")
    with file, redirect_stdout(file), redirect_stderr(file):
        try:
            yield
        except Exception:
            traceback.print_exc()
            raise


def _described(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"


def run_sweep(
    runs: Sequence[SweepRun],
    executor: Executor | None = None,
    progress: Callable[[SweepRun, str, int], None] = lambda *_: None,
) -> dict[str, str]:
    """Trains the unfinished runs; a stopped run continues, and an error ends only its own run.

    Args:
        runs: The runs of `sweep_runs`.
        executor: Trains several at once, one per worker; None: one after the other, in this
            process.
        progress: Called after each run, with its error or an empty text, and the number of
            finished and failed runs.

    Returns:
        The errors of failed runs, by label.
    """
    unfinished, errors = find_unfinished(runs, progress)
    done = len(runs) - len(unfinished)
    logged = executor is not None
    if executor is None:
        executor = LocalExecutor()
    executor.start(TaskWorker)
    tasks = [partial(train_run, run, logged=logged) for run in unfinished]
    names = [run.label for run in unfinished]
    for index, failure in executor.play(None, tasks, names=names):
        done += 1
        if failure:
            errors[unfinished[index].label] = failure
        progress(unfinished[index], failure, done)
    return errors


def find_unfinished(
    runs: Sequence[SweepRun], progress: Callable[[SweepRun, str, int], None]
) -> tuple[list[SweepRun], dict[str, str]]:
    """Returns the unfinished runs, with absolute folders, and the errors of damaged ones by label.

    A worker's working folder may be another one.
    """
    unfinished: list[SweepRun] = []
    errors: dict[str, str] = {}
    for run in runs:
        try:
            if not run.finished:
                unfinished.append(replace(run, folder=run.folder.absolute()))
        except (ValueError, OSError) as error:  # of its card, agents and files
            errors[run.label] = _described(error)
            progress(run, errors[run.label], len(errors))
    return unfinished, errors
