"""Learning curves of runs over wall-clock time: `python -m lab.side_by_side LABEL=RUN...`.

Draws `lab/images/side_by_side.png`: win shares in the short matches of the runs (folders written
by `linkzoo train`) over minutes of training, without evaluation. Prints the final matches as
Markdown. To compare two versions, train both on the same idle machine with the same
`eval.opponents`.
"""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from lab.curves import ROOT, panels, save, short_matches

# By match, such as "Fewer v uct-100": minutes and shares of each run, by label.
Curves = dict[str, dict[str, tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]]]


def read(runs: dict[str, Path]) -> Curves:
    curves: Curves = {}
    for label, run in runs.items():
        rows = short_matches(run)
        if not rows:
            raise SystemExit(f"{run}: no matches in its metrics")
        minutes = np.array([row["seconds"] / 60 for row in rows])
        for key in rows[0]:
            if key.startswith("win/"):
                shares = np.array([row[key] for row in rows])
                curves.setdefault(key.removeprefix("win/"), {})[label] = minutes, shares
    return curves


def draw(curves: Curves, path: Path) -> None:
    figure, each = panels(list(curves), "minutes", "wins")
    for axes, lines in zip(each, curves.values(), strict=True):
        for label, (minutes, shares) in lines.items():
            axes.plot(minutes, shares, marker=".", label=label)
        axes.set_xlim(left=0)
    save(figure, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="+", metavar="LABEL=RUN")
    parser.add_argument("--image", type=Path, default=ROOT / "lab/images/side_by_side.png")
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
