"""The race's tables and its picture."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

_STRENGTH = {
    "best moves": "best_moves",
    "v MCTS-100": "mcts_100",
    "v MCTS-1000": "mcts_1000",
    "v MCTS-1000, solving": "mcts_1000_solving",
}
_COLUMNS = ["seeds", *_STRENGTH, "plies/s", "start", "memory"]


def report(rows: Sequence[dict[str, Any]], image: Path) -> None:
    """Prints a table for each budget as Markdown and draws the curves of one core."""
    for minutes, cores in sorted({(row["minutes"], row["cores"]) for row in rows}):
        where = "1 core" if cores == 1 else f"each of {cores} cores"
        print(f"\n{minutes} CPU minutes on {where}:\n")
        print(f"| system | {' | '.join(_COLUMNS)} |\n|---|{'---:|' * len(_COLUMNS)}")
        chosen = [row for row in rows if (row["minutes"], row["cores"]) == (minutes, cores)]
        named = {name: _runs(chosen, name) for name in {row["system"]: None for row in chosen}}
        for name, runs in sorted(named.items(), key=lambda pair: -_mean(pair[1], "best_moves")):
            start, megabytes = (_mean(runs, what) for what in ("startup", "megabytes"))
            strength = [_spread([run[what] for run in runs]) for what in _STRENGTH.values()]
            print(
                f"| {name} | {len(runs)} | {' | '.join(strength)} | "
                f"{_mean(runs, 'plies_per_second'):,.0f} | {start:.0f} s | {megabytes:,.0f} MB |"
            )
    _draw([row for row in rows if row["cores"] == 1], image)


def _runs(rows: Sequence[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if row["system"] == name]


def _mean(runs: Sequence[dict[str, Any]], what: str) -> float:
    return float(np.mean([run[what] for run in runs]))


def spread(values: Sequence[float]) -> str:
    """Returns the mean of several seeds with the lowest and the highest: shares, or speeds."""
    found = float(np.mean(values)), min(values), max(values)
    mean, low, high = (f"{one:.3f}" if one <= 1 else f"{one:,.0f}" for one in found)
    return f"{mean} ({low} to {high})"


def _spread(numbers: Sequence[Any]) -> str:
    """Returns the mean with its range over several runs, or one run's number with its interval."""
    means = [number[0] if isinstance(number, list) else number for number in numbers]
    if len(means) > 1:
        return spread(means)
    text = f"{means[0]:.3f}"
    return f"{text} [{numbers[0][1]:.3f}, {numbers[0][2]:.3f}]" if means != numbers else text


def _draw(rows: Sequence[dict[str, Any]], image: Path) -> None:
    """Draws the share of best moves over CPU seconds: the mean of the longest runs' seeds."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(8.5, 4), dpi=100, layout="constrained")
    best = {row["system"]: row["best_moves"] for row in rows}
    for name in sorted(best, key=lambda name: -best[name]):
        runs = _runs(rows, name)
        longest = max(run["minutes"] for run in runs)
        curves = [run["curve"] for run in runs if run["minutes"] == longest]
        points = [list(zip(*point, strict=True)) for point in zip(*curves, strict=False)]
        seconds = [np.mean(point[0]) for point in points]
        axes.plot(seconds, [np.mean(point[1]) for point in points], label=name)
    axes.set(xlabel="CPU seconds, one core", ylabel="best moves on solved positions")
    figure.legend(loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(image)
    plt.close(figure)
