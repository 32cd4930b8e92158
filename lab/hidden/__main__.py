"""The benchmark for hidden information: `python -m lab.hidden [ALGORITHM ...] [--quick]`.

Each algorithm learns each game from nothing in a process of its own, for some CPU seconds on one
core. In small games NashConv is exact; in whole games matches measure. Rows are appended to
`--results`; those that it has are left out, so an interrupted benchmark goes on. `--search` tries
four settings of each algorithm on one small game, and `--quick` proves the pipeline in three
minutes. `--tables` prints Markdown and draws a picture beside the results; `--page` fills the page
of the docs. OpenSpiel's algorithms need the extra `openspiel`, MaskablePPO needs `sb3`, and RLlib's
PPO needs `rllib`.
"""

import argparse
import json
import os
import subprocess
import sys
from importlib.metadata import version
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from lab.hidden.columns import COLUMNS
from lab.hidden.report import draw, filled, tables
from lab.hidden.trials import CHOSEN, COLUMN, SECONDS, SEED, TRIALS
from llvmlite.binding import get_host_cpu_name

import linkzoo

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "runs" / "hidden" / "results.jsonl"
PAGE = ROOT / "docs" / "hidden.md"
PICTURE = ROOT / "docs" / "images" / "hidden.png"

_ALL = tuple(COLUMNS)
_EXACT = tuple(name for name, column in COLUMNS.items() if column.exact)
_SMALLEST = ("leduc", "liars_dice")  # games of examples and tests, without action features
_OURS = tuple(name for name in COLUMNS if name not in _SMALLEST)


class Algorithm(NamedTuple):
    """A module of this package.

    Attributes:
        module: Its name.
        packages: Those whose versions belong to its rows.
        columns: The games that it can learn.
    """

    module: str
    packages: tuple[str, ...]
    columns: tuple[str, ...]


ALGORITHMS = {
    "ppo": Algorithm("ours", ("torch",), _ALL),
    "ppo_kl": Algorithm("ours", ("torch",), _ALL),
    "ppo_average": Algorithm("ours", ("torch",), _ALL),
    "alphazero": Algorithm("ours", ("torch",), _ALL),
    "linear": Algorithm("ours", ("torch",), _OURS),
    "cfr_plus": Algorithm("ours", ("torch",), _EXACT),
    "es_mccfr": Algorithm("open_spiel_tabular", ("open_spiel",), _EXACT),
    "os_mccfr": Algorithm("open_spiel_tabular", ("open_spiel",), _EXACT),
    "mmd": Algorithm("open_spiel_mmd", ("open_spiel",), _SMALLEST),
    "nfsp": Algorithm("open_spiel_networks", ("open_spiel", "torch"), _ALL),
    "deep_cfr": Algorithm("open_spiel_networks", ("open_spiel", "torch"), _EXACT),
    "escher": Algorithm("open_spiel_networks", ("open_spiel", "torch"), _EXACT),
    "maskable_ppo": Algorithm("maskable_ppo", ("sb3_contrib", "torch"), _ALL),
    "rllib_ppo": Algorithm("rllib_ppo", ("ray", "torch"), _ALL),
}
QUICK = ("ppo_kl", "cfr_plus", "es_mccfr")
QUICK_COLUMNS = ("leduc", "link_o mini2x4a-h3")
QUICK_SECONDS = 3


class Run(NamedTuple):
    """A run of the benchmark, as its row names it."""

    algorithm: str
    column: str
    seed: int
    seconds: int
    trial: int


def train(run: Run) -> dict[str, Any]:
    """Runs an algorithm in a process of its own; returns its row."""
    algorithm = ALGORITHMS[run.algorithm]
    command = [sys.executable, "-m", f"lab.hidden.{algorithm.module}", run.algorithm]
    command += ["--column", run.column, "--seconds", str(run.seconds), "--seed", str(run.seed)]
    command += ["--trial", str(run.trial)]
    paths = [str(ROOT), str(ROOT / "examples" / "leduc"), os.environ.get("PYTHONPATH", "")]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    row: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return row


def facts(run: Run) -> dict[str, Any]:
    """Returns the versions of a run's packages, and the processor."""
    packages = {name: version(name) for name in ALGORITHMS[run.algorithm].packages}
    return {
        "versions": {"linkzoo": linkzoo.__version__, **packages},
        "processor": get_host_cpu_name(),
    }


def planned(arguments: argparse.Namespace) -> list[Run]:
    """Returns the runs that the arguments ask for."""
    algorithms = arguments.algorithms or list(ALGORITHMS)
    if arguments.search:
        numbers = range(len(TRIALS))
        searched = [name for name in algorithms if name in CHOSEN]
        return [Run(name, COLUMN, SEED, SECONDS, trial) for name in searched for trial in numbers]
    columns = arguments.columns or list(COLUMNS)
    seeds = arguments.seeds
    seconds = arguments.seconds
    if arguments.quick:
        algorithms = arguments.algorithms or list(QUICK)
        columns = arguments.columns or list(QUICK_COLUMNS)
        seeds = [1]
        seconds = QUICK_SECONDS
    return [
        Run(name, column, seed, seconds, CHOSEN.get(name, 0))
        for column, seed, name in product(columns, seeds, algorithms)
        if column in ALGORITHMS[name].columns
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("algorithms", nargs="*", metavar="ALGORITHM", help="default: all of them")
    parser.add_argument("--columns", nargs="+", choices=list(COLUMNS), metavar="GAME")
    parser.add_argument("--seconds", type=int, default=300, help="of CPU, for each run")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FILE")
    parser.add_argument("--search", action="store_true", help="four trials of each algorithm")
    parser.add_argument("--quick", action="store_true", help="three algorithms, two games, 3 s")
    parser.add_argument("--tables", action="store_true", help="print the tables of what has run")
    parser.add_argument("--page", action="store_true", help="fill docs/hidden.md with these tables")
    arguments = parser.parse_args()
    if unknown := set(arguments.algorithms) - set(ALGORITHMS):
        parser.error(f"no algorithm {sorted(unknown)}; there are {list(ALGORITHMS)}")
    file: Path = arguments.results
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = []
    if file.exists():
        rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    if arguments.tables:
        print(tables(rows))
        draw(rows, file.with_suffix(".png"))
        return
    if arguments.page:
        PAGE.write_text(filled(PAGE.read_text(encoding="utf-8"), rows), encoding="utf-8")
        draw(rows, PICTURE)
        return
    finished = {Run(*(row[name] for name in Run._fields)) for row in rows}
    runs = [run for run in planned(arguments) if run not in finished]
    for number, run in enumerate(runs, 1):
        print(f"[{number}/{len(runs)}] {run}", flush=True)
        row = {**run._asdict(), **train(run), **facts(run)}
        with file.open("a", encoding="utf-8") as lines:
            lines.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
