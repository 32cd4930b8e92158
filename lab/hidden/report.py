"""The benchmark's tables and its picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

Row = dict[str, Any]


def report(rows: Sequence[Row], picture: Path) -> None:
    """Prints NashConv by algorithm and game, and the speeds, as Markdown; draws the curves."""
    for seconds in sorted({row["seconds"] for row in rows}):
        chosen = [row for row in rows if row["seconds"] == seconds]
        columns = list(dict.fromkeys(row["column"] for row in chosen))
        print(f"\nNashConv after {seconds} CPU seconds on one core: mean (lowest to highest).\n")
        print(f"| algorithm | {' | '.join(columns)} | steps/s | memory |")
        print(f"|---|{'---:|' * (len(columns) + 2)}")
        for algorithm in dict.fromkeys(row["algorithm"] for row in chosen):
            own = [row for row in chosen if row["algorithm"] == algorithm]
            cells = [_spread(_results(own, column)) for column in columns]
            speed = np.mean([row["steps_per_second"] for row in own])
            memory = max(row["megabytes"] for row in own)
            print(f"| `{algorithm}` | {' | '.join(cells)} | {speed:,.0f} | {memory:,} MB |")
    if rows:
        _draw(rows, picture)


def _results(rows: Sequence[Row], column: str) -> list[float]:
    return [row["nash_conv"] for row in rows if row["column"] == column]


def _spread(values: Sequence[float]) -> str:
    """Returns the mean of several seeds with the lowest and the highest; the value of one."""
    if not values:
        return ""
    mean = f"{np.mean(values):.3f}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):.3f} to {max(values):.3f})"


def _draw(rows: Sequence[Row], picture: Path) -> None:
    """Draws NashConv over CPU seconds: the mean of the seeds in a band from lowest to highest."""
    longest = max(row["seconds"] for row in rows)
    chosen = [row for row in rows if row["seconds"] == longest]
    columns = list(dict.fromkeys(row["column"] for row in chosen))
    algorithms = list(dict.fromkeys(row["algorithm"] for row in chosen))
    across = min(len(columns), 3)
    down = -(-len(columns) // across)
    figure = Figure(figsize=(4 * across + 1.5, 3.2 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, column in zip(panels, columns, strict=False):
        for number, algorithm in enumerate(algorithms):
            runs = [
                row for row in chosen if (row["algorithm"], row["column"]) == (algorithm, column)
            ]
            if not runs:
                continue
            points = min(len(row["curve"]) for row in runs)
            curves = np.array([row["curve"][:points] for row in runs])
            seconds = np.maximum(curves[:, :, 0].mean(0), 1)
            color = f"C{number}"
            panel.plot(seconds, curves[:, :, 2].mean(0), color=color, label=algorithm)
            low = curves[:, :, 2].min(0)
            high = curves[:, :, 2].max(0)
            panel.fill_between(seconds, low, high, color=color, alpha=0.2)
        panel.set(xscale="log", yscale="log", title=column, xlabel="CPU seconds")
        panel.set_ylabel("NashConv")
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(picture, dpi=110)
