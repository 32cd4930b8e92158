"""Learning curves of the quick presets over several seeds: `python -m lab.curves PRESET...`.

Trains every preset (default: those of PPO) with each seed, one run at a time, in
`runs/<preset>_seed<n>`. Finished runs are kept, interrupted ones resume. Plots the win share
against greedy play: the mean of the seeds in a band from lowest to highest, in `--image`. Prints
the final matches as Markdown.
"""

import argparse
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import matplotlib as mpl
import numpy as np

from linkzoo_training.algorithms.logger import read_metrics

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
PRESETS = [
    "linkage_ppo_quick",
    "love_links_ppo_quick",
    "link_o_ppo_quick",
    "love_formula_ppo_quick",
]
OPPONENT = "greedy"

# By name: steps, and shares [seeds, evaluations].
Curves = dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]


def run_name(preset: str, seed: int) -> str:
    return f"{preset}_seed{seed}"


def train(preset: str, seed: int) -> None:
    """Trains to the end, without early stopping."""
    name = run_name(preset, seed)
    if (ROOT / "runs" / name / "checkpoint" / "card.json").exists():
        return
    settings = [f"seed={seed}", f"name={name}", "max_seconds=null"]
    command = [sys.executable, "-m", "linkzoo_training", "train", preset, "--resume", *settings]
    subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.DEVNULL)


def short_matches(run: Path) -> list[dict[str, Any]]:
    """Returns the metrics of the iterations with short matches."""
    return [row for row in read_metrics(run) if any(key.startswith("win/") for key in row)]


def read(preset: str, seeds: int) -> Curves:
    """Returns the runs' short matches against OPPONENT."""
    folders = [ROOT / "runs" / run_name(preset, seed) for seed in range(1, seeds + 1)]
    runs = [short_matches(folder) for folder in folders]
    steps = np.array([row["steps"] for row in runs[0]])
    assert all([row["steps"] for row in run] == steps.tolist() for run in runs), (
        "runs of one preset"
    )
    names = [name for name in runs[0][0] if name.endswith(f" v {OPPONENT}")]
    return {
        name.removeprefix("win/").removesuffix(f" v {OPPONENT}"): (
            steps,
            np.array([[row[name] for row in run] for run in runs]),
        )
        for name in names
    }


def panels(titles: Sequence[str], x: str, y: str) -> "tuple[Figure, list[Axes]]":
    """Returns a figure of two columns with a panel per title, for win shares."""
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    rows, columns = (len(titles) + 1) // 2, min(len(titles), 2)
    size = (4.5 * columns, 3.25 * rows)
    figure, grid = plt.subplots(
        rows, columns, figsize=size, dpi=100, layout="constrained", squeeze=False
    )
    used, spare = grid.flat[: len(titles)], grid.flat[len(titles) :]
    for axes in spare:
        axes.remove()
    for axes, title in zip(used, titles, strict=True):
        axes.set(title=title, ylim=(0, 1), xlabel=x, ylabel=y)
        axes.grid(visible=True, alpha=0.3)
    return figure, list(used)


def save(figure: "Figure", path: Path) -> None:
    for axes in figure.axes:
        axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def draw(found: dict[str, Curves], seeds: int, path: Path) -> None:
    figure, each = panels(list(found), "million steps", f"wins against {OPPONENT}")
    for axes, curves in zip(each, found.values(), strict=True):
        for name, (steps, shares) in curves.items():
            axes.plot(steps / 1e6, shares.mean(0), label=name)
            axes.fill_between(steps / 1e6, shares.min(0), shares.max(0), alpha=0.2)
    figure.suptitle(f"{seeds} seeds: the mean, lowest and highest")
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("presets", nargs="*", default=PRESETS)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--image", type=Path, default=ROOT / "docs/images/quick_curves.png")
    arguments = parser.parse_args()
    for preset in arguments.presets:
        for seed in range(1, arguments.seeds + 1):
            train(preset, seed)
    found = {preset: read(preset, arguments.seeds) for preset in arguments.presets}
    print(f"| preset | | last evaluation, {arguments.seeds} seeds |\n|---|---|---|")
    for preset, curves in found.items():
        for name, (_, shares) in curves.items():
            last = " / ".join(f"{share:.0%}" for share in shares[:, -1])
            print(f"| `{preset}` | {name} | {last} |")
    draw(found, arguments.seeds, arguments.image)


if __name__ == "__main__":
    main()
