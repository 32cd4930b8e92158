"""`linkzoo experiment plot`: learning curves of runs."""

from argparse import ArgumentParser, Namespace
from glob import glob
from itertools import chain, count
from pathlib import Path

from linkzoo_training.commands import common

HELP = "draw the learning curves of runs, with a band over seeds"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    text = "folders of runs, such as runs/*; runs that differ only in their seeds share a curve"
    add("runs", metavar="RUN", nargs="+", help=text)
    text = "metric on the x axis: steps, seconds or iteration (default: %(default)s)"
    add("--x", default="steps", metavar="METRIC", help=text)
    text = (
        "metric of metrics.jsonl, or the mean win rate: share against AGENT (default: %(default)s)"
    )
    add("--y", default="share against greedy", metavar="METRIC", help=text)
    text = "new file, .png or .svg (default: plot.png, plot-2.png, ...)"
    add("--out", type=common.new_file, metavar="FILE", help=text)


def run(args: Namespace) -> None:
    """Draws the curves and prints their last values."""
    from rich.console import Console

    from linkzoo_training.algorithms.curves import learning_curves, plot_curves
    from linkzoo_training.evaluation.report import make_table

    out: Path = args.out or _free_file()
    if out.suffix not in (".png", ".svg"):
        raise ValueError(f"--out {out}: write a .png or .svg file")
    folders = [
        common.input_path(path)
        for text in args.runs
        for path in sorted(glob(text)) or [text]  # noqa: PTH207 - of absolute patterns, too
    ]
    curves = learning_curves(folders, args.x, args.y)
    plot_curves(curves, out, args.x, args.y)
    rows = [
        (
            c.label,
            str(c.runs),
            f"{c.x[-1]:,.6g}",
            f"{c.mean[-1]:.4g}",
            f"{c.low[-1]:.4g} … {c.high[-1]:.4g}",
        )
        for c in curves
    ]
    columns = ("curve", "runs", args.x, args.y, "min … max")
    Console().print(make_table("last values", columns, rows, total=False))
    print(out)


def _free_file() -> Path:
    """Returns the first of plot.png, plot-2.png and so on that doesn't exist."""
    names = chain(["plot.png"], (f"plot-{number}.png" for number in count(2)))
    return next(path for path in map(Path, names) if not path.exists())
