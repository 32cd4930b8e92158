"""Pictures of a league: the ratings of its runs over time, and who beats whom."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from linkzoo import get_game
from linkzoo_training.evaluation.ratings import Pairing, bradley_terry, share_table
from linkzoo_training.evaluation.tournament import Tournament


def plot_league(
    plan: Tournament,
    pairings: Sequence[Pairing],
    snapshots: Mapping[str, Mapping[int, str]],
    path: Path,
) -> None:
    """Writes a PNG: ratings by iteration with 95 % bands, and the crosstable in the plan's order.

    Args:
        plan: A tournament of snapshots and of other agents.
        pairings: Its matches.
        snapshots: The agents' names of each run's snapshots, by iteration.
        path: The file.
    """
    count = len(plan.agents)
    ratings = dict(zip(plan.names, bradley_terry(pairings, count), strict=True))
    figure = Figure(figsize=(14, 6.5), layout="constrained")
    curves, table = figure.subplots(1, 2)
    labels: dict[str, str] = {}  # of the snapshots
    for run, agents in snapshots.items():
        means, lows, highs = np.array([ratings[agent] for agent in agents.values()]).T
        (line,) = curves.plot(list(agents), means, marker=".", label=run)
        curves.fill_between(list(agents), lows, highs, alpha=0.2, color=line.get_color())
        labels |= {agent: f"{run} {iteration}" for iteration, agent in agents.items()}
    for agent in plan.names:
        if agent not in labels:
            curves.axhline(ratings[agent].mean, linestyle="--", color="gray")
            curves.annotate(agent, (0, ratings[agent].mean), xycoords=("axes fraction", "data"))
    curves.set(xlabel="iteration", ylabel="rating (Elo scale, mean 0), 95 % interval")
    curves.set_title(f"{get_game(plan.game).title}: the runs as they learn")
    curves.grid(alpha=0.3)
    curves.legend()
    image = table.imshow(share_table(pairings, count), cmap="RdYlGn", vmin=0, vmax=1)
    names = [labels.get(agent, agent) for agent in plan.names]
    table.set_xticks(range(count), names, rotation=90, fontsize="x-small")
    table.set_yticks(range(count), names, fontsize="x-small")
    table.set_title("share of wins of the row against the column")
    figure.colorbar(image, ax=table, shrink=0.8)
    figure.savefig(path, dpi=110)
