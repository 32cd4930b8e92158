"""The benchmark's tables, its picture and its page in the docs."""

import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lab.hidden.judge import SOLVED
from lab.hidden.trials import CHOSEN, COLUMN, SECONDS, SEED, TRIALS
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from linkzoo_training.evaluation.statistics import Estimate

Row = dict[str, Any]


def tables(rows: Sequence[Row]) -> str:
    """Returns the tables as Markdown: the search, NashConv, matches."""
    lines = list(_search([row for row in rows if _is_trial(row)]))
    others = [row for row in rows if not _is_trial(row)]
    for seconds in sorted({row["seconds"] for row in others}):
        chosen = [row for row in others if row["seconds"] == seconds]
        lines += _nash_conv([row for row in chosen if "nash_conv" in row], seconds)
        lines += _matches([row for row in chosen if "matches" in row], seconds)
    return "\n".join(lines)


def filled(page: str, rows: Sequence[Row]) -> str:
    """Returns a page with the tables between its marks."""
    text = f"<!-- results -->\n{tables(rows)}\n\n<!-- /results -->"
    return re.sub("<!-- results -->.*<!-- /results -->", lambda _: text, page, flags=re.DOTALL)


def _is_trial(row: Row) -> bool:
    """Returns whether a row is of the search."""
    return bool((row["column"], row["seconds"], row["seed"]) == (COLUMN, SECONDS, SEED))


def _search(rows: Sequence[Row]) -> Iterator[str]:
    """Yields the lines of the result of every trial; the chosen ones are bold."""
    if not rows:
        return
    yield f"\nNashConv of {COLUMN} after {SECONDS} CPU seconds, seed {SEED}; bold: chosen.\n"
    names = [f"rate x {trial.rate:.2g}, batch x {trial.batch}" for trial in TRIALS]
    yield f"| algorithm | {' | '.join(names)} |"
    yield f"|---|{'---:|' * len(TRIALS)}"
    for algorithm in _names(rows, "algorithm"):
        values = {row["trial"]: row["nash_conv"] for row in rows if row["algorithm"] == algorithm}
        cells = [f"{values[trial]:.3f}" if trial in values else "" for trial in range(len(TRIALS))]
        if cells[CHOSEN[algorithm]]:
            cells[CHOSEN[algorithm]] = f"**{cells[CHOSEN[algorithm]]}**"
        yield f"| `{algorithm}` | {' | '.join(cells)} |"


def _nash_conv(rows: Sequence[Row], seconds: int) -> Iterator[str]:
    """Yields the lines of NashConv by algorithm and game, the lowest first."""
    if not rows:
        return
    columns = _names(rows, "column")
    yield (
        f"\nNashConv after {seconds} CPU seconds on one core, or earlier where it is below .0001: "
        "mean (lowest to highest).\n"
    )
    yield f"| algorithm | {' | '.join(columns)} | steps/s | memory |"
    yield f"|---|{'---:|' * (len(columns) + 2)}"
    for algorithm in _ranked(rows, "nash_conv", columns):
        own = [row for row in rows if row["algorithm"] == algorithm]
        cells = [
            _spread([row["nash_conv"] for row in own if row["column"] == column], ".3f")
            for column in columns
        ]
        yield f"| `{algorithm}` | {' | '.join(cells)} | {_cost(own)} |"


def _matches(rows: Sequence[Row], seconds: int) -> Iterator[str]:
    """Yields the lines of shares of wins by game and algorithm, the highest first."""
    for column in _names(rows, "column"):
        own = [row for row in rows if row["column"] == column]
        opponents = list(own[0]["matches"])
        yield f"\n{column}: share of wins after {seconds} CPU seconds on one core, %.\n"
        yield f"| algorithm | v {' | v '.join(opponents)} | steps/s | memory |"
        yield f"|---|{'---:|' * (len(opponents) + 2)}"
        for algorithm in reversed(_ranked(own, "wins_v_linear", [column])):
            runs = [row for row in own if row["algorithm"] == algorithm]
            cells = []
            for opponent in opponents:
                estimates = [Estimate(**row["matches"][opponent]) for row in runs]
                cells.append(_spread([100 * estimate.mean for estimate in estimates], ".1f"))
            yield f"| `{algorithm}` | {' | '.join(cells)} | {_cost(runs)} |"


def _ranked(rows: Sequence[Row], field: str, columns: Sequence[str]) -> list[str]:
    """Returns the algorithms by their mean of a field, the lowest first.

    A column decides where the means of those before it are equal. Algorithms without a run in it
    come last.
    """

    def mean(algorithm: str, column: str) -> float:
        own = [r[field] for r in rows if r["algorithm"] == algorithm and r["column"] == column]
        return float(np.mean(own)) if own else np.inf

    return sorted(
        _names(rows, "algorithm"), key=lambda name: [mean(name, column) for column in columns]
    )


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


def draw(rows: Sequence[Row], picture: Path) -> None:
    """Draws NashConv, or the share against `linear`, over CPU seconds in a panel per game."""
    others = [row for row in rows if not _is_trial(row)]
    if not others:
        return
    longest = max(row["seconds"] for row in others)
    chosen = [row for row in others if row["seconds"] == longest]
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
    shown_lines = {line.get_label(): line for panel in panels for line in panel.get_lines()}
    figure.legend(
        shown_lines.values(),
        shown_lines.keys(),
        loc="outside right upper",
        fontsize="small",
        frameon=False,
    )
    figure.savefig(picture, dpi=110)


def _draw_panel(panel: Axes, rows: Sequence[Row], algorithms: Sequence[str]) -> None:
    """Draws the mean of each algorithm's seeds in a band from the lowest to the highest.

    A run that ended early keeps its last value.
    """
    for number, algorithm in enumerate(algorithms):
        curves = [row["curve"] for row in rows if row["algorithm"] == algorithm]
        if not curves:
            continue
        longest = max(curves, key=len)
        seconds = np.maximum([second for second, _, _ in longest], 1)
        ends = [curve + curve[-1:] * (len(longest) - len(curve)) for curve in curves]
        values = np.maximum(np.array(ends)[:, :, 2], SOLVED)
        turn, color = divmod(number, 10)  # there are ten colours
        style = ("-", "--")[turn]
        panel.plot(seconds, values.mean(0), style, color=f"C{color}", label=algorithm)
        panel.fill_between(seconds, values.min(0), values.max(0), color=f"C{color}", alpha=0.2)
