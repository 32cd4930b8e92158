"""Pictures of a league: the ratings of its runs over time, and who beats whom."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from linkzoo import get_game
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry, share_table
from linkzoo_training.evaluation.tournament import Tournament
from linkzoo_training.selfplay.league import Snapshots


def plot_league(
    plan: Tournament, pairings: Sequence[Pairing], snapshots: Snapshots, path: Path
) -> None:
    """Writes a PNG: ratings by iteration with 95 % bands, and the crosstable in the plan's order.

    Args:
        plan: A tournament of snapshots, by their folders' names, and of other agents.
        pairings: Its matches.
        snapshots: The snapshots of each run.
        path: The file.
    """
    count = len(plan.agents)
    ratings = dict(zip(plan.agents, bradley_terry(pairings, count), strict=True))
    figure = Figure(figsize=(14, 6.5), layout="constrained")
    curves, table = figure.subplots(1, 2)
    labels = dict(zip(plan.agents, plan.agents, strict=True))
    for run, folders in snapshots.items():
        means, lows, highs = np.array([ratings[str(folder)] for folder in folders.values()]).T
        (line,) = curves.plot(list(folders), means, marker=".", label=run)
        curves.fill_between(list(folders), lows, highs, alpha=0.2, color=line.get_color())
        labels |= {str(folder): f"{run} {iteration}" for iteration, folder in folders.items()}
    members = {str(folder) for folders in snapshots.values() for folder in folders.values()}
    for agent in plan.agents:
        if agent not in members:
            curves.axhline(ratings[agent].mean, linestyle="--", color="gray")
            curves.annotate(agent, (0, ratings[agent].mean), xycoords=("axes fraction", "data"))
    curves.set(xlabel="iteration", ylabel="rating (Elo scale, mean 0), 95 % interval")
    curves.set_title(f"{get_game(plan.game).title}: the runs as they learn")
    curves.grid(alpha=0.3)
    curves.legend()
    _draw_table(table, share_table(pairings, count), labels)
    figure.savefig(path, dpi=110)


def _draw_table(axes: Any, shares: Any, labels: Mapping[str, str]) -> None:
    image = axes.imshow(shares, cmap="RdYlGn", vmin=0, vmax=1)
    names = list(labels.values())
    axes.set_xticks(range(len(names)), names, rotation=90, fontsize="x-small")
    axes.set_yticks(range(len(names)), names, fontsize="x-small")
    axes.set_title("share of wins of the row against the column")
    axes.figure.colorbar(image, ax=axes, shrink=0.8)
