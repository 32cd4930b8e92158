"""Vector environments of one to 100,000 games, compared with pgx: `python -m lab.batches`.

Every measurement runs in its own process; rounds alternate between the packages, and the best round
counts. `--pgx PYTHON` names the interpreter of an environment with jax and pgx, if this one has
none. Prints Markdown and draws `docs/images/batches.png`.
"""

import argparse
import os
import platform
import subprocess
import sys
from pathlib import Path

import matplotlib as mpl

ROOT = Path(__file__).parents[1]
SIZES = [1, 4, 16, 64, 256, 1024, 4096, 16384, 100_000]
OURS, PEER = ("linkzoo-vector", "linkage"), ("pgx-vector", "connect_four")


def measure(python: str, what: str, game: str, games: int) -> float:
    """Returns steps per second."""
    paths = [str(ROOT), *(path for path in sys.path if path)]  # the other environment has only pgx
    done = subprocess.run(
        [python, "-m", "lab.measure", what, game, "--games", str(games)],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{what} {game} failed:\n{done.stderr[-2000:]}")
    return float(done.stdout.split()[-1])


def draw(sizes: list[int], ours: list[float], peer: list[float], path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5), dpi=100, layout="constrained")
    axes.loglog(sizes, ours, "o-", label="linkzoo linkage")
    axes.loglog(sizes, peer, "s--", label="pgx connect_four")
    axes.set_xlabel("games in lock-step")
    axes.set_ylabel("steps a second")
    axes.grid(visible=True, alpha=0.3)
    axes.legend()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--pgx", default=sys.executable, metavar="PYTHON")
    parser.add_argument("--image", type=Path, default=ROOT / "docs/images/batches.png")
    arguments = parser.parse_args()
    print(f"{platform.machine()}, {os.cpu_count()} cores, best of {arguments.rounds} rounds\n")
    print("| games | linkzoo linkage, steps/s | pgx connect_four, steps/s | linkzoo is |")
    print("|---:|---:|---:|---:|")
    ours, peer = [], []
    for size in arguments.sizes:
        rounds = [
            (measure(sys.executable, *OURS, size), measure(arguments.pgx, *PEER, size))
            for _ in range(arguments.rounds)
        ]
        ours.append(max(found[0] for found in rounds))
        peer.append(max(found[1] for found in rounds))
        ratio = ours[-1] / peer[-1]
        print(f"| {size:,} | {ours[-1]:,.0f} | {peer[-1]:,.0f} | {ratio:.2f}× |", flush=True)
    draw(arguments.sizes, ours, peer, arguments.image)


if __name__ == "__main__":
    main()
