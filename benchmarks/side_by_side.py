"""Learning curves of runs against wall-clock: `python -m benchmarks.side_by_side LABEL=RUN...`.

Draws `docs/images/side_by_side.png`: shares of wins in the short matches along the runs (folders
that `linkzoo train` writes), over minutes of training, evaluation not counted. Prints the matches
at the end as Markdown. For before and after, train both on the same machine, with the same
`eval.opponents` and nothing beside them.
"""

import argparse
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np

from linkzoo_training.algorithms.logger import read_metrics

ROOT = Path(__file__).parents[1]

# By match, such as "Fewer v uct-100": minutes and shares of every run that played it, by label.
Curves = dict[str, dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]]


def read(runs: dict[str, Path]) -> Curves:
    curves: Curves = {}
    for label, run in runs.items():
        rows = [row for row in read_metrics(run) if any(key.startswith("win/") for key in row)]
        if not rows:
            raise SystemExit(f"{run}: no matches in its metrics")
        minutes = np.array([row["seconds"] / 60 for row in rows])
        for key in rows[0]:
            if key.startswith("win/"):
                shares = np.array([row[key] for row in rows])
                curves.setdefault(key.removeprefix("win/"), {})[label] = minutes, shares
    return curves


def draw(curves: Curves, path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    size = (4.5 * len(curves), 3.5)
    figure, panels = plt.subplots(1, len(curves), figsize=size, layout="constrained", squeeze=False)
    for axes, (match, lines) in zip(panels.flat, curves.items(), strict=True):
        for label, (minutes, shares) in lines.items():
            axes.plot(minutes, shares, marker=".", label=label)
        axes.set(title=match, ylim=(0, 1), xlim=(0, None), xlabel="minutes", ylabel="wins")
        axes.grid(visible=True, alpha=0.3)
        axes.legend(fontsize="small")
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="LABEL=RUN")
    parser.add_argument("--image", type=Path, default=ROOT / "docs/images/side_by_side.png")
    arguments = parser.parse_args()
    pairs = [run.rpartition("=") for run in arguments.runs]
    if not all(label for label, _, _ in pairs):
        parser.error(f"runs are LABEL=RUN, not {' '.join(arguments.runs)}")
    curves = read({label: Path(run) for label, _, run in pairs})
    print("| match | run | minutes | wins |\n|---|---|---:|---:|")
    for match, lines in curves.items():
        for label, (minutes, shares) in lines.items():
            print(f"| {match} | {label} | {minutes[-1]:.1f} | {shares[-1]:.0%} |")
    draw(curves, arguments.image)


if __name__ == "__main__":
    main()
