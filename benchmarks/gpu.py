"""Everything that a machine with a GPU is asked: `make gpu`, or `python -m benchmarks.gpu`.

The tests that need a GPU, the benchmarks, then the training of the presets that end in `_gpu`, in
slices of at most nine minutes which resume. `benchmarks/gpu_report.md` is written after each of
them and can be committed as it is. What is done is kept in `runs/gpu.json`: the command continues
behind it, and `--slices 1` leaves the rest to later calls. Names choose tasks, done or not.
"""

import argparse
import json
import os
import platform
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

import linkzoo
from linkzoo_training.algorithms.logger import read_metrics
from linkzoo_training.checkpoint import write_atomically
from linkzoo_training.config import load_config
from linkzoo_training.runtime import find_device

ROOT = Path(__file__).parents[1]
REPORT = ROOT / "benchmarks" / "gpu_report.md"
STATE = ROOT / "runs" / "gpu.json"
PRESETS = [path.stem for path in sorted((ROOT / "configs").glob("*_gpu.yaml"))]
SLICE = 520.0  # seconds of training at a time, and of any other task
_STOPPED = 128 + signal.SIGTERM  # the exit status of training that was stopped, and saved
_SHOWN = 60  # lines of what a command printed last


@dataclass(frozen=True)
class Task:
    """A command, `python -m ...`, and whether it trains: then it is run until it is finished."""

    name: str
    module: str
    arguments: tuple[str, ...]
    run: str | None = None  # the name of the training run

    @property
    def command(self) -> str:
        return " ".join(["python -m", self.module, *self.arguments])


def tasks(device: str, presets: list[str]) -> list[Task]:
    """All that is to be done, in order."""
    on = f"device={device}"
    return [
        Task("tests", "pytest", ("-m", "gpu", "-q")),
        *(
            Task(f"play {game}", "linkzoo_training", ("bench", "--game", game, "--device", device))
            for game in linkzoo.games
        ),
        Task("PPO, board network", "benchmarks.ppo", ("linkage_ppo_gpu", on)),
        *(
            Task(f"PPO, flat network{where}", "benchmarks.ppo", ("love_links_ppo_gpu", on, *there))
            for where, there in (("", ()), (", games on it", ("env_device=cuda", "num_envs=32768")))
        ),
        Task(
            "AlphaZero, 32 simulations",
            "benchmarks.alphazero",
            ("linkage_az_gpu", on, "simulations=[32]", "window=2"),
        ),
        *(
            Task(
                f"train {Path(preset).stem}",
                "linkzoo_training",
                ("train", preset, on, "--resume"),
                load_config(preset, [on]).name,
            )
            for preset in presets
        ),
    ]


def play(task: Task, seconds: float) -> dict[str, Any]:
    """Runs a task for so many seconds at most; what is stopped saves itself, if it trains."""
    began = time.monotonic()
    with subprocess.Popen(
        [sys.executable, "-m", task.module, *task.arguments],
        cwd=ROOT,
        env={**os.environ, "TERM": "dumb"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.terminate()  # Ctrl-C is ignored by what runs in the background
            printed, _ = process.communicate()
    return {
        "rc": process.returncode,
        "seconds": time.monotonic() - began,
        "printed": "\n".join(printed.splitlines()[-_SHOWN:]),
    }


def report(planned: list[Task], done: dict[str, Any], device: torch.device) -> str:
    """The report as Markdown."""
    where = torch.cuda.get_device_name(device) if device.type == "cuda" else "no GPU"
    machine = f"{where}; {platform.machine()}, {os.cpu_count()} cores; torch {torch.__version__}"
    lines = ["# On a GPU", "", f"{machine}, CUDA {torch.version.cuda}. From `make gpu`.", ""]
    lines += ["| task | exit status | seconds |", "|---|---:|---:|"]
    for task in planned:
        found = done.get(task.name)
        cells = "not run |" if found is None else f"{found['rc']} | {found['seconds']:,.0f}"
        lines.append(f"| {task.name} | {cells} |")
    for task in planned:
        if task.name not in done:
            continue
        lines += ["", f"## {task.name}", "", f"    {task.command}", ""]
        if task.run is not None:
            lines += ["The last iteration:", "", "| | |", "|---|---:|"]
            rows = read_metrics(ROOT / "runs" / task.run)
            last = rows[-1] if rows else {}
            lines += [*(f"| {name} | {value:,.6g} |" for name, value in last.items()), ""]
        lines += ["```text", done[task.name]["printed"], "```"]
    return "\n".join([*lines, ""])


def work(
    planned: list[Task],
    chosen: list[str],
    device: torch.device,
    seconds: float,
    slices: int,
    to: Path,
) -> None:
    """Does the chosen tasks, or those that aren't done yet; `slices` of training at most."""
    done = json.loads(STATE.read_text(encoding="utf-8")) if STATE.exists() else {}
    for task in planned:
        finished = task.name in done and (task.run is None or done[task.name]["rc"] == 0)
        goes_on = task.name in chosen if chosen else not finished
        while goes_on and (task.run is None or slices > 0):
            slices -= task.run is not None
            print(f"{task.name}: {task.command}", flush=True)
            found = play(task, seconds)
            if task.run is not None and task.name in done:
                found["seconds"] += done[task.name]["seconds"]
            done[task.name] = found
            write_atomically(STATE, json.dumps(done, indent=1).encode())
            write_atomically(to, report(planned, done, device).encode())
            print(f"{task.name}: exit status {found['rc']}", flush=True)
            goes_on = task.run is not None and found["rc"] == _STOPPED


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="TASK", help="default: what isn't done yet")
    parser.add_argument("--list", action="store_true", help="print the names of the tasks")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--presets", nargs="*", default=PRESETS, help="default: %(default)s")
    parser.add_argument("--slices", type=int, default=10**6, help="of training, in this call")
    parser.add_argument("--seconds", type=float, default=SLICE, help="of a slice; %(default)s")
    parser.add_argument("--report", type=Path, default=REPORT)
    arguments = parser.parse_args()
    planned = tasks(arguments.device, arguments.presets)
    names = [task.name for task in planned]
    unknown = set(arguments.names) - set(names)
    if unknown:
        parser.error(f"{sorted(unknown)}: no such task; there are {names}")
    if arguments.list:
        print("\n".join(names))
        return
    try:
        device = find_device(arguments.device)
    except ValueError as error:
        parser.error(str(error))
    work(planned, arguments.names, device, arguments.seconds, arguments.slices, arguments.report)
    print(arguments.report)


if __name__ == "__main__":
    main()
