"""Callbacks of training runs: metrics as CSV, a tracker like Weights & Biases, an early stop.

    linkzoo train love_links_ppo_quick --callback examples/callbacks.py:CsvLogger

Copy what you need. A callback is an object with any of the methods of `Callback`.
"""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from linkzoo_training.callbacks import Callback, Run
from linkzoo_training.evaluation.result import MatchResult


class CsvLogger(Callback):
    """Writes `metrics.csv` in the run's folder: a row per evaluation and opponent."""

    def on_start(self, run: Run) -> None:
        """Opens the file; a resumed run goes on in it."""
        path = run.folder / "metrics.csv"
        self.file: IO[str] = path.open("a", newline="")
        self.writer = csv.writer(self.file)
        if path.stat().st_size == 0:
            self.writer.writerow(["steps", "seconds", "opponent", "players", "share"])

    def on_evaluation(self, run: Run, results: Sequence[MatchResult]) -> None:
        """Writes the matches."""
        for result in results:
            opponent = result.agents[1]
            share = result.win_share().mean
            row = [run.steps, round(run.seconds, 1), opponent, result.num_players, round(share, 4)]
            self.writer.writerow(row)
        self.file.flush()

    def on_end(self, run: Run) -> None:  # noqa: ARG002
        """Closes the file."""
        self.file.close()


class OfflineTracker:
    """The three calls of Weights & Biases that a callback needs, written to a file.

    With the real one: `import wandb`, and `wandb.init(...)` in place of `OfflineTracker(...)`.
    """

    def __init__(self, name: str, config: Mapping[str, Any], folder: Path) -> None:
        self.file = (folder / "tracker.jsonl").open("a")
        self.file.write(json.dumps({"name": name, "config": config}) + "\n")

    def log(self, metrics: Mapping[str, float], step: int) -> None:
        """Logs the metrics of a step."""
        self.file.write(json.dumps({"step": step, **metrics}) + "\n")

    def finish(self) -> None:
        """Ends the run."""
        self.file.close()


class TrackerLogger(Callback):
    """Sends every iteration's metrics to a tracker."""

    def on_start(self, run: Run) -> None:
        """Begins a run of the tracker."""
        self.tracker = OfflineTracker(run.config.name, run.config.to_dict(), run.folder)

    def on_iteration(self, run: Run, metrics: Mapping[str, float]) -> None:
        """Sends the metrics."""
        self.tracker.log(metrics, step=run.steps)

    def on_end(self, run: Run) -> None:  # noqa: ARG002
        """Ends it."""
        self.tracker.finish()


class StopWhenStrong(Callback):
    """Ends training once the policy wins a share of its games against an opponent."""

    def __init__(self, opponent: str = "random", share: float = 0.9) -> None:
        self.opponent = opponent
        self.share = share

    def on_evaluation(self, run: Run, results: Sequence[MatchResult]) -> None:
        """Stops after an evaluation that is good enough."""
        shares = [r.win_share().mean for r in results if r.agents[1] == self.opponent]
        if shares and min(shares) >= self.share:
            run.save_checkpoint(run.folder / "strong")
            run.stop()
