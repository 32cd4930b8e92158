"""The race: `python -m lab.race [SYSTEM ...] [--game hex] [--minutes 3 8] [--seeds 1 2 3]`.

Each system learns a game from nothing, in CPU minutes per core, in a process of its own. Then
its policy plays, with one forward pass per move, against OpenSpiel's MCTSBot and on solved
positions. Rows are appended to the file `--results`; runs that it has are left out, so an
interrupted race goes on. Our own runs need the extras `train`, `sb3` and `bench`; other packages
are installed in `runs/race/envs`, from `requirements/*.txt`, when they first run. `--tables` prints
Markdown and draws `docs/images/race.png`; `lab/race.md` shows `lab/race/results*.jsonl`.
"""

import argparse
import json
import os
import subprocess
import sys
import venv
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

from filelock import FileLock
from lab.race.games import GAMES
from lab.race.report import report
from llvmlite.binding import get_host_cpu_name

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "runs" / "race"


class System(NamedTuple):
    """A module of this package with its first argument.

    It runs in this environment, or in its own if `requirements/MODULE.txt` is there.
    """

    module: str
    variant: str
    games: tuple[str, ...] = tuple(GAMES)


SYSTEMS = {
    "linkzoo AlphaZero, board": System("ours", "alphazero board"),
    "linkzoo AlphaZero, flat": System(
        "ours", "alphazero flat batch_size=1024 learning_rate=[6e-3,1e-4]"
    ),
    "linkzoo PPO, board": System("ours", "ppo board"),
    "linkzoo PPO, flat": System("ours", "ppo flat optimizer=adam epochs=3 num_envs=512 horizon=32"),
    "pgx + mctx, random starts": System("pgx_mctx", "starts flat"),
    "pgx + mctx, random starts, board": System("pgx_mctx", "starts board"),
    "pgx + mctx, as its example": System("pgx_mctx", "example flat"),
    "pgx + mctx, as its example, board": System("pgx_mctx", "example board"),
    "pgx + mctx, as its example, ResNet": System("pgx_mctx", "example resnet"),
    "MaskablePPO on our VecEnv": System("maskable_ppo", "ours"),
    "MaskablePPO as PettingZoo's tutorial": System(
        "pettingzoo_tutorial", "tutorial", ("connect_four",)
    ),
    "OpenSpiel alpha_zero": System("open_spiel_az", "example", ("connect_four",)),
}
PICTURES = {"connect_four": "race.png", "hex": "race_hex.png"}


def python_of(system: System) -> str:
    """Returns the interpreter of a system's environment, which it makes."""
    needs = Path(__file__).parent / "requirements" / f"{system.module}.txt"
    if not needs.exists():
        return sys.executable
    folder = FOLDER / "envs" / system.module
    python, ready = str(folder / "bin" / "python"), folder / "ready"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with FileLock(f"{folder}.lock"):  # another race may be installing
        if not ready.exists():
            print(f"installing {needs} in {folder}", flush=True)
            venv.create(folder, with_pip=True, clear=True)
            subprocess.run([python, "-m", "pip", "install", "-q", "-r", str(needs)], check=True)
            ready.touch()
    return python


def run(name: str, game: str, seconds: int, cores: int, seed: int, games: int) -> dict[str, Any]:
    """Runs a system in a process of its own; returns its row."""
    system = SYSTEMS[name]
    module = f"lab.race.{system.module}"
    command = [python_of(system), "-m", module, system.variant, "--seconds", str(seconds)]
    command += ["--cores", str(cores), "--seed", str(seed), "--games", str(games)]
    command += ["--game", game]
    paths = [str(ROOT), str(ROOT / "examples" / game)]
    paths += filter(None, [os.environ.get("PYTHONPATH")])
    threads = {name: str(cores) for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS")}
    own = {**os.environ, **threads, "PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu"}
    if hasattr(os, "sched_setaffinity"):  # JAX has as many threads as it sees cores
        chosen = sorted(os.sched_getaffinity(0))[-cores:]
        command = ["taskset", "-c", ",".join(map(str, chosen)), *command]
    done = subprocess.run(command, cwd=ROOT, env=own, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("systems", nargs="*", metavar="SYSTEM", help="default: all of them")
    parser.add_argument("--game", choices=sorted(GAMES), default="connect_four")
    parser.add_argument("--minutes", type=int, nargs="+", default=[3, 8])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--games", type=int, default=400, help="against each opponent")
    parser.add_argument("--results", type=Path, default=FOLDER / "results.jsonl", metavar="FILE")
    parser.add_argument("--tables", action="store_true", help="print the tables of what has run")
    arguments = parser.parse_args()
    game: str = arguments.game
    possible = [name for name, system in SYSTEMS.items() if game in system.games]
    systems = arguments.systems or possible
    if unknown := set(systems) - set(possible):
        parser.error(f"no system {sorted(unknown)} for {game}; there are {possible}")
    file: Path = arguments.results
    file.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in file.open()] if file.exists() else []
    rows = [row for row in rows if row["game"] == game]
    if arguments.tables:
        report(rows, ROOT / "docs" / "images" / PICTURES[game])
        return
    finished = {(row["system"], row["minutes"], row["cores"], row["seed"]) for row in rows}
    planned = product(arguments.minutes, arguments.cores, arguments.seeds, systems)
    runs = [(name, *rest) for *rest, name in planned if (name, *rest) not in finished]
    for number, (name, minutes, cores, seed) in enumerate(runs):
        print(f"[{number + 1}/{len(runs)}] {name}, {minutes} min, {cores} cores, seed {seed}")
        row = {"game": game, "system": name, "minutes": minutes, "cores": cores, "seed": seed}
        row |= run(name, game, 60 * minutes, cores, seed, arguments.games)
        row |= {"processor": get_host_cpu_name()}
        with file.open("a") as there:
            there.write(json.dumps(row) + "\n")


if __name__ == "__main__":
    main()
