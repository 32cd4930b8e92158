"""Learning curves of several runs: one per configuration, with a band over seeds."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from linkzoo_training.algorithms.logger import METRICS_FILE, read_metrics
from linkzoo_training.arrays import Float64s
from linkzoo_training.checkpoints.checkpoint import read_meta
from linkzoo_training.config.fields import flat
from linkzoo_training.resources import STATE_FILE

__all__ = ["Curve", "learning_curves", "plot_curves"]

_SHARE = "share against "  # the mean of the win rates against an opponent
_NOT_COMPARED = ("name", "seed")  # fields in which runs of one curve differ


@dataclass(frozen=True)
class _RunMetrics:
    """A run's folder, the fields of its configuration, and its metrics by iteration."""

    folder: Path
    fields: Mapping[str, Any]
    rows: Sequence[Mapping[str, float]]


@dataclass(frozen=True)
class Curve:
    """A metric of the runs that differ in their seeds alone.

    Attributes:
        label: The run's name, or the fields in which it differs from the other curves.
        runs: The number of runs.
        x: float64[K], ascending, where all runs have values.
        mean: float64[K], the mean over the runs, interpolated linearly.
        low: float64[K], the smallest value of a run.
        high: float64[K], the largest value of a run.
    """

    label: str
    runs: int
    x: Float64s
    mean: Float64s
    low: Float64s
    high: Float64s


def learning_curves(
    folders: Sequence[Path], x: str = "steps", y: str = "share against greedy"
) -> list[Curve]:
    """Returns the learning curves of runs.

    Args:
        folders: Folders of runs; one without metrics is left out.
        x: A metric of every iteration, such as `steps` or `seconds`.
        y: A metric, or `share against AGENT`: the mean of the win rates against that opponent.

    Raises:
        ValueError: A folder doesn't exist, or there are no such metrics.
    """
    runs = [run for run in map(_read_run, folders) if run.rows]
    if not runs:
        raise ValueError(f"no folder of {len(folders)} has a {METRICS_FILE}: name folders of runs")
    groups: dict[str, list[_RunMetrics]] = defaultdict(list)
    for run in runs:
        same = {name: value for name, value in run.fields.items() if name not in _NOT_COMPARED}
        key = json.dumps(same, sort_keys=True) if same else str(run.folder)
        groups[key].append(run)
    curves = []
    for label, group in zip(_labels(list(groups.values())), groups.values(), strict=True):
        points = [_points(run.rows, x, y) for run in group]
        series = [run for run in points if len(run[0])]
        if series:
            curves.append(_curve(label, series))
    if not curves:
        names = {name for run in runs for row in run.rows for name in _names(row)}
        raise ValueError(f"no run has {x!r} and {y!r}; there are {', '.join(sorted(names))}")
    return curves


def _read_run(folder: Path) -> _RunMetrics:
    if not folder.exists():
        raise ValueError(f"there is no folder {folder}")
    state = folder / STATE_FILE
    fields: Mapping[str, Any] = {}
    if state.is_file():
        fields = flat(read_meta(state).get("config", {}))
    return _RunMetrics(folder, fields, read_metrics(folder))


def _labels(groups: Sequence[Sequence[_RunMetrics]]) -> list[str]:
    """Returns the groups' names if they differ, else the fields that do."""
    names = [{run.fields.get("name", run.folder.name) for run in group} for group in groups]
    if all(len(group) == 1 for group in names) and len(set.union(*names)) == len(groups):
        return [str(*group) for group in names]
    first = [group[0].fields for group in groups]
    keys = [key for fields in first for key in fields if key not in _NOT_COMPARED]
    differ = [
        key
        for key in dict.fromkeys(keys)
        if len({json.dumps(fields.get(key)) for fields in first}) > 1
    ]
    return [
        ", ".join(f"{key}={fields[key]}" for key in differ if key in fields) or group[0].folder.name
        for group, fields in zip(groups, first, strict=True)
    ]


def _names(row: Mapping[str, float]) -> list[str]:
    """Returns the metrics of an iteration, `share against AGENT` included."""
    opponents = (re.fullmatch(r"win/.+? v (.+)", name) for name in row)
    return [*row, *(_SHARE + opponent[1] for opponent in opponents if opponent)]


def _value(row: Mapping[str, float], name: str) -> float | None:
    if name in row or not name.startswith(_SHARE):
        return row.get(name)
    ending = f" v {name.removeprefix(_SHARE)}"
    shares = [row[key] for key in row if key.startswith("win/") and key.endswith(ending)]
    if not shares:
        return None
    return sum(shares) / len(shares)


def _points(rows: Sequence[Mapping[str, float]], x: str, y: str) -> tuple[Float64s, Float64s]:
    """Returns a run's points in ascending order of `x`."""
    pairs = [(_value(row, x), _value(row, y)) for row in rows]
    known = sorted((a, b) for a, b in pairs if a is not None and b is not None)
    array = np.array(known, np.float64).reshape(-1, 2)
    return array[:, 0], array[:, 1]


def _curve(label: str, series: Sequence[tuple[Float64s, Float64s]]) -> Curve:
    """Returns the curve over the range of all runs, or at the start of the last one."""
    first = max(x[0] for x, _ in series)
    last = max(first, min(x[-1] for x, _ in series))
    union = np.unique(np.concatenate([x for x, _ in series]))
    grid = union[(union >= first) & (union <= last)]
    values = np.stack([np.interp(grid, x, y) for x, y in series])
    return Curve(label, len(series), grid, values.mean(0), values.min(0), values.max(0))


def plot_curves(curves: Sequence[Curve], path: Path, x: str, y: str) -> None:
    """Draws curves as PNG or SVG, by the file's ending: means, and bands from min to max."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 5), layout="constrained")
    axes = figure.subplots()
    for curve in curves:
        label = curve.label
        if curve.runs > 1:
            label += f" ({curve.runs} runs)"
        marker = "." if len(curve.x) < 50 else ""
        (line,) = axes.plot(curve.x, curve.mean, marker=marker, label=label)
        if curve.runs > 1:
            axes.fill_between(curve.x, curve.low, curve.high, color=line.get_color(), alpha=0.2)
    axes.set(xlabel=x, ylabel=y)
    if y.startswith("share"):
        axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    axes.legend(fontsize="small")
    figure.savefig(path, dpi=120)
