"""The race's tables and its picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

_COLUMNS = "seeds,best moves,v MCTS-100,v MCTS-1000,plies/s,start,memory".split(",")


def report(rows: Sequence[dict[str, Any]], image: Path) -> None:
    """Prints a table for each budget as Markdown and draws the curves of one core."""
    for minutes, cores in sorted({(row["minutes"], row["cores"]) for row in rows}):
        print(f"\n{minutes} CPU minutes on each of {cores} cores:\n")
        print(f"| system | {' | '.join(_COLUMNS)} |\n|---|{'---:|' * len(_COLUMNS)}")
        chosen = [row for row in rows if (row["minutes"], row["cores"]) == (minutes, cores)]
        named = {name: _runs(chosen, name) for name in {row["system"]: None for row in chosen}}
        for name, runs in sorted(named.items(), key=lambda pair: -_mean(pair[1], "best_moves")):
            start, megabytes = (_mean(runs, what) for what in ("startup", "megabytes"))
            print(
                f"| {name} | {len(runs)} | {_spread([run['best_moves'] for run in runs], 3)} | "
                f"{_spread([run['mcts_100'][0] for run in runs], 3)} | "
                f"{_spread([run['mcts_1000'][0] for run in runs], 3)} | "
                f"{_mean(runs, 'plies_per_second'):,.0f} | {start:.0f} s | {megabytes:,.0f} MB |"
            )
    _draw([row for row in rows if row["cores"] == 1], image)


def _runs(rows: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["system"] == name]


def _mean(runs: Sequence[dict[str, Any]], what: str) -> float:
    return float(np.mean([run[what] for run in runs]))


def _spread(numbers: Sequence[float], digits: int) -> str:
    """Returns the mean, and the lowest and highest of several."""
    text = f"{np.mean(numbers):.{digits}f}"
    if len(numbers) == 1:
        return text
    return f"{text} ({min(numbers):.{digits}f} to {max(numbers):.{digits}f})"


def _draw(rows: Sequence[dict[str, Any]], image: Path) -> None:
    """Draws the share of best moves over CPU seconds: the mean of the longest runs' seeds."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), dpi=100, layout="constrained")
    for name in {row["system"]: None for row in rows}:
        runs = _runs(rows, name)
        longest = max(run["minutes"] for run in runs)
        curves = [run["curve"] for run in runs if run["minutes"] == longest]
        points = [list(zip(*point, strict=True)) for point in zip(*curves, strict=False)]
        seconds = [np.mean(point[0]) for point in points]
        axes.plot(seconds, [np.mean(point[1]) for point in points], label=name)
    axes.set(xlabel="CPU seconds, one core", ylabel="best moves on solved positions")
    axes.legend(fontsize="small")
    figure.savefig(image)
    plt.close(figure)
