"""Callbacks of training runs: a user's own logging, files and control."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from linkzoo_training.agents.policy import PolicyAgent
from linkzoo_training.algorithms.trainer import Trainer
from linkzoo_training.config.config import AnyConfig
from linkzoo_training.evaluation.result import MatchResult
from linkzoo_training.imports import import_object

__all__ = ["Callback", "Run"]


class Run:
    """A training run as its callbacks see it.

    Attributes:
        folder: The run's folder.
        stopping: Whether `stop` was called.
        saving: Whether `save` was called since the run's state was last saved.
    """

    def __init__(self, trainer: Trainer, folder: Path) -> None:
        self.folder = folder
        self.stopping = False
        self.saving = False
        self._trainer = trainer

    @property
    def config(self) -> AnyConfig:
        """The configuration; `config.to_dict()` is JSON data."""
        return self._trainer.config

    @property
    def iteration(self) -> int:
        """Iterations so far, including those before a resume."""
        return self._trainer.iteration

    @property
    def steps(self) -> int:
        """Plies played so far, in all games."""
        return self._trainer.steps

    @property
    def seconds(self) -> float:
        """Seconds of training, without evaluation and compilation."""
        return self._trainer.seconds

    @property
    def progress(self) -> float:
        """Share of `total_steps`, 0 to 1."""
        return self._trainer.progress

    def agent(self) -> PolicyAgent:
        """Returns a copy of the current policy, for matches or `linkzoo.policy.Policy`."""
        return self._trainer.agent(self.config.views, self.config.temperature)

    def stop(self) -> None:
        """Ends training after this iteration, as `max_seconds` does: the policy is published."""
        self.stopping = True

    def save(self) -> None:
        """Saves the state for `--resume` after this iteration."""
        self.saving = True

    def save_checkpoint(self, folder: str | Path) -> None:
        """Writes the current policy to a folder, as a checkpoint."""
        self._trainer.publish(Path(folder), [])


class Callback:
    """Base class of callbacks: override any of the methods.

    In a run of several processes (torchrun), the first process calls them. An exception ends the
    run; `on_end` of all callbacks that have started is still called.
    """

    def on_start(self, run: Run) -> None:
        """Called before the first iteration, or the first iteration after a resume."""

    def on_evaluation(self, run: Run, results: Sequence[MatchResult]) -> None:
        """Called after the matches of each evaluation, including the final one."""

    def on_iteration(self, run: Run, metrics: Mapping[str, float]) -> None:
        """Called after each iteration and its evaluation, with its line of `metrics.jsonl`."""

    def on_end(self, run: Run) -> None:
        """Called at the end, after the checkpoint is written; also after an interruption."""


class Callbacks:
    """All callbacks of a run, as a context manager that calls `on_end` of those that have started.

    Raises:
        ValueError: An object is no `Callback`.
    """

    def __init__(self, callbacks: Sequence[Callback] = ()) -> None:
        for callback in callbacks:
            if not isinstance(callback, Callback):
                raise ValueError(
                    f"callbacks: {callback!r} is no Callback (linkzoo_training.callbacks)"
                )
        self._callbacks = callbacks
        self._started: list[Callback] = []
        self._run: Run | None = None

    def __enter__(self) -> "Callbacks":
        return self

    def __exit__(self, *_: object) -> None:
        errors: list[BaseException] = []
        for callback in self._started:
            try:
                callback.on_end(self.run)
            except BaseException as error:  # noqa: BLE001 - raised below, after the others' ends
                errors.append(error)
        if not errors:
            return
        first, *others = errors
        for other in others:
            first.add_note(f"another callback's on_end: {type(other).__name__}: {other}")
        raise first

    @property
    def run(self) -> Run:
        """The run, after `start`."""
        assert self._run is not None
        return self._run

    def start(self, run: Run) -> None:
        """Calls `on_start`."""
        self._run = run
        for callback in self._callbacks:
            callback.on_start(run)
            self._started.append(callback)

    def evaluation(self, results: Sequence[MatchResult]) -> None:
        """Calls `on_evaluation`."""
        for callback in self._callbacks:
            callback.on_evaluation(self.run, results)

    def iteration(self, metrics: Mapping[str, Any]) -> None:
        """Calls `on_iteration`."""
        for callback in self._callbacks:
            callback.on_iteration(self.run, metrics)


def load_callback(path: str) -> Callback:
    """Imports a callback by its import path, or a class or function that returns one.

    Raises:
        ValueError: There is no such file, module or name, it fails, or it is no callback.
    """
    callback = import_object(path, "callback")
    if not isinstance(callback, Callback):
        try:
            callback = callback()
        except Exception as error:  # user code can raise anything
            raise ValueError(f"callback {path!r}: {type(error).__name__}: {error}") from error
    if not isinstance(callback, Callback):
        raise ValueError(
            f"callback {path!r}: {callback!r} is no Callback (linkzoo_training.callbacks)"
        )
    return callback
