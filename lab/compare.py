"""Compares linkzoo with its peers: `python -m lab.compare linkage [--players 2]`.

With `connect_four:GAME`, after `pip install examples/connect_four`, all packages play one game.

Every measurement runs in its own process; rounds alternate between the packages, so that noise
affects all of them, and the table shows each one's best round. All of them get the same cores
(`--cores`), but OpenSpiel uses one in any case. Install the peers with `pip install
-e '.[train,bench]' -c constraints.txt`. Prints Markdown.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

from lab.measure import MEASUREMENTS

ROOT = Path(__file__).parents[1]
# (label, our measurement, [(a peer's measurement, its game)])
COMPARISONS = [
    (
        "one game from Python, all checks",
        "linkzoo-aec",
        [
            ("pettingzoo-aec", "connect_four_v3"),
            ("pettingzoo-aec", "tictactoe_v3"),
            ("open_spiel-state", "connect_four"),
        ],
    ),
    (
        "1,024 games in lock-step",
        "linkzoo-vector",
        [("pgx-vector", "connect_four"), ("pgx-vector", "hex")],
    ),
    (
        "UCT playouts from the first position",
        "linkzoo-uct",
        [("open_spiel-uct", "connect_four")],
    ),
    ("copying a position", "clone", []),
    ("copying an environment", "clone-env", []),
]


def measure(what: str, game: str, players: int | None) -> float:
    options = [] if players is None else ["--players", str(players)]
    done = subprocess.run(
        [sys.executable, "-m", "lab.measure", what, game, *options],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{what} {game} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("game")
    parser.add_argument("--players", type=int, help="default: the game's smallest number")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--cores", type=int, default=1, help="of each process")
    arguments = parser.parse_args()
    cores = sorted(os.sched_getaffinity(0))[: arguments.cores]
    os.sched_setaffinity(0, cores)
    print(f"{platform.machine()}, {len(cores)} cores, best of {arguments.rounds} rounds\n")
    print("| what | system | speed | linkzoo is |")
    print("|---|---|---:|---:|")
    for title, ours, peers in COMPARISONS:
        rows = [(ours, arguments.game), *peers]
        results: dict[tuple[str, str], list[float]] = {row: [] for row in rows}
        for _ in range(arguments.rounds):
            for row in rows:
                results[row].append(measure(*row, arguments.players))
        unit = MEASUREMENTS[ours][1]
        best = {row: (min if unit == "µs" else max)(results[row]) for row in rows}
        for row in rows:
            package = row[0].split("-")[0] if peers else "linkzoo"
            speed = f"{best[row]:,.2f}" if unit == "µs" else f"{best[row]:,.0f}"
            ratio = "" if row == rows[0] else f"{best[rows[0]] / best[row]:.1f}×"
            print(f"| {title} | {package} {row[1]} | {speed} {unit} | {ratio} |", flush=True)


if __name__ == "__main__":
    main()
