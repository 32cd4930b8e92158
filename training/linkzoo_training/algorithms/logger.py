"""Output of a training run: progress, metrics as JSON lines and for TensorBoard, and a plot."""

import json
import time
from collections.abc import Mapping
from datetime import timedelta
from itertools import zip_longest
from pathlib import Path
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from torch.utils.tensorboard import SummaryWriter

from linkzoo.core.files import write_atomically

METRICS_FILE = "metrics.jsonl"  # in a run's folder
_PLAIN_INTERVAL = 15.0  # seconds between lines without a terminal


class Logger:
    """Context manager that shows a run's progress and writes its metrics.

    `metrics.jsonl` gets one line per iteration; a resumed run first drops the lines that are newer
    than its saved state.
    """

    def __init__(self, folder: Path, title: str, iteration: int) -> None:
        self.folder = folder
        self.title = title
        self._console = Console(stderr=True)
        self._live = Live(console=self._console, refresh_per_second=4)
        folder.mkdir(parents=True, exist_ok=True)
        self._path = folder / METRICS_FILE
        kept = [row for row in read_metrics(folder) if row["iteration"] <= iteration]
        write_atomically(self._path, "".join(json.dumps(row) + "\n" for row in kept).encode())
        self._last_line = -_PLAIN_INTERVAL
        self._shown: dict[str, Any] = {}

    def __enter__(self) -> "Logger":
        self._file = self._path.open("a", encoding="utf-8")
        self._board = SummaryWriter(str(self.folder / "tensorboard"))
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live.is_started:
            self._live.stop()
        self._board.close()
        self._file.close()

    def wait(self, workers: str) -> None:
        """Shows that the run waits for workers' games."""
        if self._live.is_started:
            self._live.update(f"[bold]{self.title}[/]  waiting for games: {workers}")
        elif time.monotonic() - self._last_line > _PLAIN_INTERVAL:
            self._last_line = time.monotonic()
            self._console.print(f"waiting for games: {workers}", highlight=False)

    def log(
        self, metrics: Mapping[str, Any], progress: float, eta: float, workers: str = ""
    ) -> None:
        """Writes an iteration's metrics and shows the newest value of each.

        Args:
            metrics: The metrics.
            progress: The share of the run that is done.
            eta: Seconds until its end.
            workers: How many workers are live.
        """
        try:
            self._file.write(json.dumps(metrics) + "\n")
            self._file.flush()
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(self._path)) from error
        for name, value in metrics.items():
            if isinstance(value, int | float):
                self._board.add_scalar(name, value, metrics["steps"])
        self._shown.update(metrics)
        if self._live.is_started:
            self._live.update(self._table(progress, eta, workers))
        elif time.monotonic() - self._last_line > _PLAIN_INTERVAL:
            self._last_line = time.monotonic()
            shown = "  ".join(f"{name} {_text(value)}" for name, value in self._shown.items())
            self._console.print(
                f"{progress:4.0%} ETA {timedelta(seconds=int(eta))}  {workers}  {shown}",
                highlight=False,
            )

    def _table(self, progress: float, eta: float, workers: str) -> Group:
        table = Table.grid(padding=(0, 2))
        cells = [(f"[dim]{name}", _text(value)) for name, value in self._shown.items()]
        half = (len(cells) + 1) // 2
        for left, right in zip_longest(cells[:half], cells[half:], fillvalue=("", "")):
            table.add_row(*left, *right)
        remaining = timedelta(seconds=int(eta))
        title = f"[bold]{self.title}[/]  {progress:.0%}  ETA {remaining}  {workers}  (Ctrl-C saves)"
        return Group(title, ProgressBar(1.0, progress), table)


def read_metrics(folder: Path) -> list[dict[str, Any]]:
    """Returns the metrics of a run, one dict per iteration, without a truncated last line.

    Raises:
        ValueError: Another line is damaged.
    """
    path = folder / METRICS_FILE
    lines = [b""]
    if path.exists():
        lines = path.read_bytes().split(b"\n")
    rows = [_row(line) for line in lines]
    if None in rows[:-1]:
        number = rows.index(None) + 1
        raise ValueError(f"{path}: line {number} is damaged: delete the line to resume")
    return [row for row in rows if row is not None]


def _row(line: bytes) -> dict[str, Any] | None:
    """Parses a line of the metrics file; returns None if it is invalid."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(row, dict) or not all(isinstance(n, int | float) for n in row.values()):
        return None
    if not all(type(row.get(name)) is int for name in ("iteration", "steps")):
        return None
    return row


def _text(value: Any) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    if not isinstance(value, float):
        return str(value)
    if abs(value) >= 1000:
        return f"{value:,.0f}"
    return f"{value:.4g}"


def plot_curve(rows: list[dict[str, Any]], path: Path, title: str) -> None:
    """Writes the learning curve as PNG: win rates of short matches, losses and entropy by steps."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 7), layout="constrained")
    strength, learning = figure.subplots(2, 1, sharex=True)

    def plot(axes: Any, name: str, **style: Any) -> None:
        points = [(row["steps"] / 1e6, row[name]) for row in rows if name in row]
        if points:
            axes.plot(*zip(*points, strict=True), label=name.removeprefix("win/"), **style)

    names = sorted({name for row in rows for name in row if name.startswith("win/")})
    for name in names:
        plot(strength, name, marker=".")
    strength.set(title=title, ylabel="win rate", ylim=(-0.02, 1.02))
    strength.grid(alpha=0.3)
    if names:
        strength.legend(ncols=2, fontsize="small")
    for name in ("loss/policy", "loss/value", "entropy"):
        plot(learning, name, linewidth=1)
    learning.set(xlabel="million steps")
    learning.grid(alpha=0.3)
    if learning.lines:
        learning.legend(fontsize="small")
    figure.savefig(path, dpi=120)
