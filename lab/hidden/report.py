"""The benchmark's tables and its picture."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lab.hidden.trials import CHOSEN, COLUMN, SECONDS, SEED, TRIALS
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkzoo_training.evaluation.statistics import Estimate

Row = dict[str, Any]


def report(rows: Sequence[Row], picture: Path) -> None:
    """Prints the tables as Markdown: the search, NashConv, matches; draws the curves."""
    _print_search([row for row in rows if _is_trial(row)])
    others = [row for row in rows if not _is_trial(row)]
    for seconds in sorted({row["seconds"] for row in others}):
        chosen = [row for row in others if row["seconds"] == seconds]
        _print_nash_conv([row for row in chosen if "nash_conv" in row], seconds)
        _print_matches([row for row in chosen if "matches" in row], seconds)
    if others:
        _draw(others, picture)


def _is_trial(row: Row) -> bool:
    """Returns whether a row is of the search."""
    return bool((row["column"], row["seconds"], row["seed"]) == (COLUMN, SECONDS, SEED))


def _print_search(rows: Sequence[Row]) -> None:
    """Prints the result of every trial; the chosen ones are bold."""
    if not rows:
        return
    print(f"\nNashConv of {COLUMN} after {SECONDS} CPU seconds, seed {SEED}; bold: chosen.\n")
    names = [f"rate x {trial.rate:.2g}, batch x {trial.batch}" for trial in TRIALS]
    print(f"| algorithm | {' | '.join(names)} |")
    print(f"|---|{'---:|' * len(TRIALS)}")
    for algorithm in _names(rows, "algorithm"):
        values = {row["trial"]: row["nash_conv"] for row in rows if row["algorithm"] == algorithm}
        cells = [f"{values[trial]:.3f}" if trial in values else "" for trial in range(len(TRIALS))]
        if cells[CHOSEN[algorithm]]:
            cells[CHOSEN[algorithm]] = f"**{cells[CHOSEN[algorithm]]}**"
        print(f"| `{algorithm}` | {' | '.join(cells)} |")


def _print_nash_conv(rows: Sequence[Row], seconds: int) -> None:
    """Prints NashConv by algorithm and game, with speed and memory."""
    if not rows:
        return
    columns = _names(rows, "column")
    print(f"\nNashConv after {seconds} CPU seconds on one core: mean (lowest to highest).\n")
    print(f"| algorithm | {' | '.join(columns)} | steps/s | memory |")
    print(f"|---|{'---:|' * (len(columns) + 2)}")
    for algorithm in _names(rows, "algorithm"):
        own = [row for row in rows if row["algorithm"] == algorithm]
        cells = [
            _spread([row["nash_conv"] for row in own if row["column"] == column], ".3f")
            for column in columns
        ]
        print(f"| `{algorithm}` | {' | '.join(cells)} | {_cost(own)} |")


def _print_matches(rows: Sequence[Row], seconds: int) -> None:
    """Prints shares of wins by algorithm, game and opponent, with speed and memory."""
    for column in _names(rows, "column"):
        own = [row for row in rows if row["column"] == column]
        opponents = list(own[0]["matches"])
        print(f"\n{column}: share of wins after {seconds} CPU seconds on one core, %.\n")
        print(f"| algorithm | v {' | v '.join(opponents)} | steps/s | memory |")
        print(f"|---|{'---:|' * (len(opponents) + 2)}")
        for algorithm in _names(own, "algorithm"):
            runs = [row for row in own if row["algorithm"] == algorithm]
            cells = []
            for opponent in opponents:
                estimates = [Estimate(**row["matches"][opponent]) for row in runs]
                cells.append(_spread([100 * estimate.mean for estimate in estimates], ".1f"))
            print(f"| `{algorithm}` | {' | '.join(cells)} | {_cost(runs)} |")


def _cost(rows: Sequence[Row]) -> str:
    """Returns the cells of speed and memory."""
    speed = np.mean([row["steps_per_second"] for row in rows])
    memory = max(row["megabytes"] for row in rows)
    return f"{speed:,.0f} | {memory:,} MB"


def _names(rows: Iterable[Row], key: str) -> list[str]:
    """Returns the values of a key, each once."""
    return list(dict.fromkeys(row[key] for row in rows))


def _spread(values: Sequence[float], digits: str) -> str:
    """Returns the mean of several seeds with the lowest and the highest; the value of one."""
    if not values:
        return ""
    mean = f"{np.mean(values):{digits}}"
    if len(values) == 1:
        return mean
    return f"{mean} ({min(values):{digits}} to {max(values):{digits}})"


def _draw(rows: Sequence[Row], picture: Path) -> None:
    """Draws NashConv, or the share against `linear`, over CPU seconds in a panel per game."""
    longest = max(row["seconds"] for row in rows)
    chosen = [row for row in rows if row["seconds"] == longest]
    columns = _names(chosen, "column")
    algorithms = _names(chosen, "algorithm")
    across = min(len(columns), 3)
    down = -(-len(columns) // across)
    figure = Figure(figsize=(4 * across + 1.5, 3.2 * down), layout="constrained")
    panels = figure.subplots(down, across, squeeze=False).ravel()
    for panel, column in zip(panels, columns, strict=False):
        shown = [row for row in chosen if row["column"] == column]
        _draw_panel(panel, shown, algorithms)
        panel.set(xscale="log", title=column, xlabel="CPU seconds")
        if "nash_conv" in shown[0]:
            panel.set(yscale="log", ylabel="NashConv")
        else:
            panel.set_ylabel("share of wins v linear")
    for panel in panels[len(columns) :]:
        panel.set_visible(False)
    handles, labels = panels[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize="small", frameon=False)
    figure.savefig(picture, dpi=110)


def _draw_panel(panel: Axes, rows: Sequence[Row], algorithms: Sequence[str]) -> None:
    """Draws the mean of each algorithm's seeds in a band from the lowest to the highest."""
    for number, algorithm in enumerate(algorithms):
        curves = [row["curve"] for row in rows if row["algorithm"] == algorithm]
        if not curves:
            continue
        points = min(map(len, curves))
        both = np.array([curve[:points] for curve in curves])
        seconds = np.maximum(both[:, :, 0].mean(0), 1)
        values = both[:, :, 2]
        panel.plot(seconds, values.mean(0), color=f"C{number}", label=algorithm)
        panel.fill_between(seconds, values.min(0), values.max(0), color=f"C{number}", alpha=0.2)
