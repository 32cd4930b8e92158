"""`linkzoo llm table`: the results of several agents side by side."""

from argparse import ArgumentParser, Namespace
from pathlib import Path

from linkzoo_training.llm.benchmark_results import BenchmarkResults, markdown, side_by_side

HELP = "show files of `linkzoo llm benchmark` side by side"


def add_arguments(parser: ArgumentParser) -> None:
    add = parser.add_argument
    add("files", nargs="+", type=Path, metavar="FILE", help="results, a file of each agent")
    add("--markdown", action="store_true", help="print a table in Markdown")


def run(args: Namespace) -> None:
    """Prints one table."""
    from rich.console import Console

    from linkzoo_training.evaluation.report import make_table

    header, *rows = side_by_side({path: BenchmarkResults.read(path) for path in args.files})
    if args.markdown:
        print(markdown([header, *rows]))
        return
    table = make_table("benchmark", header, rows, total=False)
    table.caption = "positions: blunders in % [95 % interval]; regret. matches: share of wins in %"
    Console().print(table)
